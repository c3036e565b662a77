package sim

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// heard notes what the answer to a send says by its header and body, as far as
// the contract lets it. A body that the client did not read to its end is empty.
func (w *world) heard(s *judge.Send, h http.Header, body []byte) {
	p, t := w.plan, w.plan.API.Terms
	s.Again, s.Pause, s.Foreign = "", 0, false
	var said map[string]any
	_ = json.Unmarshal(body, &said) // what is no JSON says nothing
	switch t.Mark {
	case markStatus:
		s.Replayed = s.Status == repeated
	case markEcho:
		s.Replayed = s.Key != "" && slices.Contains(h.Values(keyHeader), s.Key)
	case markPointer:
		s.Replayed = said[replayedField] == "true"
	default:
		s.Replayed = h.Get("Idempotent-Replayed") == "true"
	}
	switch {
	case !p.API.Origin:
	case t.Own == ownPointer:
		s.Foreign = said[markField] != "1"
	case t.Own == ownEcho:
		s.Foreign = s.Key == "" || h.Get(echoHeader) != s.Key
	default:
		s.Foreign = h.Get(marker) == ""
	}
	if !t.Hints || w.actions[s.Action].Protection != judge.Keyed || s.Foreign || s.Replayed && !p.API.NoReplay || s.Status < 400 {
		return
	}
	ruled := s.Status == 400 || s.Status == 409 || s.Status == 422 // maybe, by the contract's rules
	if s.Again = h.Get(hintAgain); s.Again == "" && t.AbsentNo && !ruled {
		s.Again = "false"
		w.met("a hint is missing, which says false")
	}
	limited := s.Status == 429 || s.Status == 503 || s.Status == 425
	if kind := t.waits(); kind < oncehttp.HintDuration || limited {
		s.Pause = pauseOf(kind, h.Get(hintWait), s.EndedTime)
	}
}
