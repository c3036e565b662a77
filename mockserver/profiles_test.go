package mockserver_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

// keyFor is a key that a profile accepts.
func keyFor(p mockserver.Profile) string {
	if p.KeyUUID != mockserver.UUIDNone {
		return "6ba7b810-9dad-41d1-80b4-00c04fd430c8"
	}
	letter := "k"
	if p.KeyAlphabet != "" {
		letter = p.KeyAlphabet[:1]
	}
	return strings.Repeat(letter, max(p.KeyMin, 1))
}

// A letter is a request as a profile wants it, being written.
type letter struct {
	path   string
	query  url.Values
	header http.Header
	json   any
	form   url.Values
	xml    string
}

// put writes a value where a carrier says.
func (l *letter) put(kind mockserver.CarrierKind, name, value string) {
	switch kind {
	case mockserver.CarrierDefault, mockserver.CarrierHeader:
		l.header.Set(name, value)
	case mockserver.CarrierQuery:
		l.query.Set(name, value)
	case mockserver.CarrierForm:
		l.form.Set(name, value)
	case mockserver.CarrierPath:
		l.path = strings.NewReplacer("{key}", url.PathEscape(value), "*", "x").Replace(name)
	case mockserver.CarrierJSON:
		l.json = planted(l.json, strings.Split(name, "/")[1:], value)
	case mockserver.CarrierXML:
		l.xml = value
		for _, element := range slices.Backward(strings.Split(name, "/")[1:]) {
			l.xml = "<" + element + ">" + l.xml + "</" + element + ">"
		}
	}
}

func planted(in any, path []string, value string) any {
	if len(path) == 0 {
		return value
	}
	if path[0] == "*" {
		return []any{planted(nil, path[1:], value)}
	}
	object, ok := in.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	object[path[0]] = planted(object[path[0]], path[1:], value)
	return object
}

func (l *letter) body(t *testing.T) (body, contentType string) {
	switch {
	case l.xml != "":
		return l.xml, "application/xml"
	case len(l.form) > 0:
		return l.form.Encode(), form
	}
	b, err := json.Marshal(l.json)
	require.NoError(t, err)
	return string(b), "application/json"
}

// write makes a letter with a key, where the profile knows keys.
func write(p mockserver.Profile, key string) *letter {
	l := &letter{path: "/pay", query: url.Values{}, header: http.Header{}, form: url.Values{}, json: map[string]any{}}
	c := p.Carrier
	if c.Kind == mockserver.CarrierDefault {
		c = mockserver.Carrier{Name: p.KeyHeader, Quoted: p.KeyQuoted}
		if c.Name == "" {
			c.Name = "Idempotency-Key"
		}
	}
	if c.Quoted {
		key = `"` + key + `"`
	}
	l.put(c.Kind, c.Name, key)
	for _, m := range p.Companions {
		value := m.Value
		switch m.Stamp {
		case mockserver.StampIMF:
			value = time.Now().UTC().Format(http.TimeFormat)
		case mockserver.StampMicros:
			value = "4102444800000000" // in 2100: no clock of a test gets there
		case mockserver.StampUntil:
			value = "2100-01-01T00:00:00Z"
		case mockserver.StampNone:
			if value == "" {
				value = "v"
			}
		}
		l.put(m.Kind, m.Name, value)
	}
	return l
}

// Whatever a profile says, a repeat takes effect once, unless it says that keys
// are not known or ignored.
func TestTheProfilesAreReadAndNameTheirSources(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, p := range mockserver.Profiles() {
		assert.NotEmpty(t, p.Name)
		assert.False(t, names[p.Name], "%s stands twice", p.Name)
		names[p.Name] = true
		assert.NotEmpty(t, p.Source, p.Name)
		b, err := json.Marshal(p)
		require.NoError(t, err)
		again, err := mockserver.ParseProfile(b)
		require.NoError(t, err)
		assert.Equal(t, p, again)
		found, ok := mockserver.ProfileNamed(p.Name)
		assert.True(t, ok)
		assert.Equal(t, p, found)
		playTwice(t, p)
	}
	_, ok := mockserver.ProfileNamed("nobody")
	assert.False(t, ok)
}

// The test of the profiles must be able to play what none of them may hold yet.
func TestAProfileOfAnyCarrierIsPlayed(t *testing.T) {
	t.Parallel()
	for kind, name := range map[mockserver.CarrierKind]string{
		mockserver.CarrierHeader: "X-Key", mockserver.CarrierQuery: "key", mockserver.CarrierForm: "key", mockserver.CarrierPath: "/v1/*/{key}",
		mockserver.CarrierJSON: "/a/*/b", mockserver.CarrierXML: "/A/B", mockserver.CarrierNone: "",
	} {
		p := mockserver.Profile{Name: string(kind), Carrier: mockserver.Carrier{Kind: kind, Name: name}}
		if kind != mockserver.CarrierNone {
			p.KeyRequired, p.KeyUUID = true, mockserver.UUIDRandom
			p.Companions = []mockserver.Companion{{Name: "A", Stamp: mockserver.StampIMF}, {Kind: mockserver.CarrierQuery, Name: "b", Stamp: mockserver.StampUntil}, {Name: "C"}}
		}
		playTwice(t, p)
	}
}

func playTwice(t *testing.T, p mockserver.Profile) {
	t.Helper()
	s := mockserver.Memory(mockserver.Config{Profile: p})
	defer s.Close()
	key := keyFor(p)
	l := write(p, key)
	body, contentType := l.body(t)
	statuses := []int{http.StatusCreated, p.Success.Status, p.Repeat.Status, p.Replayed.Status, p.Ignored.Status}
	for range 2 {
		got := send(t, s, "POST", l.path+"?"+l.query.Encode(), body, typed(contentType), func(r *http.Request) {
			for name, values := range l.header {
				r.Header[name] = values
			}
		})
		assert.True(t, slices.Contains(statuses, got.status), "%s: %d %s", p.Name, got.status, got.body)
	}
	want := 1
	if p.Carrier.Kind == mockserver.CarrierNone || slices.Contains(p.KeyIgnored, "*") || slices.Contains(p.KeyIgnored, "POST") {
		want = 2
	}
	assert.Equal(t, want, s.EffectsTotal(), p.Name)
	if p.Carrier.Kind != mockserver.CarrierNone {
		assert.Equal(t, want, s.Effects(key), p.Name)
	}
}
