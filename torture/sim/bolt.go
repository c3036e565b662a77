package sim

import (
	"log/slog"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/oncehttp/oncehttp"
)

// openBolt is the journal that oncehttp.Open opens. Applications have no need
// of it by itself, so it is not part of the API.
//
//go:linkname openBolt github.com/oncehttp/oncehttp.openBolt
func openBolt(path string, lockTimeout time.Duration, logger *slog.Logger) (oncehttp.Journal, error)
