package oncehttp

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// pointerSet is a set of JSON pointers (RFC 6901) as a tree of their reference
// tokens. The nil set is empty.
type pointerSet struct {
	named bool
	below map[string]*pointerSet
}

var (
	unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")
	escapePointer   = strings.NewReplacer("~", "~0", "/", "~1")
)

// newPointerSet expects what validIgnore has passed.
func newPointerSet(list []string) *pointerSet {
	if len(list) == 0 {
		return nil
	}
	root := &pointerSet{}
	for _, pointer := range list {
		at := root
		for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
			token = unescapePointer.Replace(token)
			next := at.below[token]
			if next == nil {
				next = &pointerSet{}
				if at.below == nil {
					at.below = map[string]*pointerSet{}
				}
				at.below[token] = next
			}
			at = next
		}
		at.named = true
	}
	return root
}

// here reports whether the set names the place that it has been led to.
func (p *pointerSet) here() bool { return p != nil && p.named }

// name and index lead one token further: into an object, into an array.
func (p *pointerSet) name(key string) *pointerSet {
	if p == nil {
		return nil
	}
	return p.below[key]
}

func (p *pointerSet) index(i int) *pointerSet {
	if p == nil {
		return nil
	}
	return p.below[strconv.Itoa(i)]
}

// validIgnore reports the first pointer that is not one (RFC 6901), or that is
// empty: it names the whole body, and any two payloads would be the same.
func validIgnore(list []string) error {
	for _, pointer := range list {
		if err := checkIgnored(pointer); err != nil {
			return fmt.Errorf("oncehttp: IgnoreFields: %s: %w", strconv.Quote(pointer), err)
		}
	}
	return nil
}

func checkIgnored(pointer string) error {
	if pointer == "" {
		return errors.New("names the whole body; name the fields in it")
	}
	if pointer[0] != '/' {
		return errors.New(`a JSON pointer begins with "/"`)
	}
	for rest := pointer; ; {
		_, after, found := strings.Cut(rest, "~")
		if !found {
			return nil
		}
		if after == "" || after[0] != '0' && after[0] != '1' {
			return errors.New(`in a JSON pointer "~" is written "~0", and "/" in a name "~1"`)
		}
		rest = after
	}
}
