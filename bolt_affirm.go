package oncehttp

import "io"

// affirmBolt makes the transaction that the file shows durable, before anybody
// acts on it. Its meta page may be in memory alone: whoever wrote it died before
// the sync, or was told that the sync failed, whereupon systems call the page
// clean and never write it (Rebello et al., "Can Applications Recover from fsync
// Failures?", USENIX ATC 2020). So it is written again as it is, and synced; the
// pages that it leads to were synced before it.
//
// Else the next transaction could write over pages that the meta page on disk
// still leads to, and a power cut then would leave no journal. A crash in here
// leaves the one transaction or the other.
func affirmBolt(f interface {
	io.ReaderAt
	io.WriterAt
	Sync() error
}, meta pageMeta) error {
	at := int64(meta.txid%2) * meta.pageSize // bbolt's meta pages take turns
	page := make([]byte, pageHeader+metaLength)
	if _, err := f.ReadAt(page, at); err != nil {
		return err
	}
	if _, err := f.WriteAt(page, at); err != nil {
		return err
	}
	return f.Sync()
}
