package oncehttp

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
	"unsafe"

	"go.etcd.io/bbolt"
)

// guard runs do, which enters bbolt, and turns a panic into an error: bbolt
// panics on a damaged page, and a mapped page that is gone faults. After a
// panic bbolt is never entered again, since it may hold its own locks: the
// journal is stopped, and the descriptor unlocked and closed. (The mapping
// stays; closing alone would leave the lock with it.)
func (j *boltJournal) guard(do func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if p := recover(); p != nil {
			err = j.stop(boltDamaged(j.path, panicText(p)))
			j.release()
		}
	}()
	return do()
}

// read runs do in a read transaction. bbolt begins one by copying a meta page
// with two locks held; if the file was cut since whole looked, that faults, and
// every other call would wait for those locks for ever.
func (j *boltJournal) read(do func(tx *bbolt.Tx) error) error {
	beginning := true
	defer func() {
		if beginning {
			unlockBolt(j.db)
		}
	}()
	err := j.db.View(func(tx *bbolt.Tx) error {
		beginning = false
		return do(tx)
	})
	beginning = false
	return err
}

// unlockBolt lets go of what bbolt's DB.beginTx holds when it copies a meta
// page (go.etcd.io/bbolt v1.5.0: db.go). bbolt has no way to ask for it.
func unlockBolt(db *bbolt.DB) {
	fields := reflect.ValueOf(db).Elem()
	(*sync.RWMutex)(unsafe.Pointer(fields.FieldByName("mmaplock").UnsafeAddr())).RUnlock()
	(*sync.Mutex)(unsafe.Pointer(fields.FieldByName("metalock").UnsafeAddr())).Unlock()
}

// whole refuses a file cut down to less than its meta pages: bbolt reads those
// with locks held that a fault there would leave held.
func (j *boltJournal) whole() error {
	info, err := j.file.Stat()
	if err != nil {
		return j.stop(boltFailed(j.path, "cannot be examined; open it again", err))
	}
	if info.Size() < 2*j.pageSize {
		return j.stop(boltDamaged(j.path, "it was cut short while it was open"))
	}
	return nil
}

// release gives up the descriptor, once, after the commit under way: a commit
// must not sync another file that got the same number.
func (j *boltJournal) release() {
	j.committing.Lock()
	defer j.committing.Unlock()
	if !j.released.Swap(true) {
		unlockFile(j.file)
		j.file.Close()
	}
}

// panicText is what may be shown of a panic: bbolt puts keys in hexadecimal
// into some of its texts.
func panicText(p any) string {
	text, _, _ := strings.Cut(fmt.Sprint(p), "(hex)")
	return text[:min(len(text), 200)]
}

// The layout of bbolt's pages, in the byte order of the machine
// (go.etcd.io/bbolt/internal/common: page.go, meta.go, bucket.go).
const (
	pageHeader   = 16 // id 8, flags 2, count 2, overflow 4
	pageBranch   = 0x01
	pageLeaf     = 0x02
	pageFreelist = 0x10
	metaLength   = 64
	metaMagic    = 0xED0CDAED
	metaVersion  = 2
	noFreelist   = 1<<64 - 1
)

// pageMeta is one of the two pages that say where a transaction's tree begins.
type pageMeta struct {
	version  uint32
	pageSize int64
	root     uint64
	freelist uint64
	end      uint64 // the first page number never used
	txid     uint64
}

type boltInfo struct {
	size   int64
	meta   pageMeta
	synced bool // the freelist is in the file
	torn   bool // one of the meta pages is not whole
}

// boltPages reads pages of a file that nobody has mapped.
type boltPages struct {
	f    io.ReaderAt
	path string
	meta pageMeta
	seen []uint64 // bitmap of the pages met
	// shallow: all but the leaves of the buckets. bbolt recovers from none of
	// what is left: it follows branches by recursion, so that one which leads to
	// itself overflows the stack, and reads an inline bucket from the heap, where
	// a wild count faults nowhere.
	shallow bool
}

// inspectBolt reads what bbolt trusts when it maps a file: both meta pages,
// the length of the file, and the freelist, or, where that is not in the file,
// all pages, which bbolt would walk in a goroutine where nothing recovers.
func inspectBolt(f *os.File, path string) (boltInfo, error) {
	stat, err := f.Stat()
	if err != nil {
		return boltInfo{}, boltFailed(path, "cannot be examined", err)
	}
	size := stat.Size()
	if size == 0 {
		return boltInfo{}, boltDamaged(path, "it is empty, which no journal ever is")
	}
	meta, err := chooseMeta(f, size)
	if err != nil {
		return boltInfo{}, boltDamaged(path, err.Error())
	}
	if meta.version != metaVersion {
		return boltInfo{}, boltFailed(path, fmt.Sprintf("is a bbolt file of version %d; use a newer version", meta.version), nil)
	}
	if meta.end > uint64(size/meta.pageSize) {
		return boltInfo{}, boltDamaged(path, fmt.Sprintf("it is cut short: %d bytes of at least %d pages of %d", size, meta.end, meta.pageSize))
	}
	p := &boltPages{f: f, path: path, meta: meta, seen: make([]uint64, meta.end/64+1)}
	info := boltInfo{size: size, meta: meta, synced: meta.freelist != noFreelist}
	for _, at := range []int64{0, meta.pageSize} {
		_, whole := readPageMeta(f, at)
		info.torn = info.torn || !whole
	}
	if info.synced {
		if err := p.checkFreelist(); err != nil {
			return info, err
		}
		p.shallow = true
	}
	return info, p.checkTree(meta.root, nil, 0)
}

// chooseMeta returns the meta page that bbolt would go by: of those that pass
// their checksum the one with the later transaction. One of the two may be
// torn by a crash.
func chooseMeta(f io.ReaderAt, size int64) (pageMeta, error) {
	first, ok := readPageMeta(f, 0)
	if !ok {
		// The second page says where itself is; the first would have said it.
		for at := int64(1024); at <= 16<<20 && at+metaLength < size; at *= 2 {
			if m, ok := readPageMeta(f, at); ok && m.pageSize == at {
				return m, m.check()
			}
		}
		return pageMeta{}, fmt.Errorf("neither of its meta pages is whole: it is damaged, or no journal")
	}
	if second, ok := readPageMeta(f, first.pageSize); ok && second.txid > first.txid {
		if second.pageSize != first.pageSize {
			return second, fmt.Errorf("its meta pages do not agree")
		}
		return second, second.check()
	}
	return first, first.check()
}

func readPageMeta(f io.ReaderAt, at int64) (pageMeta, bool) {
	var b [pageHeader + metaLength]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		return pageMeta{}, false
	}
	u32, u64 := binary.NativeEndian.Uint32, binary.NativeEndian.Uint64
	m := b[pageHeader:]
	sum := fnv.New64a()
	sum.Write(m[:metaLength-8])
	ok := u32(m) == metaMagic && u64(m[metaLength-8:]) == sum.Sum64()
	meta := pageMeta{
		version:  u32(m[4:]),
		pageSize: int64(u32(m[8:])),
		root:     u64(m[16:]),
		freelist: u64(m[32:]),
		end:      u64(m[40:]),
		txid:     u64(m[48:]),
	}
	return meta, ok && meta.pageSize >= 1024 && meta.pageSize&(meta.pageSize-1) == 0
}

func (m pageMeta) check() error {
	if m.root < 2 || m.root >= m.end || m.freelist != noFreelist && (m.freelist < 2 || m.freelist >= m.end) {
		return fmt.Errorf("its meta page points outside the file")
	}
	return nil
}

// page reads a page with those that continue it, and checks its header.
func (p *boltPages) page(id uint64, kinds uint16) ([]byte, error) {
	if id < 2 || id >= p.meta.end {
		return nil, p.damaged(id, "is outside the file")
	}
	b := make([]byte, p.meta.pageSize)
	if _, err := p.f.ReadAt(b, int64(id)*p.meta.pageSize); err != nil {
		return nil, boltFailed(p.path, "cannot be read", err)
	}
	flags := pageFlags(b)
	more := uint64(binary.NativeEndian.Uint32(b[12:]))
	if binary.NativeEndian.Uint64(b) != id || flags&kinds == 0 || flags&(flags-1) != 0 || id+more >= p.meta.end {
		return nil, p.damaged(id, "has a wrong header")
	}
	for n := id; n <= id+more; n++ {
		if err := p.meet(n); err != nil {
			return nil, err
		}
	}
	if more > 0 {
		b = make([]byte, (1+int64(more))*p.meta.pageSize)
		if _, err := p.f.ReadAt(b, int64(id)*p.meta.pageSize); err != nil {
			return nil, boltFailed(p.path, "cannot be read", err)
		}
	}
	return b, nil
}

// meet marks a page as used.
func (p *boltPages) meet(id uint64) error {
	if id < 2 || id >= p.meta.end {
		return p.damaged(id, "is outside the file")
	}
	if p.seen[id/64]&(1<<(id%64)) != 0 {
		return p.damaged(id, "is used twice")
	}
	p.seen[id/64] |= 1 << (id % 64)
	return nil
}

func pageFlags(b []byte) uint16 { return binary.NativeEndian.Uint16(b[8:]) }
func pageCount(b []byte) int    { return int(binary.NativeEndian.Uint16(b[10:])) }

func (p *boltPages) damaged(id uint64, what string) error {
	return boltDamaged(p.path, fmt.Sprintf("page %d %s", id, what))
}

// checkFreelist checks that the list fits its page and names each page once.
func (p *boltPages) checkFreelist() error {
	id := p.meta.freelist
	b, err := p.page(id, pageFreelist)
	if err != nil {
		return err
	}
	count, list := uint64(pageCount(b)), b[pageHeader:]
	if count == 0xFFFF { // then the count itself comes first
		count, list = binary.NativeEndian.Uint64(list), list[8:]
	}
	if count > uint64(len(list)/8) {
		return p.damaged(id, "lists more free pages than it has room for")
	}
	for ; count > 0; count, list = count-1, list[8:] {
		free := binary.NativeEndian.Uint64(list)
		if free < 2 || free >= p.meta.end || p.seen[free/64]&(1<<(free%64)) != 0 {
			return p.damaged(id, "lists a page that cannot be free")
		}
		p.seen[free/64] |= 1 << (free % 64)
	}
	return nil
}
