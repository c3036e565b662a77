package oncehttp_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

// A lookup of today asks where a contract of today writes. What was written
// elsewhere does not show there, though its effect came about.
func TestAbsenceWhereNothingWasWrittenIsNoProof(t *testing.T) {
	t.Parallel()
	keyed := oncehttp.IdempotencyKey("legacy.test", time.Hour)
	keyed.Name = "legacy"
	keyed.Lookups = []oncehttp.Lookup{{URL: "/charges?request={key}", Items: "/data", Reference: "/id", Proof: true}}
	batch := carried(oncehttp.CarrierJSON, "/items/*/id")
	batch.Name, batch.Match, batch.Lookups = keyed.Name, keyed.Match, nil
	moved := keyed
	moved.Carrier = oncehttp.Carrier{Kind: oncehttp.CarrierJSON, Name: "/request"}
	planted := keyless()
	replanted := keyless()
	replanted.Plant.Name = "/reference"
	replanted.Lookups = []oncehttp.Lookup{{URL: "/charges?reference={id}", Items: "/data", Reference: "/id", Proof: true}}
	shown := keyed
	shown.Lookups = []oncehttp.Lookup{{URL: "/charges", Items: "/data", Where: "/request", Reference: "/id", Proof: true}}
	pointed := keyless()
	pointed.Plant.Name = "/reference"
	pointed.Lookups = []oncehttp.Lookup{{URL: "/charges", Items: "/data", Where: "/reference", Reference: "/id", Proof: true}}
	for name, tt := range map[string]struct {
		was, is oncehttp.Contract
		proof   bool
	}{
		"the key where it was":    {keyed, keyed, true},
		"the key elsewhere":       {keyed, moved, false},
		"the keys of a batch":     {batch, keyed, false},
		"a key, where none was":   {planted, shown, false},
		"the id where it was":     {planted, planted, true},
		"the id elsewhere":        {planted, replanted, false},
		"the id, by what is read": {planted, pointed, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := &till{get: always(200, `{"data":[],"has_more":false}`)}
			atTill(t, api, tt.was, func(b *bench) {
				req := post(b.T, "https://legacy.test/charges", `{"amount": 500,"items":[{}]}`)
				_, err := b.c.Do("pay-1", req)
				require.ErrorAs(b, err, new(*oncehttp.PendingError))
				b.reopen(func(cfg *oncehttp.Config) { cfg.Contracts = []oncehttp.Contract{tt.is} })
				sent := len(api.posts)
				time.Sleep(2 * time.Hour) // the key is forgotten
				b.runFor(3 * time.Hour)
				assert.NotEmpty(b, api.gets)
				assert.Equal(b, tt.proof, len(api.posts) > sent)
			})
		})
	}
}
