package mockserver

import (
	"net/http"
	"strings"
	"time"
)

// Lookup lets clients ask for an effect by its key: GET Path/{key} answers 200
// with the body of the effect's answer, 404 not_found, or 429 over the limit. A
// tenant sees its own effects only, whatever their age.
type Lookup struct {
	// Path below which keys are looked up, as "/payments/by-key". Empty: there
	// are no look-ups.
	Path string
	// PerSecond limits the look-ups of all tenants. Default 10; negative: no
	// limit.
	PerSecond int
	// Lag is how old an effect must be to be found: until then "not found" is
	// the answer to a request that took effect. Default none.
	Lag time.Duration
}

func (x *exchange) lookupKey() (string, bool) {
	path := strings.TrimSuffix(x.cfg.Lookup.Path, "/")
	if path == "" || x.r.Method != http.MethodGet {
		return "", false
	}
	key, ok := strings.CutPrefix(x.r.URL.Path, path+"/")
	return key, ok && key != ""
}

func (x *exchange) lookUp(key string) Answer {
	now := time.Now()
	l := x.cfg.Lookup
	setDefault(&l.PerSecond, 10)
	x.mu.Lock()
	defer x.mu.Unlock()
	if l.PerSecond > 0 && x.lookups.over(now, l.PerSecond) {
		return problem(http.StatusTooManyRequests, "rate_limited", "").with("Retry-After", "1")
	}
	for _, e := range x.effects {
		if e.Key == key && e.Tenant == x.entry.Tenant && now.Sub(e.Time) >= l.Lag {
			a := e.Answer.clone()
			a.Status = http.StatusOK
			return a
		}
	}
	return problem(http.StatusNotFound, "not_found", "no effect under this key is visible")
}
