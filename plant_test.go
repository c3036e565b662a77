package oncehttp_test

import (
	"crypto/aes"
	"crypto/cipher"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

var plantedID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[57][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)

func TestAnIDIsPlantedWhereThereIsAPlaceForIt(t *testing.T) {
	t.Parallel()
	const jsonType, formType = "application/json", "application/x-www-form-urlencoded"
	inJSON := oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/metadata/oncehttp"}
	inForm := oncehttp.Plant{Kind: oncehttp.CarrierForm, Name: "metadata[oncehttp]"}
	for name, c := range map[string]struct {
		plant             oncehttp.Plant
		contentType, body string
		header            [2]string
		want              string // ID stands for the id; empty: the body as it is
	}{
		"beside others":           {inJSON, jsonType, `{"n": 12345678901234567890, "metadata": {"a":1.0} }`, [2]string{}, `{"n": 12345678901234567890, "metadata": {"oncehttp":"ID","a":1.0} }`},
		"in an empty object":      {inJSON, jsonType, `{"metadata":{}}`, [2]string{}, `{"metadata":{"oncehttp":"ID"}}`},
		"in an object of its own": {inJSON, jsonType, `{"amount": 5}`, [2]string{}, `{"metadata":{"oncehttp":"ID"},"amount": 5}`},
		"the caller's value":      {inJSON, jsonType, `{"metadata":{"oncehttp":"mine"}}`, [2]string{}, ""},
		"no object there":         {inJSON, jsonType, `{"metadata":[1]}`, [2]string{}, ""},
		"an array":                {inJSON, jsonType, `[1]`, [2]string{}, ""},
		"no JSON":                 {inJSON, jsonType, `{"metadata":`, [2]string{}, ""},
		"another type":            {inJSON, "text/plain", `{}`, [2]string{}, ""},
		"compressed":              {inJSON, jsonType, `{}`, [2]string{"Content-Encoding", "gzip"}, ""},
		"digested":                {inJSON, jsonType, `{}`, [2]string{"Content-Digest", "sha-256=:x:"}, ""},
		"signed":                  {inJSON, jsonType, `{}`, [2]string{"X-Signature", "x"}, ""},
		"signed by AWS":           {inJSON, jsonType, `{}`, [2]string{"Authorization", "AWS4-HMAC-SHA256 Credential=x"}, ""},
		"with a bearer token":     {inJSON, jsonType, `{}`, [2]string{"Authorization", "Bearer x"}, `{"metadata":{"oncehttp":"ID"}}`},
		"no body":                 {inJSON, jsonType, "", [2]string{}, ""},
		"too long with it":        {inJSON, jsonType, `{"a":"` + strings.Repeat("x", 950) + `"}`, [2]string{}, ""},
		"in a form":               {inForm, formType, `amount=5&x=a+b`, [2]string{}, `amount=5&x=a+b&metadata%5Boncehttp%5D=ID`},
		"the caller's field":      {inForm, formType, `metadata[oncehttp]=mine`, [2]string{}, ""},
		"a form that is JSON":     {inForm, jsonType, `{}`, [2]string{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			contract := keyless()
			contract.Plant = c.plant
			api := &till{get: always(200, `{"data":[]}`)}
			atTill(t, api, contract, func(b *bench) {
				request := func() *http.Request {
					req := post(b.T, "https://legacy.test/charges", c.body)
					req.Header.Set("Content-Type", c.contentType)
					if c.header[0] != "" {
						req.Header.Set(c.header[0], c.header[1])
					}
					return req
				}
				_, err := b.c.Do("pay-1", request())
				require.ErrorAs(b, err, new(*oncehttp.PendingError))
				require.Len(b, api.posts, 1)
				sent := api.posts[0]
				assert.EqualValues(b, len(sent.body), sent.ContentLength)
				if c.want == "" {
					assert.Equal(b, c.body, sent.body)
					assert.Empty(b, api.gets, "there is no id to ask for")
					assert.Zero(b, b.known().RetryAt, "so nothing is due")
				} else {
					assert.Equal(b, c.want, plantedID.ReplaceAllString(sent.body, "ID"))
					require.Len(b, api.gets, 1)
					assert.Equal(b, plantedID.FindString(sent.body), api.gets[0].URL.Query().Get("metadata"))
				}
				b.reopen(func(cfg *oncehttp.Config) { cfg.Plant = false })
				_, err = b.c.Do("pay-1", request())
				require.ErrorAs(b, err, new(*oncehttp.PendingError), "the payload is the caller's")
			}, func(cfg *oncehttp.Config) { cfg.MaxRequestBody = 1000 })
		})
	}
}

func TestAnIDIsPlantedInAHeader(t *testing.T) {
	t.Parallel()
	contract := keyless()
	contract.Plant = oncehttp.Plant{Kind: oncehttp.CarrierHeader, Name: "X-Reference"}
	for _, own := range []string{"", "mine"} {
		api := &till{get: always(200, `{"data":[]}`)}
		atTill(t, api, contract, func(b *bench) {
			req := b.charge()
			if own != "" {
				req.Header.Set("X-Reference", own)
			}
			_, err := b.c.Do("pay-1", req)
			require.Error(b, err)
			require.Len(b, api.posts, 1)
			sent := api.posts[0].Header.Get("X-Reference")
			if own != "" {
				assert.Equal(b, own, sent)
				assert.Empty(b, api.gets)
				return
			}
			assert.Empty(b, req.Header.Get("X-Reference"), "the caller's request is not changed")
			require.Len(b, api.gets, 1)
			assert.Equal(b, sent, api.gets[0].URL.Query().Get("metadata"))
			assert.Empty(b, api.gets[0].Header.Get("X-Reference"))
		})
	}
}

// A lookup that asks for an id must not find another intent's effect.
func TestIntentsThatShareACallersKeyHaveIDsOfTheirOwn(t *testing.T) {
	t.Parallel()
	pinned := carried(oncehttp.CarrierHeader, "Idempotency-Key")
	pinned.Pin = oncehttp.PinPath
	batch := carried(oncehttp.CarrierJSON, "/*/id")
	for name, c := range map[string]struct {
		contract oncehttp.Contract
		requests [2][2]string // path and body
	}{
		"pinned": {pinned, [2][2]string{{"/a", "[]"}, {"/b", "[]"}}},
		"batch":  {batch, [2][2]string{{"/a", `[{"id":"k1"},{"id":"k2"}]`}, {"/a", `[{"id":"k1"},{"id":"k3"}]`}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.contract.Plant = oncehttp.Plant{Kind: oncehttp.CarrierHeader, Name: "X-Find"}
			ids := map[string]int{}
			for _, mints := range []bool{false, true} { // journals: whoever sends the key again sends the same request
				srv := newRecorder(t, 0)
				client := open(t, journalPath(t), oncehttp.Config{
					Contracts: []oncehttp.Contract{c.contract}, Plant: true,
					NewKey: func(string) (string, error) { return "own-key-1", nil },
				})
				for _, r := range c.requests {
					req := post(t, srv.URL+r[0], r[1])
					req.Host = "api.test"
					req.Header.Set("Content-Type", "application/json")
					if name == "pinned" && !mints {
						req.Header.Set("Idempotency-Key", "own-key-1")
					}
					_, err := client.Do(r[0]+r[1], req)
					require.NoError(t, err)
				}
				for _, sent := range srv.requests() {
					ids[sent.header.Get("X-Find")]++
				}
			}
			require.Len(t, ids, 2)
			for id, times := range ids {
				require.Regexp(t, plantedID, id)
				require.Equal(t, 2, times)
			}
		})
	}
}

func TestNothingIsPlantedWhereTheCallersCredentialStands(t *testing.T) {
	t.Parallel()
	srv := newRecorder(t, 0)
	contract := carried(oncehttp.CarrierHeader, "Idempotency-Key")
	contract.Plant = oncehttp.Plant{Kind: oncehttp.CarrierHeader, Name: "X-Ref-Key"}
	client := open(t, journalPath(t), oncehttp.Config{Contracts: []oncehttp.Contract{contract}, Plant: true})
	req := post(t, srv.URL, "{}")
	req.Header.Set("X-Ref-Key", "mine")
	_, err := client.Do("pay-1", req)
	require.NoError(t, err)
	require.Equal(t, "mine", srv.requests()[0].header.Get("X-Ref-Key"))
}

func TestNothingIsPlantedUnasked(t *testing.T) {
	t.Parallel()
	api := &till{}
	atTill(t, api, keyless(), func(b *bench) {
		_, err := b.c.Do("pay-1", b.charge())
		require.Error(b, err)
		assert.Equal(b, `{"amount": 500}`, api.posts[0].body)
		assert.Empty(b, api.gets)
	}, func(cfg *oncehttp.Config) { cfg.Plant = false })
}

func TestWhatWasPlantedIsNoDifferenceBetweenPayloads(t *testing.T) {
	t.Parallel()
	api := &till{get: always(500, `{}`)}
	atTill(t, api, keyless(), func(b *bench) {
		_, err := b.c.Do("pay-1", b.charge())
		require.ErrorAs(b, err, new(*oncehttp.PendingError))
		for range 2 {
			var mismatch *oncehttp.MismatchError
			_, err = b.c.Do("pay-1", post(b.T, "https://legacy.test/charges", `{"amount": 501}`))
			require.ErrorAs(b, err, &mismatch)
			assert.Equal(b, []string{"/amount"}, mismatch.Differs)
			_, err = b.c.Do("pay-1", post(b.T, "https://legacy.test/charges", `{"amount": 500, "metadata":{"oncehttp":"mine"}}`))
			require.ErrorAs(b, err, &mismatch)
			assert.Equal(b, []string{"/metadata/oncehttp"}, mismatch.Differs)
			b.reopen()
		}
		// The prints differ now, and the payloads do not.
		b.reopen(func(cfg *oncehttp.Config) { cfg.IgnoreFields = []string{"/at"} })
		_, err = b.c.Do("pay-1", b.charge())
		require.ErrorAs(b, err, new(*oncehttp.PendingError))
		assert.Len(b, api.posts, 1)
	})
}

// Every attempt has the same id, after a restart and with a sealed body too.
func TestWhatWasPlantedIsTheSameAtEveryAttempt(t *testing.T) {
	t.Parallel()
	contract := keyedTill()
	contract.Plant = keyless().Plant
	block, err := aes.NewCipher(make([]byte, 32))
	require.NoError(t, err)
	sealer, err := cipher.NewGCM(block)
	require.NoError(t, err)
	api := &till{post: always(503, `{}`)}
	atTill(t, api, contract, func(b *bench) {
		_, err := b.c.Begin("pay-1", b.charge())
		require.NoError(b, err)
		_, err = b.c.Do("pay-1", b.charge())
		require.Error(b, err)
		b.reopen()
		api.post = always(201, `{}`)
		time.Sleep(time.Hour)
		require.Equal(b, oncehttp.Confirmed, b.resume()[0].State)
		for _, sent := range api.posts {
			assert.Equal(b, api.posts[0].body, sent.body)
			assert.Regexp(b, plantedID, sent.body)
		}
		assert.Greater(b, len(api.posts), 2)
	}, func(cfg *oncehttp.Config) { cfg.Sealer = sealer })
}
