//go:build linux

package disk

import (
	"net/http"
	"time"

	"github.com/oncehttp/oncehttp"
)

// openJournal opens the journal of a file as oncehttp.Open does, if adopt is set
// after a client has adopted it.
func openJournal(path string, adopt bool) (oncehttp.Journal, error) {
	if adopt {
		c, err := oncehttp.Open(path, oncehttp.Config{
			Transport:   http.NewFileTransport(http.Dir("/nonexistent")),
			LockTimeout: time.Second,
			AdoptCopy:   true,
		})
		if err == nil {
			err = c.Close()
		}
		if err != nil {
			return nil, err
		}
	}
	return oncehttp.OpenBolt(path, time.Second, nil)
}
