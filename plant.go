package oncehttp

import (
	"net/http"
	"slices"
	"strings"
)

// plant writes the intent's id into the request that it is begun with, and
// returns its body. Where there is no place for the id, something stands there
// already, or the request is signed, nothing is written, and no lookup can ask
// for it.
func (r *record) plant(p Plant, d *draft, limit int64) []byte {
	if p.Kind == CarrierNone || d.signed() {
		return d.body
	}
	b := r.Begun
	if p.Kind == CarrierHeader {
		b.Header = b.Header.Clone()
	}
	body, planted := p.write(&b, d.body, r.ID.String())
	if !planted || int64(len(body)) > limit {
		return d.body
	}
	r.Begun = b
	r.Begun.Planted, r.Begun.Size = p, len(body)
	return body
}

// write puts the id where nothing stands, into b or the body that it returns.
func (p Plant) write(b *begun, body []byte, id string) (_ []byte, planted bool) {
	s := spot{kind: p.Kind, name: p.Name, create: true}
	if there, err := s.read(*b, body); err != nil || len(there) > 0 {
		return body, false
	}
	written, err := s.write(b, body, id)
	return written, err == nil
}

// planted is the id that the request carries; empty: none.
func (r record) planted() string {
	if r.Begun.Planted.Kind == CarrierNone {
		return ""
	}
	return r.ID.String()
}

// compared is a draft as it would be if it had been begun in the record's place,
// so that the two differ only in what their callers wrote.
func (r record) compared(d *draft) payload {
	b, body := d.begun, d.body
	if r.planted() != "" {
		b.Header = b.Header.Clone()
		body, _ = r.Begun.Planted.write(&b, body, r.planted())
	}
	return b.payload(body)
}

// signed: the caller's request carries a digest or a signature, which would not
// fit another body.
func (d *draft) signed() bool {
	digest := func(name string) bool {
		plain := plainName(name)
		return slices.ContainsFunc([]string{"digest", "signature", "hmac", "contentmd5", "contentsha256", "jws"}, func(s string) bool { return strings.Contains(plain, s) })
	}
	for _, names := range []http.Header{d.begun.Header, d.live.header} {
		for name := range names {
			if digest(name) {
				return true
			}
		}
	}
	if slices.ContainsFunc(d.begun.Stripped, digest) {
		return true
	}
	scheme, _, _ := strings.Cut(d.live.header.Get("Authorization"), " ")
	return scheme != "" && !slices.ContainsFunc([]string{"Basic", "Bearer", "Token", "ApiKey"}, func(s string) bool { return strings.EqualFold(s, scheme) })
}
