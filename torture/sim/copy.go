package sim

import (
	"bytes"
	"os"

	"github.com/oncehttp/oncehttp"
)

// restore puts a copy in the place of the journal, if that is planned for a
// process; the one after it is told that the original is gone.
func (w *world) restore(number int) error {
	planned := func(n int) bool { return n >= 0 && n < len(w.plan.Lives) && w.plan.Lives[n].Copied }
	switch {
	case planned(number):
		w.met("copied journal")
		text, err := os.ReadFile(w.path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(w.path+".copy", text, 0o600); err != nil {
			return err
		}
		return os.Rename(w.path+".copy", w.path)
	case planned(number - 1):
		c, err := oncehttp.Open(w.path, oncehttp.Config{AdoptCopy: true, Transport: w.server.Transport()})
		if err != nil {
			return err
		}
		return c.Close()
	}
	return nil
}

// searchJournal looks for credentials in the journal's file.
func (w *world) searchJournal(number int) {
	text, err := os.ReadFile(w.path)
	if err != nil {
		w.find("lost", "a journal can be read", "", "life %d: %v", number, err)
	}
	if bytes.Contains(text, []byte(secretToken)) {
		w.find("lies", "no credential is in the journal", "", "after life %d", number)
	}
}
