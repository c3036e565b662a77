package oncehttp_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/oncehttp/oncehttp"
)

// A refusal that is seen again settles what came before it where the API's own
// clock says so too: ours may have been set forward.
func TestARefusalSettlesOnlyASettleTimeAfterTheFirstByTheAPIsClockToo(t *testing.T) {
	t.Parallel()
	contract := oncehttp.IdempotencyKey("legacy.test", 24*time.Hour)
	contract.Stored.Settle = time.Minute
	api := &till{}
	atTill(t, api, contract, func(b *bench) {
		date := time.Now()
		api.post = func(n int, _ tilled) *http.Response {
			if n == 1 {
				return nil
			}
			return says(404, `{}`, "Date", date.UTC().Format(http.TimeFormat))
		}
		charge := func() *oncehttp.Outcome {
			o, err := b.c.Do("pay-1", b.charge())
			b.ruled(o, err)
			return o
		}
		want{oncehttp.Pending, oncehttp.Unknown, 2, true, false}.check(b, charge())
		time.Sleep(time.Hour)
		date = date.Add(59 * time.Second)
		want{oncehttp.Pending, oncehttp.Unknown, 3, true, false}.check(b, charge())
		b.reopen()
		time.Sleep(time.Hour)
		date = date.Add(time.Minute)
		o := charge()
		assert.Equal(b, oncehttp.Rejected, o.State)
		assert.Equal(b, 4, o.Attempts)
	})
}

// The API's date is of the end of its work, so that the settle time begins there:
// what is due then is not sent in vain.
func TestARefusalThatWasLongInComingIsAskedForAgainASettleTimeAfterIt(t *testing.T) {
	t.Parallel()
	contract := oncehttp.IdempotencyKey("legacy.test", 24*time.Hour)
	contract.Stored.Settle = time.Minute
	api := &till{}
	atTill(t, api, contract, func(b *bench) {
		api.post = func(n int, _ tilled) *http.Response {
			switch n {
			case 1:
				return nil
			case 2:
				time.Sleep(20 * time.Second)
			}
			return says(404, `{}`, "Date", time.Now().UTC().Format(http.TimeFormat))
		}
		o, err := b.c.Do("pay-1", b.charge())
		b.ruled(o, err)
		want{oncehttp.Pending, oncehttp.Unknown, 2, true, false}.check(b, o)
		b.sleepUntilDue()
		b.resume()
		o = b.known()
		assert.Equal(b, oncehttp.Rejected, o.State)
		assert.Equal(b, 3, o.Attempts)
	})
}
