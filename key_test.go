package oncehttp

import (
	"math"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func keyContract(change func(c *Contract)) *Contract {
	c := IdempotencyKey("api.test", time.Hour)
	c.Name = "test"
	if change != nil {
		change(&c)
	}
	return &c
}

func TestAMintedKeyIsAUUIDv4InEveryForm(t *testing.T) {
	t.Parallel()
	chance := seededChance(t)
	plain, hex := keyContract(nil), keyContract(func(c *Contract) { c.Key.Form = FormHex })
	for range 1000 {
		var random [16]byte
		for i := range random {
			random[i] = byte(chance.Uint32())
		}
		key := plain.mint(random)
		id, err := uuid.Parse(key)
		require.NoError(t, err)
		require.Equal(t, uuid.Version(4), id.Version())
		require.Equal(t, uuid.RFC4122, id.Variant())
		require.Equal(t, key, strings.ToLower(id.String()))
		require.Equal(t, strings.ReplaceAll(key, "-", ""), hex.mint(random))
		require.NoError(t, plain.checkKey(key))
		for i, b := range id {
			switch i {
			case 6:
				require.Equal(t, random[i]&0x0f, b&0x0f)
			case 8:
				require.Equal(t, random[i]&0x3f, b&0x3f)
			default:
				require.Equal(t, random[i], b)
			}
		}
	}
}

func TestAKeyIsHeldToTheContractsRule(t *testing.T) {
	t.Parallel()
	narrow := keyContract(func(c *Contract) { c.Key = KeyRule{Min: 4, Max: 8, Alphabet: "abcdef-0123456789"} })
	for key, want := range map[string]string{
		"abc-1": "", "abcd": "", "abcdefab": "",
		"abc": "the key has 3 bytes; the contract allows 4 to 8", "abcdefabc": "9 bytes", "": "0 bytes",
		"abcG": "byte 4 is not in the contract's alphabet", "ABCD": "byte 1",
	} {
		err := narrow.checkKey(key)
		if want == "" {
			assert.NoError(t, err, key)
			continue
		}
		assert.ErrorContains(t, err, want, key)
		if key != "" {
			assert.NotContains(t, err.Error(), key)
		}
	}
	wide := keyContract(nil)
	assert.NoError(t, wide.checkKey(strings.Repeat("k", 255)))
	assert.Error(t, wide.checkKey(strings.Repeat("k", 256)))
	for c := range 256 {
		err := wide.checkKey("k" + string([]byte{byte(c)}) + "k")
		if c > ' ' && c < 0x7f && !strings.ContainsRune(",\"\\", rune(c)) {
			assert.NoError(t, err, "%q", c)
		} else {
			assert.Error(t, err, "%q", c)
		}
	}
}

func TestTheCallersKeyIsAdoptedOrRefused(t *testing.T) {
	t.Parallel()
	raw, quoted := keyContract(nil), keyContract(func(c *Contract) { c.Carrier.Quoted = true })
	none := keyContract(func(c *Contract) { c.Carrier = Carrier{} })
	for _, tt := range []struct {
		name     string
		contract *Contract
		header   http.Header
		key      string
		ok       bool
		err      string
	}{
		{"none", raw, nil, "", false, ""},
		{"another header", raw, http.Header{"X-Idempotency-Key": {"k"}}, "", false, ""},
		{"no lines", raw, http.Header{"Idempotency-Key": {}}, "", false, ""},
		{"no carrier", none, http.Header{"Idempotency-Key": {"k-1"}}, "", false, ""},
		{"raw", raw, http.Header{"Idempotency-Key": {"k-1"}}, "k-1", true, ""},
		{"white space", raw, http.Header{"Idempotency-Key": {" k-1\t"}}, "k-1", true, ""},
		{"another spelling", raw, http.Header{"idempotency-key": {"k-1"}}, "k-1", true, ""},
		{"quoted", quoted, http.Header{"Idempotency-Key": {`"k-1"`}}, "k-1", true, ""},
		{"twice", raw, http.Header{"Idempotency-Key": {"SECRET", "SECRET"}}, "", false, "stands 2 times; set it once"},
		{"twice in two spellings", raw, http.Header{"Idempotency-Key": {"SECRET"}, "idempotency-key": {"SECRET"}}, "", false, "stands 2 times"},
		{"a list", raw, http.Header{"Idempotency-Key": {"SECRET,SECRET"}}, "", false, "byte 7 is not in the contract's alphabet"},
		{"empty", raw, http.Header{"Idempotency-Key": {""}}, "", false, "has 0 bytes"},
		{"quotes on a raw carrier", raw, http.Header{"Idempotency-Key": {`"SECRET"`}}, "", false, "byte 1 is not"},
		{"no quotes on a quoted carrier", quoted, http.Header{"Idempotency-Key": {"SECRET"}}, "", false, "not in double quotes"},
		{"half a quote", quoted, http.Header{"Idempotency-Key": {`"SECRET`}}, "", false, "not in double quotes"},
		{"one quote", quoted, http.Header{"Idempotency-Key": {`"`}}, "", false, "not in double quotes"},
		{"empty quotes", quoted, http.Header{"Idempotency-Key": {`""`}}, "", false, "has 0 bytes"},
		{"parameters", quoted, http.Header{"Idempotency-Key": {`"SECRET";a="b"`}}, "", false, "byte 7 is not"},
		{"an escape", quoted, http.Header{"Idempotency-Key": {`"SECRET\\"`}}, "", false, "byte 7 is not"},
		{"too long", raw, http.Header{"Idempotency-Key": {strings.Repeat("SECRET", 50)}}, "", false, "has 300 bytes"},
	} {
		key, ok, err := tt.contract.adopted(tt.header)
		assert.Equal(t, tt.key, key, tt.name)
		assert.Equal(t, tt.ok, ok, tt.name)
		if tt.err == "" {
			assert.NoError(t, err, tt.name)
			continue
		}
		require.ErrorIs(t, err, ErrInvalidRequest, tt.name)
		assert.ErrorContains(t, err, tt.err, tt.name)
		assert.NotContains(t, err.Error(), "SECRET", tt.name)
	}
}

func TestAKeyOnTheWireComesBackAsItWas(t *testing.T) {
	t.Parallel()
	for _, q := range []bool{false, true} {
		c := keyContract(func(c *Contract) { c.Carrier.Quoted = q })
		key := c.mint([16]byte{1})
		h := http.Header{}
		h.Set(c.Carrier.Name, c.wire(key))
		assert.Equal(t, q, strings.HasPrefix(h.Get("Idempotency-Key"), `"`))
		back, ok, err := c.adopted(h)
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, key, back)
	}
}

func TestOnlyProvedFactsMakeARequestKeyed(t *testing.T) {
	t.Parallel()
	for proof, want := range map[Proof]bool{ProofDeclared: true, ProofVendor: true, ProofSecondary: false, ProofUnknown: false} {
		assert.Equal(t, want, keyContract(func(c *Contract) { c.Proof = proof }).keyed(), "%d", proof)
	}
	assert.False(t, (&Contract{}).keyed())
	assert.False(t, (*Contract)(nil).keyed())
}

func TestTheUsableWindowLeavesTimeForOneAttempt(t *testing.T) {
	t.Parallel()
	const century = 100 * 365 * 24 * time.Hour
	for _, tt := range []struct {
		w       Window
		share   float64
		attempt time.Duration
		want    time.Duration
	}{
		{Window{Length: 24 * time.Hour}, 0.9, 30 * time.Second, 21*time.Hour + 36*time.Minute - 30*time.Second},
		{Window{Length: 10 * time.Second}, 1, 3 * time.Second, 7 * time.Second},
		{Window{Length: 10 * time.Second}, 0.9, time.Minute, 0},
		{Window{Length: 10 * time.Second}, 2, 0, 10 * time.Second},
		{Window{Length: 10 * time.Second}, 0.5, -time.Hour, 5 * time.Second},
		{Window{Length: 10 * time.Second}, 0, 0, 0},
		{Window{Length: 10 * time.Second}, -1, 0, 0},
		{Window{Length: 10 * time.Second}, math.NaN(), 0, 0},
		{Window{Length: 10 * time.Second}, math.Inf(1), 0, 10 * time.Second},
		{Window{}, 0.9, 0, 0},
		{Window{Length: -time.Hour}, 0.9, 0, 0},
		{Window{Length: century}, 0.5, 0, century / 2},
		{Window{Length: math.MaxInt64}, 1, 0, math.MaxInt64},
		{Window{Length: math.MaxInt64}, 0.9, math.MaxInt64, 0},
		{Window{Length: math.MaxInt64}, 1, math.MaxInt64, 0},
		{Window{Kind: WindowUnknown}, 0.9, 30 * time.Second, 4 * time.Minute},
	} {
		got, forever := tt.w.usable(tt.share, tt.attempt)
		assert.False(t, forever)
		assert.Equal(t, tt.want, got, "%+v share %v attempt %v", tt.w, tt.share, tt.attempt)
	}
	nearly, _ := Window{Length: math.MaxInt64}.usable(math.Nextafter(1, 0), 0)
	assert.Greater(t, nearly, 290*365*24*time.Hour, "no overflow")
	_, forever := Window{Kind: WindowForever}.usable(0, time.Hour)
	assert.True(t, forever)
}

// Servers and what is before them resolve such steps (RFC 3986 section 5.2.4),
// escaped or not, and the request would arrive without its key.
func TestAKeyInThePathIsNoStepOfIt(t *testing.T) {
	t.Parallel()
	inPath := keyContract(func(c *Contract) { c.Carrier = Carrier{Kind: CarrierPath, Name: "/v1/{key}"} })
	for key, fits := range map[string]bool{
		".": false, "..": false, "a/../b": false, "../a": false, "a/.": false,
		"a": true, "...": true, "a.b": true, "a/b": true, ".a": true,
	} {
		assert.Equal(t, fits, inPath.checkKey(key) == nil, key)
		assert.NoError(t, keyContract(func(*Contract) {}).checkKey(key))
	}
}

func TestAnAdoptedKeyIsNamedWithWhatIsPinned(t *testing.T) {
	t.Parallel()
	name := func(pin Pin, method, where, host string) string {
		u, err := url.Parse(where)
		require.NoError(t, err)
		d := &draft{begun: begun{Method: method, URL: where, Host: host}, live: live{url: u}}
		return ticket{contract: keyContract(func(c *Contract) { c.Pin = pin }), adopted: "k", draft: d}.adoptedName()
	}
	first := []string{"POST", "https://a.test/x%2fy?a=1", "a.test"}
	require.Equal(t, "key\x00test\x00k", name(0, first[0], first[1], first[2]), "as journals have it")
	for _, c := range []struct {
		method, where, host string
		differs             Pin
	}{
		{"POST", "https://A.test:443/x%2fy?a=2", "a.test", 0},
		{"PUT", "https://a.test/x%2fy?a=1", "a.test", PinMethod},
		{"POST", "https://a.test/x/y?a=1", "a.test", PinPath},
		{"POST", "https://b.test/x%2fy?a=1", "b.test", PinHost},
		{"POST", "https://a.test/x%2fy?a=1", "b.test", PinHost},
	} {
		for pin := range PinPath << 1 {
			same := name(pin, first[0], first[1], first[2]) == name(pin, c.method, c.where, c.host)
			assert.Equal(t, pin&c.differs == 0, same, "%b %+v", pin, c)
		}
	}
}
