package main

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/oncehttp/oncehttp"
)

// ourName is the row of this library, with everything on: journal, contract,
// gate.
const ourName = "**oncehttp**"

// quickRetry are waits that change no count.
var quickRetry = oncehttp.Retry{Base: time.Millisecond, Cap: 5 * time.Millisecond}

// openOurs opens a client on a journal of its own, which done removes.
func openOurs(cfg oncehttp.Config, s setup) (c *oncehttp.Client, done func()) {
	dir, err := os.MkdirTemp("", "oncehttp-benchmark-")
	if err != nil {
		panic(err)
	}
	cfg.Transport = s.base
	if cfg.Contracts == nil {
		cfg.Contracts = []oncehttp.Contract{oncehttp.IdempotencyKey("*", 24*time.Hour)}
	}
	if s.quick {
		cfg.Retry.Base, cfg.Retry.Cap = quickRetry.Base, quickRetry.Cap
	}
	if s.log != nil {
		cfg.Logger = slog.New(slog.NewJSONHandler(s.log, nil))
	}
	c, err = oncehttp.Open(filepath.Join(dir, "intents.db"), cfg)
	if err != nil {
		panic(err)
	}
	return c, func() {
		c.Close()
		os.RemoveAll(dir)
	}
}

// ours is this library as a peer: an http.Client over it, each request an
// action.
func ours() peer {
	return peer{name: ourName,
		open: func(s setup) (sender, func()) {
			c, done := openOurs(oncehttp.Config{}, s)
			return c.HTTPClient().Do, done
		},
	}
}

func withPeers(each func(peer) row) []row {
	var rows []row
	for _, p := range append(peers(), ours()) {
		rows = append(rows, each(p))
	}
	return rows
}

// ownTransport is net/http's transport with its defaults, and no proxy.
func ownTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil
	return t
}
