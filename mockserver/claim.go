package mockserver

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A part of a request is what one key speaks for: the request, or an item of an
// array in its body.
type part struct {
	id    id
	key   string // empty: the item has none, and is done whenever it comes
	print fingerprint
	told  told
	// rec is held while it is executed; nil without a claim.
	rec *record
	// awaited is what the request has waited for: its answer is this one's too,
	// though the key may have expired meanwhile.
	awaited *record
	// done: another request, or another item of this one, stands for it.
	done bool
}

// unclaimed are the parts of a request that is executed without its keys.
func (k keyring) unclaimed() []*part {
	if !k.many {
		return []*part{{key: k.String()}}
	}
	parts := make([]*part, len(k.keys))
	for i, key := range k.keys {
		parts[i] = &part{key: key}
	}
	return parts
}

// parts are those of a keyed request, to be claimed.
func (x *exchange) parts(t told) []*part {
	p := x.cfg.Profile
	parts := x.ring.unclaimed()
	prints := make([]fingerprint, len(parts))
	if p.OnMismatch != MismatchIgnored {
		prints = p.Compared.printsOf(x.r, x.body, p.Carrier, len(parts))
	}
	operation, scope := x.cfg.Operation(x.request()), p.scopeOf(x.r)
	for i, c := range parts {
		c.id = id{x.entry.Tenant, operation, scope, c.key}
		c.print, c.told = prints[i], t
	}
	return parts
}

// scopeOf is what a key is known together with.
func (p Profile) scopeOf(r *http.Request) string {
	var b strings.Builder
	for _, s := range p.Scope {
		text := ""
		switch s {
		case ScopeHost:
			text = strings.ToLower(r.Host)
		case ScopeMethod:
			text = r.Method
		case ScopePath:
			text = r.URL.EscapedPath()
		case ScopeCredential:
			text = authorizationDigest(r)
		}
		b.WriteString(strconv.Quote(text))
	}
	return b.String()
}

// past is what is known of a key that was used before.
type past struct {
	answer Answer
	stored time.Time
	// id of the effect; empty: there was none.
	id string
}

// claim takes the keys of all parts or of none, under the lock. Granted: at least
// one part is to be executed, and those that are not are done.
func (x *exchange) claim(parts []*part) (rec *record, v verdict, p past) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := time.Now()
	if x.fault.Forget {
		for _, c := range parts {
			delete(x.store.records, c.id)
		}
		x.fault.Forget = false
	}
	mine := map[id]bool{}
	var first *record
	v = replay
	for _, c := range parts {
		c.done, c.rec = false, nil
		switch {
		case c.key == "":
			v = granted
			continue
		case mine[c.id]:
			c.done = true
			continue
		}
		rec, one := c.awaited, replay
		if rec == nil || rec.state != stored || rec.print != c.print {
			rec, one = x.store.claim(c.id, c.print, c.told, now)
		}
		switch one {
		case granted:
			v, c.rec, mine[c.id] = granted, rec, true
		case replay:
			c.done = true
			if first == nil {
				first = rec
			}
		default:
			c.awaited = rec
			x.giveUp(parts)
			return rec, one, x.pastOf(rec)
		}
	}
	if v == replay {
		x.entry.Replayed = true
		return first, replay, x.pastOf(first)
	}
	return nil, granted, past{}
}

// giveUp releases what was claimed. It needs the lock.
func (x *exchange) giveUp(parts []*part) {
	for _, c := range parts {
		if c.rec != nil {
			x.store.release(c.id, c.rec)
			c.rec = nil
		}
	}
}

// pastOf needs the lock.
func (x *exchange) pastOf(rec *record) past {
	if rec == nil {
		return past{}
	}
	p := past{stored: rec.stored}
	if rec.answer != nil {
		p.answer = rec.answer.clone()
	}
	if rec.effect > 0 && rec.state == stored {
		p.id = x.effects[rec.effect-1].ID
	}
	return p
}
