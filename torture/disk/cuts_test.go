//go:build linux

package disk

import (
	"math/rand/v2"
)

// allSubsets is up to how many unsynced changes each subset of them is tried;
// of more, a sample.
const allSubsets = 8

// eachCut yields images that a power cut at this moment may leave; with few, a
// small sample of them.
func (d *disk) eachCut(random *rand.Rand, few bool, yield func(image)) {
	var loose []int // what may be there or not
	for n, ch := range d.changes {
		if !ch.stored {
			loose = append(loose, n)
		}
	}
	k := len(loose)
	place := make(map[int]int, k)
	for i, n := range loose {
		place[n] = i
	}
	whole := func(kept func(i int) bool) {
		yield(d.cut(func(n int) bool { return kept(place[n]) }, -1, nil))
	}
	samples := 64
	if few {
		samples = 8
	}
	if k <= 3 || k <= allSubsets && !few {
		for set := range 1 << k {
			whole(func(i int) bool { return set&(1<<i) != 0 })
		}
	} else {
		whole(func(int) bool { return false })
		whole(func(int) bool { return true })
		for one := range k {
			if few && random.IntN(k) > 3 {
				continue
			}
			whole(func(i int) bool { return i == one })
			whole(func(i int) bool { return i != one })
			whole(func(i int) bool { return i < one })
		}
		for range samples {
			set := make([]bool, k)
			for i := range set {
				set[i] = random.IntN(2) == 0
			}
			whole(func(i int) bool { return set[i] })
		}
	}
	for i, n := range loose {
		// Of many writes, some.
		if d.changes[n].data == nil || few && k > 1 || k > 6 && random.IntN(k) >= 6 {
			continue
		}
		for _, how := range tears(random, len(d.changes[n].data), k == 1) {
			among := random.IntN(3)
			yield(d.cut(func(m int) bool {
				return m == n || among == 0 || among == 1 && place[m] < i
			}, n, how))
		}
	}
}

const (
	pageBytes   = 4096
	sectorBytes = 512
)

// tears of a write of so many bytes. One alone is what makes a transaction
// visible: it is torn everywhere.
func tears(random *rand.Rand, length int, alone bool) []tear {
	var all []tear
	upTo := func(n int) { all = append(all, func(piece int) bool { return piece*8 < n }) }
	from := func(n int) { all = append(all, func(piece int) bool { return piece*8 >= n }) }
	sectors := func() {
		mask := make([]bool, length/sectorBytes+1)
		for s := range mask {
			mask[s] = random.IntN(2) == 0
		}
		all = append(all, func(piece int) bool { return mask[piece*8/sectorBytes] })
	}
	if alone && length <= pageBytes {
		for n := 8; n <= 128; n += 8 {
			upTo(n)
			from(n)
		}
		for n := 192; n <= 3584; n += 64 {
			upTo(n)
		}
	}
	for range 3 {
		page := random.IntN(length/pageBytes+1) * pageBytes
		upTo(page + 64*(1+random.IntN(56)))
		sectors()
	}
	from(64 * (1 + random.IntN(56)))
	return all
}
