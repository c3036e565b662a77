package oncehttp

// boltOrigin is what the system calls a file: the meta record of a journal
// holds its file's own, so that a copy knows that it is one. A file that is
// renamed, or has a second name, stays the same.
//
// What is not recognised: an older state written into the same file (cp over
// it), a copy of the whole file system, disk or machine, and anything on a
// system that tells no inode. Where it tells no birth time, a restored file may
// have got the number of the one that was deleted.
type boltOrigin struct {
	Device uint64 `json:"device,omitzero"`
	Inode  uint64 `json:"inode,omitzero"`
	// Birth in nanoseconds since 1970; 0: the system does not tell.
	Birth int64 `json:"birth,omitzero"`
}

// sameFile is true unless what both know says otherwise. An inode born at the
// same nanosecond is the same whatever its device: some file systems get
// another number each time they are mounted.
func (o boltOrigin) sameFile(now boltOrigin) bool {
	switch {
	case o.Inode == 0 || now.Inode == 0:
		return true
	case o.Inode != now.Inode:
		return false
	case o.Birth != 0 && now.Birth != 0:
		return o.Birth == now.Birth
	}
	return o.Device == now.Device
}
