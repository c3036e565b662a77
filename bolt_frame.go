package oncehttp

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"time"

	"github.com/google/uuid"
)

const (
	metaKey = "journal"

	// boltFormat is the newest format, of the file and of its frames, that this
	// code reads and the one that it writes.
	boltFormat = 1
	// boltInline is the longest body that is part of the frame: written again
	// with each revision, which costs less than a place of its own.
	boltInline = 1 << 10
	// boltChunk is the most bytes of a longer body under one key: two chunks fill
	// 16 pages of 4 KiB.
	boltChunk = 32<<10 - 64
)

// The buckets of the file, by number.
const (
	inMeta = iota
	inEntries
	inNames
	inOpen
	inBodies
	bucketCount
)

var boltBuckets = [bucketCount][]byte{[]byte("meta"), []byte("entries"), []byte("names"), []byte("open"), []byte("bodies")}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// boltMeta says what the file is. It is stored as JSON with its CRC32C behind.
type boltMeta struct {
	Format  int       `json:"format"`
	Created time.Time `json:"created"`
	// boltOrigin is the file's own, as it was made or adopted: a copy has
	// another.
	boltOrigin
	// Epoch counts the adoptions of this file, and of those it is a copy of, by
	// people who said that the original was gone; Adopted is when the last was.
	Epoch   uint64    `json:"epoch,omitzero"`
	Adopted time.Time `json:"adopted,omitzero"`
	// Seen is the highest wall time at which the file was written; at most
	// boltSeenEvery behind.
	Seen time.Time `json:"seen,omitzero"`
}

// boltSeenEvery is how often the clock is kept in the file, by a commit that is
// made anyhow.
const boltSeenEvery = time.Second

func (m boltMeta) encode() []byte {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // numbers and a time of this era
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func decodeBoltMeta(path string, b []byte) (boltMeta, error) {
	var m boltMeta
	n := len(b) - 4
	if n < 0 || crc32.Checksum(b[:n], castagnoli) != binary.LittleEndian.Uint32(b[n:]) {
		return m, boltDamaged(path, "the record that describes it does not pass its checksum")
	}
	var head struct { // all that a newer format is sure to have
		Format int `json:"format"`
	}
	err := json.Unmarshal(b[:n], &head)
	if err == nil && head.Format > boltFormat {
		return m, boltNewer(path, head.Format)
	}
	if err != nil || json.Unmarshal(b[:n], &m) != nil {
		return m, boltDamaged(path, "the record that describes it cannot be read")
	}
	return m, nil
}

func boltNewer(path string, format int) *boltError {
	return boltFailed(path, fmt.Sprintf("has format %d and this version reads up to %d; use a newer version", format, boltFormat), nil)
}

// A boltFrame is the stored form of an entry:
//
//	format   1 byte
//	flags    1 byte: 1 open, 2 due, 4 epoch
//	revision uvarint
//	epoch    uvarint, of the file when the frame was written; only with flag 4
//	due      8 bytes, as in the index; only with flag 2
//	bodies   request, then response: length uvarint, 0 without one; then up to
//	         boltInline bytes the body itself, beyond that its CRC32C, 4 bytes
//	names    uvarint: bytes that follow; then for each name its length and bytes
//	record   the rest
//	CRC32C   4 bytes, of the id and all of the above
//
// Every format ends with that checksum, so that a damaged frame is not taken
// for a newer one.
type boltFrame struct {
	revision uint64
	epoch    uint64
	open     bool
	due      uint64 // boltNever: not by itself
	bodies   [2]boltBody
	names    []byte
	record   []byte
}

type boltBody struct {
	length uint64
	inline []byte // all of it, up to boltInline
	crc    uint32 // of a longer one
}

func frameBody(body []byte) boltBody {
	if len(body) <= boltInline {
		return boltBody{length: uint64(len(body)), inline: body}
	}
	return boltBody{length: uint64(len(body)), crc: crc32.Checksum(body, castagnoli)}
}

// chunks is how many keys the body has in its bucket.
func (b boltBody) chunks() int {
	if b.length <= boltInline {
		return 0
	}
	return int((b.length + boltChunk - 1) / boltChunk)
}

const (
	frameOpen = 1 << iota
	frameDue
	frameEpoch
)

var errFrame = errors.New("does not pass its checksum")

func (f *boltFrame) append(b []byte, id *uuid.UUID) []byte {
	start := len(b)
	var flags byte
	if f.open {
		flags |= frameOpen
	}
	if f.due != boltNever {
		flags |= frameDue
	}
	if f.epoch > 0 {
		flags |= frameEpoch
	}
	b = append(b, boltFormat, flags)
	b = binary.AppendUvarint(b, f.revision)
	if f.epoch > 0 {
		b = binary.AppendUvarint(b, f.epoch)
	}
	if f.due != boltNever {
		b = binary.BigEndian.AppendUint64(b, f.due)
	}
	for _, body := range f.bodies {
		b = binary.AppendUvarint(b, body.length)
		if body.length <= boltInline {
			b = append(b, body.inline...)
		} else {
			b = binary.LittleEndian.AppendUint32(b, body.crc)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(f.names)))
	b = append(b, f.names...)
	b = append(b, f.record...)
	return binary.LittleEndian.AppendUint32(b, frameSum(id, b[start:]))
}

func frameSum(id *uuid.UUID, b []byte) uint32 {
	return crc32.Update(crc32.Checksum(id[:], castagnoli), castagnoli, b)
}

// decodeFrame reads a frame; what it returns points into b.
func decodeFrame(path string, id *uuid.UUID, b []byte) (boltFrame, error) {
	n := len(b) - 4
	if n < 2 || frameSum(id, b[:n]) != binary.LittleEndian.Uint32(b[n:]) {
		return boltFrame{}, boltDamagedEntry(path, id, errFrame.Error())
	}
	if b[0] > boltFormat {
		return boltFrame{}, boltNewer(path, int(b[0]))
	}
	r := frameReader{b: b[2:n]}
	f := boltFrame{open: b[1]&frameOpen != 0, due: boltNever}
	f.revision = r.uvarint()
	if b[1]&frameEpoch != 0 {
		f.epoch = r.uvarint()
	}
	if b[1]&frameDue != 0 {
		if due := r.bytes(8); r.err == nil {
			f.due = binary.BigEndian.Uint64(due)
		}
	}
	for i := range f.bodies {
		body := &f.bodies[i]
		if body.length = r.uvarint(); body.length <= boltInline {
			body.inline = r.bytes(body.length)
		} else if crc := r.bytes(4); r.err == nil {
			body.crc = binary.LittleEndian.Uint32(crc)
		}
	}
	f.names = r.bytes(r.uvarint())
	f.record = r.b
	if r.err != nil {
		return boltFrame{}, boltDamagedEntry(path, id, "cannot be read")
	}
	return f, nil
}

func boltDamagedEntry(path string, id *uuid.UUID, what string) *boltError {
	return boltDamaged(path, fmt.Sprintf("entry %s %s", id, what))
}

type frameReader struct {
	b   []byte
	err error
}

func (r *frameReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b, r.err = nil, errFrame
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *frameReader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.b, r.err = nil, errFrame
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func appendFrameNames(b []byte, names []string) []byte {
	for _, name := range names {
		b = binary.AppendUvarint(b, uint64(len(name)))
		b = append(b, name...)
	}
	return b
}

// eachName calls do with each name of the frame.
func (f *boltFrame) eachName(do func(name []byte) error) error {
	for r := (frameReader{b: f.names}); len(r.b) > 0; {
		name := r.bytes(r.uvarint())
		if r.err != nil {
			return r.err
		}
		if err := do(name); err != nil {
			return err
		}
	}
	return nil
}

// entry copies a frame out of the transaction.
func (t *boltTx) entry(id uuid.UUID, f *boltFrame) Entry {
	return Entry{
		Copied:   t.copied || f.epoch < t.epoch,
		ID:       id,
		Revision: f.revision,
		Open:     f.open,
		Due:      dueTime(f.due),
		Record:   append(make([]byte, 0, len(f.record)), f.record...),
	}
}

// boltNever sorts behind every due time.
const boltNever = math.MaxUint64

// dueOrder is t in microseconds, rounded up, as an integer that sorts as
// unsigned.
func dueOrder(t time.Time) uint64 {
	if t.IsZero() {
		return boltNever
	}
	micros := dueFloor(t)
	if t.Nanosecond()%1000 != 0 {
		micros++
	}
	return micros
}

// dueFloor is dueOrder rounded down. Times beyond what microseconds hold (some
// 290,000 years) are brought to the nearest that they hold.
func dueFloor(t time.Time) uint64 {
	const most = math.MaxInt64/1_000_000 - 1
	micros := min(max(t.Unix(), -most), most)*1_000_000 + int64(t.Nanosecond()/1000)
	return uint64(micros) ^ 1<<63
}

func dueTime(order uint64) time.Time {
	if order == boltNever {
		return time.Time{}
	}
	return time.UnixMicro(int64(order ^ 1<<63)).UTC()
}

// openKey is the key in the index of open entries.
func openKey(b []byte, due uint64, id *uuid.UUID) []byte {
	return append(binary.BigEndian.AppendUint64(b, due), id[:]...)
}

// chunkKey is the key of the n-th chunk of a body: the request (0) or the
// response (1).
func chunkKey(b []byte, id *uuid.UUID, which, n int) []byte {
	return binary.BigEndian.AppendUint32(append(append(b, id[:]...), byte(which)), uint32(n))
}
