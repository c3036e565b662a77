package mutant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
)

// Apply gives the changed files of a mutant by name. read gives a file of the
// root package. It is an error if an edit's Old does not stand there exactly
// once: then the table lags behind the source.
func (m Mutant) Apply(read func(file string) ([]byte, error)) (map[string][]byte, error) {
	changed := map[string][]byte{}
	for _, e := range m.Edits {
		source, ok := changed[e.File]
		if !ok {
			var err error
			if source, err = read(e.File); err != nil {
				return nil, fmt.Errorf("mutant %s: %w", m.Name, err)
			}
		}
		if n := bytes.Count(source, []byte(e.Old)); n != 1 {
			return nil, fmt.Errorf("mutant %s: in %s this stands %d times, want once; write the edit anew:\n%s", m.Name, e.File, n, e.Old)
		}
		changed[e.File] = bytes.Replace(source, []byte(e.Old), []byte(e.New), 1)
	}
	return changed, nil
}

// Overlay is the text of the file that the flag -overlay of go build names:
// each of the files of root is replaced by the one of the same name in copies.
func Overlay(root, copies string, files map[string][]byte) ([]byte, error) {
	replace := map[string]string{}
	for name := range files {
		replace[filepath.Join(root, name)] = filepath.Join(copies, name)
	}
	return json.MarshalIndent(struct{ Replace map[string]string }{replace}, "", "\t")
}
