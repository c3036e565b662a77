package oncehttp_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// TestALookupIsReachedOnAClockOfNanoseconds runs outside a bubble, whose clock
// stands at whole microseconds: an intent that is due at the nanosecond of its
// last attempt must not be saved for ever because the journal keeps microseconds.
func TestALookupIsReachedOnAClockOfNanoseconds(t *testing.T) {
	t.Parallel()
	api := mockserver.Memory(mockserver.Config{Script: []mockserver.Fault{mockserver.Lost()}})
	defer api.Close()
	client := exampleClient(api, filepath.Join(t.TempDir(), "intents.db"), oncehttp.Config{
		Lookup: func(context.Context, *oncehttp.Intent) (oncehttp.Finding, error) {
			return oncehttp.Finding{Kind: oncehttp.Found, Reference: "ch_1"}, nil
		},
	})
	done := make(chan struct{})
	defer func() {
		client.Close() // which ends the call
		<-done
	}()
	go func() {
		defer close(done)
		outcome, err := client.Do("order-42/charge", exampleRequest("https://legacy.example.com/charges", `{"amount":500}`))
		if assert.NoError(t, err) {
			assert.Equal(t, "ch_1", outcome.Reference)
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		require.Fail(t, "the call saves its intent for ever, and asks nobody")
	}
}
