package oncehttp

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// slowBareString is the parsing algorithm of RFC 9651 section 4.2.5 for a line
// that holds one string and nothing beside it.
func slowBareString(line string) (string, bool) {
	line = strings.Trim(line, " \t")
	if !strings.HasPrefix(line, `"`) {
		return "", false
	}
	var out []byte
	for i := 1; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\':
			i++
			if i == len(line) || line[i] != '"' && line[i] != '\\' {
				return "", false
			}
			out = append(out, line[i])
		case c == '"':
			return string(out), i == len(line)-1
		case c < 0x20 || c > 0x7e:
			return "", false
		default:
			out = append(out, c)
		}
	}
	return "", false
}

// slowAllowed reads the rule of KeyRule by its documentation.
func slowAllowed(r KeyRule, key string) bool {
	least, most := 1, 255
	if r.Min > 0 {
		least = r.Min
	}
	if r.Max > 0 {
		most = r.Max
	}
	alphabet := r.Alphabet
	if alphabet == "" {
		for c := byte('!'); c <= '~'; c++ {
			if c != ',' && c != '"' && c != '\\' {
				alphabet += string(rune(c))
			}
		}
	}
	for i := range len(key) {
		if !strings.Contains(alphabet, key[i:i+1]) {
			return false
		}
	}
	return least <= len(key) && len(key) <= most
}

// FuzzKey: a key comes back from the wire as it was, quoted or raw; what is
// adopted from a caller's header is the one string that the structured-field
// grammar reads there; and no error shows a key.
func FuzzKey(f *testing.F) {
	for _, line := range []string{
		"k-1", `"k-1"`, ` "k-1"	`, `"`, `""`, `"a\"b"`, `"a\\"`, `"a";p=1`, `"a", "b"`, "a,b", "a b", "", "\x7f", "é", `"é"`, strings.Repeat("k", 256), `a"`, `\`,
	} {
		f.Add(line, "", "", uint8(0), uint8(0))
		f.Add(line, `"k"`, "abcdef0123456789-k\"", uint8(1), uint8(40))
		f.Add("", line, "0123456789abcdef-", uint8(3), uint8(36))
	}
	f.Add("k-1", "k-2", "", uint8(0), uint8(0))
	f.Fuzz(func(t *testing.T, line, second, alphabet string, least, most uint8) {
		if len(line)+len(second)+len(alphabet) > 1<<11 {
			t.Skip("no key is as long")
		}
		for _, quoted := range []bool{false, true} {
			c := keyContract(func(c *Contract) {
				c.Carrier.Quoted = quoted
				c.Key = KeyRule{Min: int(least), Max: int(most), Alphabet: alphabet}
			})
			if len(checkContract(c, 0)) > 0 {
				return // no client has such a contract
			}
			want, isKey := strings.Trim(line, " \t"), true
			if quoted {
				want, isKey = slowBareString(line)
			}
			isKey = isKey && slowAllowed(c.Key, want)

			key, ok, err := c.adopted(http.Header{"Idempotency-Key": {line}, "X-Other": {second}})
			require.Equal(t, isKey, ok, "%q", line)
			if !ok {
				require.ErrorIs(t, err, ErrInvalidRequest)
				require.True(t, len(want) < 12 || !strings.Contains(err.Error(), want), "an error shows the key")
				continue
			}
			require.NoError(t, err)
			require.Equal(t, want, key)
			back, ok, err := c.adopted(http.Header{"idempotency-key": {c.wire(key)}})
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, key, back)

			_, ok, err = c.adopted(http.Header{"Idempotency-Key": {line}, "idempotency-key": {second}})
			require.False(t, ok, "two lines are no key")
			require.ErrorIs(t, err, ErrInvalidRequest)

			var random [16]byte
			copy(random[:], second)
			minted := c.mint(random)
			require.NoError(t, c.checkKey(minted), "the contract was taken, so its own keys are allowed")
			back, _, err = c.adopted(http.Header{"Idempotency-Key": {c.wire(minted)}})
			require.NoError(t, err)
			require.Equal(t, minted, back)
		}
	})
}
