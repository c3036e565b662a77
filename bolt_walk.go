package oncehttp

import (
	"bytes"
	"encoding/binary"
)

// checkTree walks the tree under a page, and the trees of the buckets in it:
// every page is met once, every key lies in its page and in order. least is
// the key under which the parent lists the page, if there is one.
func (p *boltPages) checkTree(id uint64, least []byte, depth int) error {
	if depth > 64 {
		return p.damaged(id, "is too deep in the tree")
	}
	b, err := p.page(id, pageBranch|pageLeaf)
	if err != nil {
		return err
	}
	if pageFlags(b) == pageLeaf {
		return p.checkLeaf(b, id, least, depth)
	}
	if pageCount(b) == 0 {
		return p.damaged(id, "has no children")
	}
	for n := range pageCount(b) {
		e, ok := element(b, n) // pos 4, key size 4, child 8
		if !ok {
			return p.damaged(id, "is not whole")
		}
		key, ok := e.slice(e.u32(0), e.u32(4))
		if !ok || !inOrder(least, key, n) {
			return p.damaged(id, "has a key in the wrong place")
		}
		least = key
		if err := p.checkTree(binary.NativeEndian.Uint64(e.b[8:]), key, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (p *boltPages) checkLeaf(b []byte, id uint64, least []byte, depth int) error {
	for n := range pageCount(b) {
		e, ok := element(b, n) // flags 4, pos 4, key size 4, value size 4
		if !ok {
			return p.damaged(id, "is not whole")
		}
		key, keyOK := e.slice(e.u32(4), e.u32(8))
		value, valueOK := e.slice(e.u32(4)+e.u32(8), e.u32(12))
		if !keyOK || !valueOK || !inOrder(least, key, n) {
			return p.damaged(id, "has a key or value in the wrong place")
		}
		least = key
		if e.u32(0)&1 != 0 { // a bucket: root 8, sequence 8, then its page if root is 0
			if err := p.checkBucket(value, id, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *boltPages) checkBucket(value []byte, id uint64, depth int) error {
	if len(value) < 16 {
		return p.damaged(id, "has a bucket that is not whole")
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		if p.shallow {
			return nil
		}
		return p.checkTree(root, nil, depth+1)
	}
	inline := value[16:]
	if len(inline) < pageHeader || pageFlags(inline) != pageLeaf || depth > 64 {
		return p.damaged(id, "has a bucket that is not whole")
	}
	return p.checkLeaf(inline, id, nil, depth+1)
}

// inOrder: keys ascend, and the first is not below the parent's.
func inOrder(before, key []byte, n int) bool {
	if before == nil {
		return true
	}
	order := bytes.Compare(before, key)
	return order < 0 || order == 0 && n == 0
}

// pageElement is an element of a page, with all of the page that follows it.
type pageElement struct{ b []byte }

func element(page []byte, n int) (pageElement, bool) {
	at := pageHeader + 16*n
	if at+16 > len(page) {
		return pageElement{}, false
	}
	return pageElement{page[at:]}, true
}

func (e pageElement) u32(at int) uint64 {
	return uint64(binary.NativeEndian.Uint32(e.b[at:]))
}

func (e pageElement) slice(at, n uint64) ([]byte, bool) {
	if at+n > uint64(len(e.b)) {
		return nil, false
	}
	return e.b[at : at+n], true
}
