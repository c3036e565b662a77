package oncehttp

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"

	"github.com/google/uuid"
)

// plantSpace is the name space (RFC 9562 section 6.6) of what is planted beside
// a key.
var plantSpace = uuid.UUID{0xb3, 0xf0, 0xc6, 0xa2, 0x5f, 0x0e, 0x4d, 0x53, 0x9a, 0x3c, 0x7e, 0x1f, 0x5b, 0x6d, 0x2c, 0x48}

// plant writes an id into the request that the intent is begun with, and returns
// its body. Where there is no place for it, or something stands there already,
// nothing is written, and no lookup can ask for it.
func (r *record) plant(p Plant, id string, body []byte, limit int64) []byte {
	if p.Kind == CarrierNone || p.Kind == CarrierHeader && slices.Contains(r.Begun.Stripped, http.CanonicalHeaderKey(p.Name)) {
		return body
	}
	b := r.Begun
	if p.Kind == CarrierHeader {
		b.Header = b.Header.Clone()
	}
	written, planted := p.write(&b, body, id)
	if !planted || int64(len(written)) > limit {
		return body
	}
	r.Begun = b
	r.Begun.Planted, r.Begun.PlantedID, r.Begun.Size = p, id, len(written)
	return written
}

func (p Plant) spot() spot { return spot{kind: p.Kind, name: p.Name, create: true} }

// write puts the id where nothing stands, into b or the body that it returns.
func (p Plant) write(b *begun, body []byte, id string) (_ []byte, planted bool) {
	s := p.spot()
	if there, err := s.read(*b, body); err != nil || len(there) > 0 {
		return body, false
	}
	written, err := s.write(b, body, id)
	return written, err == nil
}

// findable is what is planted for a new record. Beside a key the id follows from
// it, whoever made it: whoever sends the key again sends the same request. A key
// may be that of several intents: what tells them apart counts too.
func (t ticket) findable(r record) string {
	if r.Begun.Key == "" {
		return r.ID.String()
	}
	return uuid.NewSHA1(plantSpace, []byte(cmp.Or(t.adopted, r.Begun.Key)+r.Begun.pinned(t.contract.Pin))).String()
}

// compared is a draft as it would be if it had been begun in the record's place,
// so that the two differ only in what their callers wrote.
func (r record) compared(d *draft) payload {
	b, body := d.begun, d.body
	if r.Begun.PlantedID != "" {
		b.Header = b.Header.Clone()
		body, _ = r.Begun.Planted.write(&b, body, r.Begun.PlantedID)
	}
	return b.payload(body, r.Begun.spots()...)
}

// printed is the draft's fingerprint where the key is where the record has it: the
// API may have taken it elsewhere then, or none.
func (r record) printed(d *draft, id identity) string {
	b := d.begun
	b.Carrier, b.Companions = r.Begun.Carrier, r.Begun.Companions
	if u, err := url.Parse(b.URL); err == nil {
		u, _ = stripURL(u, b.params()...) // what was our parameter may be a credential
		b.URL = u.String()
	}
	return fingerprint(b.payload(d.body), id)
}
