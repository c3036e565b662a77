package oncehttp_test

import (
	"context"
	"net/http"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

// A hookedJournal asks a hook before each write, and fails where that does.
type hookedJournal struct {
	oncehttp.Journal
	create, update func(oncehttp.Entry) error
}

func (j *hookedJournal) Create(ctx context.Context, e oncehttp.Entry) (oncehttp.Entry, error) {
	if j.create != nil {
		if err := j.create(e); err != nil {
			return oncehttp.Entry{}, err
		}
	}
	return j.Journal.Create(ctx, e)
}

func (j *hookedJournal) Update(ctx context.Context, e oncehttp.Entry) error {
	if j.update != nil {
		if err := j.update(e); err != nil {
			return err
		}
	}
	return j.Journal.Update(ctx, e)
}

// hook opens the client anew on a journal with hooks.
func (b *bench) hook(j *hookedJournal) {
	b.Helper()
	require.NoError(b, b.c.Close())
	inner, err := oncehttp.OpenBolt(b.path, time.Second, nil)
	require.NoError(b, err)
	j.Journal = inner
	c, err := oncehttp.New(j, b.cfg)
	require.NoError(b, err)
	b.c = c
	b.Cleanup(func() { require.NoError(b, c.Close()) })
}

func withDelay(d time.Duration) func(*http.Request, bool) error {
	return func(*http.Request, bool) error {
		time.Sleep(d)
		return nil
	}
}
