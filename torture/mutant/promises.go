package mutant

// The promises that mutants break, in the words of the table.
const (
	recordedFirst  = "Nothing leaves before its key and its request are on disk."
	sameKey        = "Every attempt carries the same key and the same bytes, after a restart too."
	onePayload     = "An action never has two payloads."
	confirmedOnly  = "Confirmed only on positive evidence."
	rejectedOnly   = "Rejected only when no attempt can have taken effect."
	honestPending  = "Everything else is Pending, and says what may have happened."
	durableFirst   = "What is told is on disk."
	settledStays   = "What is settled stays, and what speaks against it is kept beside it."
	insideWindow   = "What may have taken effect is sent again only while the server is known to remember the key."
	unprotectedOne = "What nothing protects is not sent again."
	serversWish    = "Nothing is sent sooner than the server asked."
	hostsWish      = "A host that fails is asked by one at a time."
	noSecrets      = "Credentials are never in the journal, keys never whole in what is logged."
	neverPruned    = "What is not settled is never pruned."
	journalFails   = "If the journal cannot record, nothing is sent; evidence that it did not take is kept."
	countedSends   = "Attempts on disk are never fewer than requests that the server got."
	oneDriver      = "One driver an intent."
	copiesWait     = "A copied journal sends nothing until it is adopted."
	contractKept   = "What contradicts a contract ends the trust in it."
	lookupsAsk     = "A lookup carries no key, and is no attempt."
)
