package sim

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
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
		if err := os.Rename(w.path+".copy", w.path); err != nil {
			return err
		}
		return w.openOnce(false) // somebody looks into it
	case planned(number - 1):
		return w.openOnce(true)
	}
	return nil
}

func (w *world) openOnce(adopt bool) error {
	c, err := oncehttp.Open(w.path, oncehttp.Config{AdoptCopy: adopt})
	if err != nil {
		return err
	}
	return c.Close()
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
	if w.plan.Client.Sealed && bytes.Contains(text, []byte(secretMark)) {
		w.find("lies", "no body is in a sealed journal", "", "after life %d", number)
	}
}

var sealer = func() cipher.AEAD {
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return aead
}()
