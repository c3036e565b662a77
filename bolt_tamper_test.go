package oncehttp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// tamper changes the file through bbolt, so that its pages are whole and only
// what is in them is wrong.
func tamper(t *testing.T, j *boltJournal, do func(tx *boltTx) error) {
	t.Helper()
	tx, err := j.db.Begin(true)
	require.NoError(t, err)
	require.NoError(t, do(j.tx(tx)))
	require.NoError(t, tx.Commit())
	j.durable.Add(1)
}

func tamperedBolt(t *testing.T) (*boltJournal, []Entry) {
	t.Helper()
	j := openTestBolt(t, filepath.Join(t.TempDir(), "intents.db"))
	return j, fillBolt(t, j, 6)
}

func TestAnEntryUnderAnotherIDIsDamaged(t *testing.T) {
	t.Parallel()
	j, entries := tamperedBolt(t)
	tamper(t, j, func(tx *boltTx) error {
		b := tx.bucket(inEntries)
		return b.Put(entries[1].ID[:], bytes.Clone(b.Get(entries[2].ID[:])))
	})
	_, err := j.Get(t.Context(), entries[1].ID)
	require.ErrorIs(t, err, ErrJournalCorrupt)
	require.ErrorContains(t, err, entries[1].ID.String())
	sameBolt(t, j, entries[2:])
}

func TestANameThatLeadsToAnotherEntryIsDamaged(t *testing.T) {
	t.Parallel()
	j, entries := tamperedBolt(t)
	tamper(t, j, func(tx *boltTx) error {
		return tx.bucket(inNames).Put([]byte(entries[1].Names[0]), entries[2].ID[:])
	})
	_, err := j.Find(t.Context(), entries[1].Names[0])
	require.ErrorIs(t, err, ErrJournalCorrupt)
	_, err = j.Create(t.Context(), Entry{ID: [16]byte{1}, Names: entries[1].Names})
	require.ErrorIs(t, err, ErrJournalCorrupt, "a write that rests on what is damaged is refused")
	sameBolt(t, j, entries[2:])
	_, err = j.Create(t.Context(), Entry{ID: [16]byte{1}})
	require.NoError(t, err, "others are not")
}

func TestAnIndexThatDisagreesWithItsEntryIsDamaged(t *testing.T) {
	t.Parallel()
	j, entries := tamperedBolt(t)
	e := entries[2]
	require.True(t, e.Open)
	tamper(t, j, func(tx *boltTx) error {
		if err := tx.bucket(inOpen).Delete(openKey(nil, dueOrder(e.Due), &e.ID)); err != nil {
			return err
		}
		return tx.bucket(inOpen).Put(openKey(nil, dueOrder(e.Due)+1, &e.ID), nil)
	})
	err := lastError(j.Due(t.Context(), time.Unix(1000, 0)))
	require.ErrorIs(t, err, ErrJournalCorrupt)
	require.ErrorContains(t, err, e.ID.String())
}

func TestABodyWithAChunkMissingIsDamaged(t *testing.T) {
	t.Parallel()
	j, entries := tamperedBolt(t)
	e := entries[1]
	require.Greater(t, len(e.Request), 2*boltChunk)
	tamper(t, j, func(tx *boltTx) error {
		return tx.bucket(inBodies).Delete(chunkKey(nil, &e.ID, 0, 1))
	})
	_, err := j.Body(t.Context(), e.ID, RequestBody)
	require.ErrorIs(t, err, ErrJournalCorrupt)
	require.ErrorContains(t, err, e.ID.String())
}

func TestANewerFormatIsRefusedAndNotCalledDamaged(t *testing.T) {
	t.Parallel()
	j, entries := tamperedBolt(t)
	id := entries[1].ID
	tamper(t, j, func(tx *boltTx) error {
		b := (&boltFrame{revision: 1, due: boltNever}).append(nil, &id)
		b = b[:len(b)-4]
		b[0] = boltFormat + 1
		return tx.bucket(inEntries).Put(id[:], binary.LittleEndian.AppendUint32(b, frameSum(&id, b)))
	})
	newer := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, ErrJournal)
		require.NotErrorIs(t, err, ErrJournalCorrupt)
		require.ErrorContains(t, err, "newer version")
	}
	_, err := j.Get(t.Context(), id)
	newer(err)
	newer(j.Update(t.Context(), entries[1]))

	j.db.NoFreelistSync = true
	tamper(t, j, func(tx *boltTx) error {
		meta := fmt.Appendf(nil, `{"created":{"year":2031},"format":%d}`, boltFormat+1)
		return tx.bucket(inMeta).Put([]byte(metaKey), binary.LittleEndian.AppendUint32(meta, crc32.Checksum(meta, castagnoli)))
	})
	file, err := os.ReadFile(j.path)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "newer.db")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	_, err = OpenBolt(path, 0, nil)
	newer(err)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, file, after, "a file that is refused is left as it was, its missing freelist too")
}

// bbolt would make a slice of the length that the page names.
func TestAFreelistThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	file, _ := sampleBolt(t, true)
	meta, err := chooseMeta(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	put := binary.NativeEndian
	for name, damage := range map[string]func(page []byte){
		"more than its page holds":    func(page []byte) { put.PutUint16(page[10:], 0xFFFE) },
		"more than there is memory":   func(page []byte) { put.PutUint16(page[10:], 0xFFFF); put.PutUint64(page[16:], math.MaxInt64) },
		"a meta page":                 func(page []byte) { put.PutUint64(page[16:], 1) },
		"a page outside the file":     func(page []byte) { put.PutUint64(page[16:], meta.end) },
		"a page twice":                func(page []byte) { copy(page[16:24], page[24:32]) },
		"itself":                      func(page []byte) { put.PutUint64(page[16:], meta.freelist) },
		"in a page of another kind":   func(page []byte) { put.PutUint16(page[8:], pageLeaf) },
		"in a page of another number": func(page []byte) { put.PutUint64(page, meta.freelist+1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			damaged := bytes.Clone(file)
			page := damaged[int64(meta.freelist)*meta.pageSize:]
			require.GreaterOrEqual(t, pageCount(page), 2)
			damage(page)
			path := filepath.Join(t.TempDir(), "freelist.db")
			require.NoError(t, os.WriteFile(path, damaged, 0o600))
			_, err := OpenBolt(path, 0, nil)
			require.ErrorIs(t, err, ErrJournalCorrupt)
			require.ErrorContains(t, err, "page ")
		})
	}
}

// One meta page may be torn by a crash: then the other one counts. Two that are
// whole stand for the last two transactions.
func TestATornMetaPageFallsBackToTheTransactionBefore(t *testing.T) {
	t.Parallel()
	j := openTestBolt(t, filepath.Join(t.TempDir(), "intents.db"))
	entries := fillBolt(t, j, 5)
	require.Equal(t, 1, int(entries[4].Revision), "the last commit made the last entry")
	file, err := os.ReadFile(j.path)
	require.NoError(t, err)
	meta, err := chooseMeta(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	newest := int64(meta.txid%2) * meta.pageSize
	for _, torn := range []int64{newest, meta.pageSize - newest} {
		damaged := bytes.Clone(file)
		clear(damaged[torn+pageHeader+40 : torn+pageHeader+metaLength])
		path := filepath.Join(t.TempDir(), fmt.Sprint(torn))
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		again := openTestBolt(t, path)
		sameBolt(t, again, entries[:4])
		_, err = again.Get(t.Context(), entries[4].ID)
		if torn == newest {
			require.ErrorIs(t, err, ErrNotFound)
		} else {
			require.NoError(t, err)
		}
		require.NoError(t, again.Close())
		checkBolt(t, path)
	}
}

func TestDueOrderIsThatOfTime(t *testing.T) {
	t.Parallel()
	times := []time.Time{
		time.Date(-400_000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC),
		time.Date(1969, 12, 31, 23, 59, 59, 999_999_001, time.UTC),
		time.Unix(0, 1),
		time.Unix(0, 1001),
		time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC),
		time.Date(400_000, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	for i, at := range times {
		order := dueOrder(at)
		require.Less(t, order, uint64(boltNever))
		if i > 0 {
			require.Less(t, dueOrder(times[i-1]), order, "%v", at)
		}
		if i > 0 && i < len(times)-1 {
			back := dueTime(order)
			require.False(t, back.Before(at), "never earlier than asked: %v", at)
			require.Less(t, back.Sub(at), time.Microsecond)
		}
	}
	require.Equal(t, uint64(boltNever), dueOrder(time.Time{}))
	require.True(t, dueTime(boltNever).IsZero())
}

func TestAFreelistLongerThanItsPageIsRefused(t *testing.T) {
	t.Parallel()
	put := binary.NativeEndian
	file := make([]byte, 3*1024) // the list is page 2, of free pages that lie beyond
	page := file[2*1024:]
	put.PutUint64(page, 2)
	put.PutUint16(page[8:], pageFreelist)
	room := (1024 - pageHeader) / 8
	for n := range room {
		put.PutUint64(page[pageHeader+8*n:], uint64(100+n))
	}
	for count, refused := range map[int]bool{0: false, room: false, room + 1: true} {
		put.PutUint16(page[10:], uint16(count))
		p := &boltPages{f: bytes.NewReader(file), meta: pageMeta{pageSize: 1024, freelist: 2, end: 1000}, seen: make([]uint64, 1000/64+1)}
		require.Equal(t, refused, p.checkFreelist() != nil, "%d of %d", count, room)
	}
}

func FuzzCheckTree(f *testing.F) {
	put := binary.NativeEndian
	tree := make([]byte, 5*1024) // page 2 is a branch with the leaves 3 and 4
	for n, key := range []string{"a", "b"} {
		branch, leaf := tree[2*1024:], tree[(3+n)*1024:]
		put.PutUint16(branch[10:], 2)
		e := branch[pageHeader+16*n:]
		put.PutUint32(e, 100)
		put.PutUint32(e[4:], 1)
		put.PutUint64(e[8:], uint64(3+n))
		copy(e[100:], key)
		leaf[8] = 1
		put.PutUint16(leaf[10:], 1)
		e = leaf[pageHeader:]
		put.PutUint32(e[4:], 16)
		put.PutUint32(e[8:], 1)
		copy(e[16:], key)
	}
	f.Add(tree)
	short := bytes.Clone(tree)
	put.PutUint32(short[3*1024+pageHeader:], 1) // a bucket with a page of its own that is not there
	put.PutUint32(short[3*1024+pageHeader+12:], 16)
	f.Add(short)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 16<<10 {
			t.Skip("more pages show nothing new")
		}
		file := make([]byte, (len(b)+1023)/1024*1024)
		copy(file, b)
		end := uint64(len(file) / 1024)
		for id := range end { // right numbers and kinds, so that it goes on to the rest
			page := file[id*1024:]
			binary.NativeEndian.PutUint64(page, id)
			binary.NativeEndian.PutUint16(page[8:], 1+uint16(page[8]%2))
		}
		p := &boltPages{f: bytes.NewReader(file), meta: pageMeta{pageSize: 1024, end: end}, seen: make([]uint64, end/64+1)}
		if err := p.checkTree(2, nil, 0); err != nil {
			require.ErrorIs(t, err, ErrJournal)
		}
	})
}

func FuzzDecodeFrame(f *testing.F) {
	id := uuid.UUID{7}
	f.Add((&boltFrame{revision: 3, open: true, due: 5, names: appendFrameNames(nil, []string{"a", "bc"}), record: []byte("r"),
		bodies: [2]boltBody{{length: 2000, crc: 1}, frameBody([]byte("answer"))}}).append(nil, &id)[2:])
	f.Add([]byte{1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}) // the longest names
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 16<<10 {
			t.Skip("longer bodies are not in the frame")
		}
		b = append([]byte{boltFormat, frameOpen}, b...)
		b = binary.LittleEndian.AppendUint32(b, frameSum(&id, b))
		frame, err := decodeFrame("path", &id, b)
		if err != nil {
			require.ErrorIs(t, err, ErrJournalCorrupt)
			return
		}
		frame.eachName(func([]byte) error { return nil })
		again := frame.append(nil, &id)
		second, err := decodeFrame("path", &id, again)
		require.NoError(t, err)
		require.Equal(t, frame, second)
	})
}
