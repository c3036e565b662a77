package oncehttp

import "time"

// safeUntil is the end of the usable part of a window, if it has begun and has
// an end.
func (r record) safeUntil(w Window, share float64, attempt time.Duration) (time.Time, bool) {
	anchor := r.First
	if anchor.IsZero() && r.Sending != nil {
		anchor = r.Sending.At
	}
	if !r.Begun.Born.IsZero() {
		anchor = r.Begun.Born
	}
	if anchor.IsZero() || r.Begun.Wire == "" {
		return time.Time{}, false
	}
	if told := r.Begun.told(w); !told.IsZero() {
		anchor = earlier(anchor, told)
	}
	usable, forever := w.usable(share, attempt)
	return anchor.Add(usable), !forever
}

// pinned: the API knows the key only together with the credentials.
func (r record) pinned(contract *Contract) bool {
	return r.Begun.Wire != "" && contract != nil && contract.Pin&PinCredential != 0
}

// protection of the request, as it was begun and as the contract of today
// still allows it.
func (r record) protection(p policy) protection {
	repeatable := r.Begun.Idempotent && p.contract.repeatable(r.Begun.Method)
	if r.Begun.moved(p.contract) {
		p.contract = nil
	}
	switch {
	case r.Begun.Wire != "" && !p.distrusted && p.contract.keyed():
		return keyed
	case repeatable:
		return idempotent
	}
	return unprotected
}

// repeatable: sent twice, a request of the method has the effect of once. The
// contract may be nil.
func (c *Contract) repeatable(method string) bool {
	switch {
	case c != nil && c.Match.Idempotent == IdempotentNo:
		return false
	case c != nil && c.Match.Idempotent == IdempotentYes && c.Proof <= ProofVendor:
		return true
	}
	return idempotentMethod(method)
}

// window is the smaller of the window begun under and the one of today, with
// what both allow.
func (r record) window(contract *Contract) Window {
	w := r.Begun.Window
	if contract == nil {
		return w
	}
	other := contract.Window
	if w.After != ExpiryRefuses || other.After != ExpiryRefuses {
		w.After, other.After = ExpiryUnknown, ExpiryUnknown
	}
	if w.Anchor == AnchorStamp || other.Anchor == AnchorStamp {
		w.Anchor, other.Anchor = AnchorStamp, AnchorStamp
	}
	mine, forever := w.usable(1, 0)
	today, ever := other.usable(1, 0)
	if ever || !forever && mine <= today {
		return w
	}
	return other
}

// unstamp takes back a time that was told for the first time by an attempt which
// reached nobody.
func (r *record) unstamp(s *sending) {
	if s.Stamps {
		r.Begun.Stamped = time.Time{}
	}
}

// stuck: the API has said in progress for longer than an attempt of its can run.
func (r record) stuck(p policy, now time.Time) bool {
	most := time.Duration(0)
	if p.contract != nil {
		most = p.contract.Hints.Running
	}
	return most > 0 && !r.First.IsZero() && now.Sub(r.First) > most
}

func (r *record) expose(at time.Time) {
	r.Exposed = r.State == Pending
	if r.First.IsZero() {
		r.First = at
	}
}

// aged: the key may have been used before, so its window binds the next send.
func (r record) aged() bool { return r.Exposed || r.Incomplete || !r.Begun.Born.IsZero() }
