package oncehttp

// commits is the number of transactions committed since the journal was opened.
func (j *boltJournal) commits() int64 { return j.count.Load() }
