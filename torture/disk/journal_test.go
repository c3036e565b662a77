//go:build linux

package disk

import (
	"net/http"
	"reflect"
	"time"
	"unsafe"

	"github.com/oncehttp/oncehttp"
)

// openJournal opens the journal of a file as oncehttp.Open does, and returns it
// bare: a journal closes itself.
func openJournal(path string, adopt bool) (oncehttp.Journal, error) {
	c, err := oncehttp.Open(path, oncehttp.Config{
		Transport:   http.NewFileTransport(http.Dir("/nonexistent")),
		LockTimeout: time.Second,
		AdoptCopy:   adopt,
		Gate:        oncehttp.Gate{Off: true}, // nothing is read when it opens
	})
	if err != nil {
		return nil, err
	}
	return journalOf(c), nil
}

// journalOf is what the client keeps its intents in, which it does not show.
func journalOf(c *oncehttp.Client) oncehttp.Journal {
	field := reflect.ValueOf(c).Elem().FieldByName("journal")
	return *(*oncehttp.Journal)(unsafe.Pointer(field.UnsafeAddr()))
}
