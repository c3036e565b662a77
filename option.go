package oncehttp

import "time"

// An ActionOption changes how one action is begun.
type ActionOption func(*actionOptions)

type actionOptions struct {
	keepFirst bool
	born      time.Time
}

// KeepFirst makes a reworded payload join the first: [Client.Do] then answers
// for the first payload, with Outcome.Reworded set, where it would else return a
// [*MismatchError]. RoundTrip returns the MismatchError all the same: its caller
// would take the answer for one to the new wording.
func KeepFirst() ActionOption {
	return func(o *actionOptions) { o.keepFirst = true }
}

// ActionTime says when the action was born, if that was elsewhere and its key
// may have been used there: the key's window counts from then. A time in the
// future counts as now.
func ActionTime(t time.Time) ActionOption {
	return func(o *actionOptions) { o.born = t }
}
