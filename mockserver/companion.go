package mockserver

import (
	"net/http"
	"strconv"
	"time"
)

// told is what the companions of a key say of its time.
type told struct {
	// first is when the request was first sent, by [Profile].FromStamp; zero: the
	// server's own clock decides.
	first time.Time
	// until is when the key shall expire; zero: when the TTL ends.
	until time.Time
}

// told reads the companions. False: one is not there, or does not say what it
// must.
func (p Profile) told(r *http.Request, body []byte) (t told, ok bool) {
	for _, m := range p.Companions {
		values, ok := valuesAt(m.Kind, m.Name, r, body)
		if !ok || len(values) != 1 || values[0] == "" || m.Value != "" && values[0] != m.Value {
			return told{}, false
		}
		if m.Stamp == StampNone {
			continue
		}
		at, err := m.Stamp.read(values[0])
		switch {
		case err != nil:
			return told{}, false
		case m.Stamp == StampUntil:
			t.until = at
		case p.FromStamp:
			t.first = at
		}
	}
	return t, true
}

func (s Stamp) read(text string) (time.Time, error) {
	switch s {
	case StampIMF:
		return http.ParseTime(text)
	case StampMicros:
		n, err := strconv.ParseInt(text, 10, 64)
		return time.UnixMicro(n), err
	}
	return time.Parse(time.RFC3339, text)
}
