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
	return p.eachChild(b, id, least, func(child uint64, key []byte) error {
		return p.checkTree(child, key, depth+1)
	})
}

// eachChild calls do for each child of a branch page, with its key.
func (p *boltPages) eachChild(b []byte, id uint64, least []byte, do func(child uint64, key []byte) error) error {
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
		if err := do(binary.NativeEndian.Uint64(e.b[8:]), key); err != nil {
			return err
		}
	}
	return nil
}

// checkBranches is checkTree without the leaves, which lie height below the
// page: each is led to once, and none is a branch, or free.
func (p *boltPages) checkBranches(id uint64, least []byte, height int) error {
	if height == 0 {
		return p.meet(id)
	}
	b, err := p.page(id, pageBranch|pageLeaf)
	if err != nil || pageFlags(b) == pageLeaf {
		return err
	}
	return p.eachChild(b, id, least, func(child uint64, key []byte) error {
		return p.checkBranches(child, key, height-1)
	})
}

// height is how many branches lie on the way from a page to its first leaf.
func (p *boltPages) height(id uint64) (int, error) {
	var b [pageHeader + 16]byte // with the first child
	for n := range 64 {
		if id < 2 || id >= p.meta.end {
			return 0, p.damaged(id, "is outside the file")
		}
		if _, err := p.f.ReadAt(b[:], int64(id)*p.meta.pageSize); err != nil {
			return 0, boltFailed(p.path, "cannot be read", err)
		}
		if pageFlags(b[:]) != pageBranch {
			return n, nil
		}
		id = binary.NativeEndian.Uint64(b[pageHeader+8:])
	}
	return 0, p.damaged(id, "is too deep in the tree")
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
			height, err := p.height(root)
			if err != nil {
				return err
			}
			return p.checkBranches(root, nil, height)
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
