package oncehttp

// OpenBolt lets tests outside the package open a journal.
var OpenBolt = openBolt

// commits is the number of transactions committed since the journal was opened.
func (j *boltJournal) commits() int64 { return j.count.Load() }
