package oncehttp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/google/uuid"
)

// derivedKey is the key of FormDerived.
func derivedKey(contract, action string) string {
	space := uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://github.com/oncehttp/oncehttp#"+contract))
	return uuid.NewSHA1(space, []byte(action)).String()
}

// DerivedKeys makes keys for Config.NewKey from a secret, a namespace and the
// action: several processes with journals of their own that may receive the
// same action then send it under the same key. The secret has 16 bytes or more
// and never changes: another one makes another key for the same action, and so
// a second effect. Each journal still counts only its own attempts, so say with
// [ActionTime] when the action was born: its key's window counts from then.
//
// A key is the first 128 bits of HMAC-SHA256, in the contract's form. An
// anonymous action gets a random key.
func DerivedKeys(secret []byte, namespace string) func(action string) (string, error) {
	secret = append([]byte(nil), secret...)
	return func(action string) (string, error) {
		if len(secret) < 16 {
			return "", errors.New("oncehttp: DerivedKeys needs a secret of 16 bytes or more")
		}
		h := hmac.New(sha256.New, secret)
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(namespace)))
		h.Write(length[:])
		h.Write([]byte(namespace))
		h.Write([]byte(action))
		id := uuid.UUID(h.Sum(nil)[:16])
		id[6] = id[6]&0x0f | 0x40 // version 4 and variant 10: RFC 9562 section 5.4
		id[8] = id[8]&0x3f | 0x80
		return id.String(), nil
	}
}
