package oncehttp

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
)

// payload is what tells one action's request from another's, as it was frozen:
// credentials are stripped already and so are outside of every comparison.
type payload struct {
	Method string // empty: GET
	URL    string
	Host   string // effective Host; empty: the URL's
	Header http.Header
	Body   []byte
}

// identity is the part of the configuration that says what counts.
type identity struct {
	ignore      []string // JSON pointers (RFC 6901) outside the fingerprint
	significant []string // names of headers inside it
}

// fingerprintVersion begins every fingerprint. What version 1 makes of a
// payload never changes: journals hold it. Another rule is another version.
const fingerprintVersion = "1"

// fingerprint is equal for two payloads that say the same: "1:" and the SHA-256
// of method, URL, Host, content type, significant headers and body, in hex.
//
// A JSON body counts by its structure, less id.ignore (see canonicalJSON); a
// multipart body by its parts, whatever its boundary; all else byte for byte,
// and so does a body that is not what its content type says. A significant
// header that is absent adds nothing, so that naming one more in the
// configuration leaves the fingerprints of requests without it as they were.
//
// Each component is hashed behind its length, each list behind its count: no
// two payloads run together into the same input.
func fingerprint(p payload, id identity) string {
	d := &componentHash{Hash: sha256.New()}
	d.text("oncehttp fingerprint " + fingerprintVersion)
	d.text(cmp.Or(p.Method, http.MethodGet))
	where, host := normalURL(p.URL, p.Host)
	d.text(where)
	d.text(host)

	c := readContent(p, id)
	d.text(c.mediaType)
	headers := significantHeaders(p.Header, id.significant)
	d.count(len(headers))
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		d.text(name)
		d.texts(headers[name])
	}
	d.text(c.form)
	d.bytes(c.body)
	d.count(len(c.parts))
	for _, part := range c.parts {
		d.texts(part.header)
		d.bytes(part.body)
	}
	return fingerprintVersion + ":" + hex.EncodeToString(d.Sum(nil))
}

// componentHash hashes components so that their borders count.
type componentHash struct {
	hash.Hash
	scratch []byte
}

func (d *componentHash) count(n int) {
	d.scratch = binary.BigEndian.AppendUint64(d.scratch[:0], uint64(n))
	d.Write(d.scratch)
}

func (d *componentHash) bytes(b []byte) {
	d.count(len(b))
	d.Write(b)
}

func (d *componentHash) text(s string) {
	d.count(len(s))
	d.scratch = append(d.scratch[:0], s...)
	d.Write(d.scratch)
}

func (d *componentHash) texts(list []string) {
	d.count(len(list))
	for _, s := range list {
		d.text(s)
	}
}

// normalURL returns the URL and the effective Host in the spelling that is
// compared: scheme and host in lower case without the scheme's default port
// (RFC 9110 section 4.2.3), path and query as they go out, no userinfo and no
// fragment. A text that is no URL stays as it is.
func normalURL(raw, host string) (where, effective string) {
	u, err := url.Parse(raw)
	if err != nil {
		return raw, strings.ToLower(host)
	}
	authority := normalHost(u.Scheme, u.Host)
	return u.Scheme + "://" + authority + u.RequestURI(), normalHost(u.Scheme, cmp.Or(host, authority))
}

func normalHost(scheme, host string) string {
	host = strings.ToLower(host)
	switch scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return strings.TrimSuffix(host, ":")
}

// significantHeaders returns the values of those of the named headers that are
// present, by canonical name, trimmed as net/http sends them.
func significantHeaders(h http.Header, names []string) map[string][]string {
	found := make(map[string][]string, len(names))
	for _, name := range names {
		if values := headerValues(h, name); values != nil {
			found[http.CanonicalHeaderKey(name)] = values
		}
	}
	return found
}

// headerValues finds a header under any spelling of its name in the map: net/http
// sends also what is not under the canonical one. Absent: nil.
func headerValues(h http.Header, name string) []string {
	var values []string
	keys := make([]string, 0, 4)
	for key := range h {
		if strings.EqualFold(key, name) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys) // nearly always one
	for _, key := range keys {
		for _, v := range h[key] {
			values = append(values, textproto.TrimString(v))
		}
	}
	return values
}
