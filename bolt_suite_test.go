package oncehttp_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/journaltest"
)

func TestTheBoltJournalKeepsTheContract(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, func(t *testing.T) func() (oncehttp.Journal, error) {
		path := filepath.Join(t.TempDir(), "intents.db")
		return func() (oncehttp.Journal, error) { return oncehttp.OpenBolt(path, time.Second, nil) }
	})
}
