package oncehttp

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

func (m Companion) spot() spot { return spot{kind: m.Kind, name: m.Name} }

// text is what the companion says when the first attempt was recorded at a time.
func (m Companion) text(at time.Time, w Window) string {
	switch m.Value {
	case CompanionSentIMF:
		return at.UTC().Format(http.TimeFormat)
	case CompanionSentMicros:
		return strconv.FormatInt(at.UnixMicro(), 10)
	case CompanionUntil:
		return at.Add(w.Length).UTC().Format(time.RFC3339)
	}
	return m.Text
}

// stamp is the time that such a text was made of.
func (m Companion) stamp(text string, w Window) (time.Time, error) {
	var at time.Time
	var err error
	switch m.Value {
	case CompanionSentIMF:
		at, err = http.ParseTime(text)
	case CompanionSentMicros:
		var micros int64
		micros, err = strconv.ParseInt(text, 10, 64)
		at = time.UnixMicro(micros)
	case CompanionUntil:
		at, err = time.Parse(time.RFC3339, text)
		at = at.Add(-w.Length)
	}
	return at.UTC(), err
}

// accompany takes the time from companions that the caller has set, which stay
// as they are, and writes those that are missing in the body. Those in headers
// and in the query are written at the first attempt.
func (b *begun) accompany(body []byte, now time.Time) ([]byte, error) {
	begins := false
	for _, m := range b.Companions {
		values, err := m.spot().read(*b, body)
		switch {
		case err != nil:
		case len(values) == 0:
			begins = begins || m.Value != CompanionText && m.spot().inBody()
		case len(values) > 1:
			err = fmt.Errorf("it stands %d times; set it once", len(values))
		case m.Value != CompanionText && b.Stamped.IsZero():
			var at time.Time
			if at, err = m.stamp(values[0], b.Window); err != nil {
				err = errors.New("its value is not the time that the contract asks for; leave it out")
			}
			b.Stamped = earlier(at, now)
		}
		if err != nil {
			return nil, fmt.Errorf("%s goes with the key: %w", m.spot(), err)
		}
	}
	if begins && b.Stamped.IsZero() {
		b.Stamped = now
	}
	for _, m := range b.Companions {
		if !m.spot().inBody() {
			continue
		}
		var err error
		if body, err = m.spot().write(b, body, m.text(b.Stamped, b.Window)); err != nil {
			return nil, err
		}
	}
	return body, nil
}

// told is when the API begins to count a window, by what companions tell it of the
// time; zero: they tell none that counts. What is cut off is what their texts have
// no room for.
func (b begun) told(w Window) (at time.Time) {
	if b.Stamped.IsZero() {
		return at
	}
	if w.Anchor == AnchorStamp {
		at = b.Stamped.Truncate(time.Second)
	}
	if slices.ContainsFunc(b.Companions, func(m Companion) bool { return m.Value == CompanionUntil }) {
		end := b.Stamped.Add(b.Window.Length).Truncate(time.Second)
		if from := end.Add(-b.Window.Length); at.IsZero() || from.Before(at) {
			at = from
		}
	}
	return at
}

// stamps reports whether the next attempt is the first to tell its time.
func (b begun) stamps() bool {
	return b.Stamped.IsZero() && slices.ContainsFunc(b.Companions, func(m Companion) bool { return m.Value != CompanionText })
}

// spots are those whose content is no part of the payload.
func (b begun) spots() []spot {
	spots := []spot{b.Carrier.spot()}
	for _, m := range b.Companions {
		spots = append(spots, m.spot())
	}
	return spots
}

// params are the query parameters among them.
func (b begun) params() []string { return b.names(CarrierQuery) }

// headers are the canonical names of the headers among them.
func (b begun) headers() []string {
	names := b.names(CarrierHeader)
	for i, name := range names {
		names[i] = http.CanonicalHeaderKey(name)
	}
	return names
}

// names are those of the spots of one kind.
func (b begun) names(kind CarrierKind) (names []string) {
	if b.Carrier.Kind == kind {
		names = append(names, b.Carrier.Name)
	}
	for _, m := range b.Companions {
		if m.Kind == kind {
			names = append(names, m.Name)
		}
	}
	return names
}

// placed: the key, or what goes with it, is in the body or in the URL.
func (b begun) placed() bool {
	return slices.ContainsFunc(b.spots(), func(s spot) bool { return s.inBody() || s.inURL() })
}

// keyHeader is the header that holds the key, and its value; empty where the key
// is elsewhere or there is none.
func (b begun) keyHeader() (name, value string) {
	if b.Carrier.Kind != CarrierHeader || b.Wire == "" {
		return "", ""
	}
	return b.Carrier.Name, b.Wire
}

// sentHeader is what an attempt adds to the frozen headers.
func (b begun) sentHeader() http.Header {
	h := http.Header{}
	if name, value := b.keyHeader(); name != "" {
		h.Set(name, value)
	}
	for _, m := range b.Companions {
		if m.Kind == CarrierHeader && headerValues(b.Header, m.Name) == nil {
			h.Set(m.Name, m.text(b.Stamped, b.Window))
		}
	}
	return h
}

// sentURL is where an attempt goes: to the frozen URL or where a redirect has
// led, with the companions in its query.
func (b begun) sentURL(hop string) string {
	if hop != "" {
		b.URL = hop
	}
	for _, m := range b.Companions {
		if m.Kind == CarrierQuery {
			m.spot().write(&b, nil, m.text(b.Stamped, b.Window)) // what cannot be read is not written to
		}
	}
	return b.URL
}

// follow is a redirect's target, or empty where the key was in the URL and is
// not in that one, or would be another key there by what is pinned.
func (b begun) follow(target string, c *Contract) string {
	if target == "" || b.Wire == "" {
		return target
	}
	if to := (begun{Method: b.Method, URL: target, Host: b.Host}); c != nil && to.pinned(c.Pin) != b.pinned(c.Pin) {
		return ""
	}
	switch b.Carrier.Kind {
	case CarrierQuery:
		values, err := b.Carrier.spot().read(begun{URL: target}, nil)
		if err != nil || !slices.Equal(values, []string{b.Wire}) {
			return ""
		}
	case CarrierPath:
		u, err := url.Parse(target)
		if err != nil || !slices.Contains(strings.Split(u.EscapedPath(), "/"), url.PathEscape(b.Wire)) {
			return ""
		}
	}
	return target
}

// moved reports whether the API now takes its keys in another place.
func (b begun) moved(c *Contract) bool {
	if c == nil || b.Carrier.Kind == CarrierNone {
		return false
	}
	was, is := b.Carrier, c.Carrier
	if was.Kind == CarrierHeader {
		was.Name, is.Name = http.CanonicalHeaderKey(was.Name), http.CanonicalHeaderKey(is.Name)
	}
	return was != is
}

func (k *contractCheck) companions(c *Contract) {
	for i, m := range c.Companions {
		field := fmt.Sprintf("Companions[%d]", i)
		k.place(field, m.Kind, m.Name)
		k.failIf(m.spot().batch(), "%s.Name %q has a *; a companion stands once", field, m.Name)
		k.failIf(m.spot().is(c.Carrier.spot()), "%s is where the key is; name another place", field)
		k.failIf(slices.ContainsFunc(c.Companions[:i], func(n Companion) bool { return m.spot().is(n.spot()) }), "%s is where another companion is; name another place", field)
		k.failIf(m.Value > CompanionUntil, "%s.Value is %d; use one of the Companion constants", field, m.Value)
		k.failIf(m.Value == CompanionText && m.Text == "", "%s.Text is empty; say what is sent", field)
		k.failIf(m.Value != CompanionText && m.Text != "", "%s.Text is set and Value is not CompanionText; leave it out", field)
		k.failIf(strings.ContainsFunc(m.Text, unicode.IsControl), "%s.Text has control characters, which no header carries", field)
		k.failIf(!utf8.ValidString(m.Text), "%s.Text is not UTF-8", field)
		k.failIf(m.Value == CompanionUntil && c.Window.Length <= 0, "%s is the end of the window, and Window.Length is not set", field)
	}
	k.failIf(c.Carrier.Kind == CarrierNone && len(c.Companions) > 0, "Companions are set and Carrier is not; what travels with a key needs one")
}

// place checks where something is written into the request.
func (k *contractCheck) place(field string, kind CarrierKind, name string) {
	switch kind {
	case CarrierHeader:
		k.failIf(!isToken(name), "%s.Name %q is not a header name", field, name)
		k.failIf(takenHeader(name), "%s.Name is %s, which has a meaning of its own in HTTP; use another", field, name)
	case CarrierJSON:
		k.failIf(name == "" || name == "/", "%s.Name %q names no field; write a JSON pointer as in /metadata/id", field, name)
		k.pointer(field+".Name", name)
	case CarrierForm, CarrierQuery:
		k.failIf(name == "", "%s.Name is empty; name the field", field)
	default:
		k.failIf(true, "%s.Kind is %d; use CarrierHeader, CarrierJSON, CarrierForm or CarrierQuery", field, kind)
	}
}
