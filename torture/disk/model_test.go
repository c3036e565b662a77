//go:build linux

package disk

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A disk is a directory and its files as a power cut may leave them. What was
// synced is there. Of what was not, each change is there or not, whatever came
// of the others.
type disk struct {
	dir   string
	names map[string]*inode // as synced
	// changes that are not known to be on disk, in the order in which they were
	// begun.
	changes []*change
	files   map[int64]*inode // by descriptor; nil: another file
	dirs    map[int64]bool   // descriptors of the directory
	now     map[string]*inode
	// syncing is what a sync under way will have stored.
	syncing map[*call][]*change
	// said are the child's lines so far.
	said []string
}

type inode struct{ synced []byte }

// A change is a write or a new length of a file, or names in the directory.
type change struct {
	file *inode
	at   int64
	data []byte // nil: a new length, which is at

	names map[string]*inode // of the directory; nil: removed

	ended bool
	// dropped: a sync of this data failed, and no later one will write it: the
	// system calls its pages clean, and shows them (Rebello et al., "Can
	// Applications Recover from fsync Failures?", USENIX ATC 2020). Lengths and
	// names are not dropped: a file system whose own journal fails takes no
	// more writes.
	dropped bool
	// stored: it is on disk, but waits for one before it in the same file.
	stored bool
}

func newDisk(dir string) *disk {
	return &disk{dir: dir, names: map[string]*inode{}, files: map[int64]*inode{}, dirs: map[int64]bool{},
		now: map[string]*inode{}, syncing: map[*call][]*change{}}
}

// step follows one event. before is called at each moment at which the most
// may be unsynced: just before a sync has done its work.
func (d *disk) step(e event, before func()) error {
	c := e.call
	switch c.name {
	case "write":
		if !e.end && c.number(0) == 1 {
			d.said = append(d.said, strings.Split(strings.TrimSuffix(c.args[1], "\n"), "\n")...)
			return nil
		}
		if _, ours := d.files[c.number(0)]; ours {
			return fmt.Errorf("a write without a place, which is not followed")
		}
	case "openat":
		if e.end && !c.failed {
			d.open(c)
		}
	case "close":
		if !e.end {
			delete(d.files, c.number(0))
			delete(d.dirs, c.number(0))
		}
	case "pwrite64", "ftruncate":
		return d.write(e)
	case "fallocate":
		return fmt.Errorf("fallocate is not followed")
	case "fsync", "fdatasync":
		d.sync(e, before)
	case "linkat", "renameat", "renameat2", "unlinkat":
		if e.end && !c.failed {
			d.rename(c)
		}
	}
	return nil
}

func (d *disk) name(path string) (string, bool) {
	return filepath.Base(path), filepath.Dir(path) == d.dir
}

func (d *disk) open(c *call) {
	fd := c.ret
	if c.args[1] == d.dir {
		d.dirs[fd] = true
		return
	}
	name, ours := d.name(c.args[1])
	if !ours {
		return
	}
	file := d.now[name]
	if file == nil {
		file = &inode{}
		d.put(map[string]*inode{name: file})
	}
	d.files[fd] = file
}

// put changes the directory.
func (d *disk) put(names map[string]*inode) {
	for name, file := range names {
		d.now[name] = file
		if file == nil {
			delete(d.now, name)
		}
	}
	d.changes = append(d.changes, &change{names: names, ended: true})
}

func (d *disk) rename(c *call) {
	switch c.name {
	case "unlinkat":
		if name, ours := d.name(c.args[1]); ours && d.now[name] != nil {
			d.put(map[string]*inode{name: nil})
		}
	case "linkat":
		from, _ := d.name(c.args[1])
		if to, ours := d.name(c.args[3]); ours {
			d.put(map[string]*inode{to: d.now[from]})
		}
	default:
		from, _ := d.name(c.args[1])
		if to, ours := d.name(c.args[3]); ours {
			d.put(map[string]*inode{to: d.now[from], from: nil})
		}
	}
}

// write is a change from when it begins: a part of it may be there before it
// returns.
func (d *disk) write(e event) error {
	c := e.call
	file := d.files[c.number(0)]
	if file == nil {
		return nil
	}
	if !e.end {
		ch := &change{file: file}
		if c.name == "ftruncate" {
			ch.at = c.number(1)
		} else {
			ch.data, ch.at = []byte(c.args[1]), c.number(3)
		}
		d.changes = append(d.changes, ch)
		return nil
	}
	at := slices.IndexFunc(d.changes, func(ch *change) bool {
		return ch.file == file && !ch.ended && (c.name == "ftruncate") == (ch.data == nil)
	})
	if at < 0 {
		return fmt.Errorf("a %s has returned that was not begun", c.name)
	}
	ch := d.changes[at]
	ch.ended = true
	switch {
	case c.failed || c.injected: // what is injected is not carried out
		d.changes = slices.Delete(d.changes, at, at+1)
	case ch.data != nil:
		ch.data = ch.data[:c.ret]
	}
	return nil
}

// sync stores what was written before it began.
func (d *disk) sync(e event, before func()) {
	if !e.end {
		fd := e.number(0)
		file, dir := d.files[fd], d.dirs[fd]
		if file == nil && !dir {
			return
		}
		covered := []*change{}
		for _, ch := range d.changes {
			if ch.file == file && ch.ended && !ch.dropped && !ch.stored {
				covered = append(covered, ch)
			}
		}
		d.syncing[e.call] = covered
		return
	}
	covered, ours := d.syncing[e.call]
	if !ours {
		return
	}
	delete(d.syncing, e.call)
	if !e.failed {
		before()
	}
	for _, ch := range covered {
		ch.stored = !e.failed
		ch.dropped = e.failed && e.errno != "EINTR" && ch.data != nil
	}
	d.settle()
}

// settle applies what is stored and waits for nothing.
func (d *disk) settle() {
	waits := map[*inode]bool{}
	d.changes = slices.DeleteFunc(d.changes, func(ch *change) bool {
		if !ch.stored || waits[ch.file] {
			waits[ch.file] = true
			return false
		}
		if ch.file == nil {
			apply(d.names, ch.names)
		} else {
			ch.file.synced = ch.apply(ch.file.synced, nil)
		}
		return true
	})
}

func apply(names, changed map[string]*inode) {
	for name, file := range changed {
		if names[name] = file; file == nil {
			delete(names, name)
		}
	}
}

// A tear says what part of a write is there: for each piece of 8 bytes of it.
type tear func(piece int) bool

// apply makes the change to the bytes of a file. A tear may leave out parts.
func (ch *change) apply(b []byte, torn tear) []byte {
	if ch.data == nil {
		return resize(b, ch.at)
	}
	end := ch.at + int64(len(ch.data))
	if int64(len(b)) < end {
		b = resize(b, end)
	}
	if torn == nil {
		copy(b[ch.at:], ch.data)
		return b
	}
	for at := 0; at < len(ch.data); at += 8 {
		if torn(at / 8) {
			copy(b[ch.at+int64(at):], ch.data[at:min(at+8, len(ch.data))])
		}
	}
	return b
}

func resize(b []byte, length int64) []byte {
	if length <= int64(len(b)) {
		return b[:length]
	}
	return append(b, make([]byte, length-int64(len(b)))...)
}

// An image is what is in the directory after a power cut, by name.
type image map[string][]byte

// cut is the image in which of the unsynced changes those are there that kept
// says, and one of them, unless it is negative, in part.
func (d *disk) cut(kept func(n int) bool, torn int, how tear) image {
	names := map[string]*inode{}
	apply(names, d.names)
	bytes := map[*inode][]byte{}
	for n, ch := range d.changes {
		if !ch.stored && !kept(n) {
			continue
		}
		if ch.file == nil {
			apply(names, ch.names)
			continue
		}
		b, begun := bytes[ch.file]
		if !begun {
			b = slices.Clone(ch.file.synced)
		}
		if n == torn {
			b = ch.apply(b, how)
		} else {
			b = ch.apply(b, nil)
		}
		bytes[ch.file] = b
	}
	img := image{}
	for name, file := range names {
		b, changed := bytes[file]
		if !changed {
			b = slices.Clone(file.synced)
		}
		img[name] = b
	}
	return img
}
