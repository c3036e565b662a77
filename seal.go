package oncehttp

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"
)

// A Sealer encrypts bodies at rest. It is the shape of [crypto/cipher.AEAD],
// and one whose nonces may be drawn at random (AES-GCM's 12 bytes serve 2³²
// bodies under one key, XChaCha20-Poly1305's 24 any number). With a Sealer the
// fingerprint in a record is keyed too. Headers, URLs and action names are not
// sealed.
type Sealer interface {
	NonceSize() int
	Overhead() int
	Seal(dst, nonce, plaintext, additionalData []byte) []byte
	Open(dst, nonce, ciphertext, additionalData []byte) ([]byte, error)
}

// sealing is what the client knows of its Sealer.
type sealing struct {
	sealer Sealer
	// mark keys the fingerprints. It depends on the Sealer's key alone, so that
	// it tells keys apart too.
	mark []byte
}

func newSealing(s Sealer) (sealing, error) {
	if s == nil {
		return sealing{}, nil
	}
	if s.NonceSize() < 12 {
		return sealing{}, fmt.Errorf("oncehttp: Config.Sealer has nonces of %d bytes, too short to draw at random: want 12 or more", s.NonceSize())
	}
	mark := sha256.Sum256(s.Seal(nil, make([]byte, s.NonceSize()), []byte("oncehttp fingerprint key, version 1"), nil))
	return sealing{sealer: s, mark: mark[:]}, nil
}

// fingerprint keys a fingerprint, so that a guess of the payload cannot be
// checked without the key.
func (s sealing) fingerprint(plain string) string {
	if s.sealer == nil {
		return plain
	}
	return "s" + hex.EncodeToString(keyedDigest(s.mark, plain))
}

func keyedDigest(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// seal encrypts a body for the record that it belongs to.
func (s sealing) seal(body []byte, id uuid.UUID, which Body) []byte {
	if s.sealer == nil || len(body) == 0 {
		return body
	}
	nonce := make([]byte, s.sealer.NonceSize(), s.sealer.NonceSize()+len(body)+s.sealer.Overhead())
	rand.Read(nonce)
	return s.sealer.Seal(nonce, nonce, body, append(id[:], byte(which)))
}

// open decrypts a body. A body that cannot be opened is not damage: the key may
// be another one.
func (s sealing) open(sealed []byte, id uuid.UUID, which Body) ([]byte, error) {
	if len(sealed) == 0 {
		return sealed, nil
	}
	if s.sealer != nil && len(sealed) >= s.sealer.NonceSize() {
		n := s.sealer.NonceSize()
		if body, err := s.sealer.Open(nil, sealed[:n], sealed[n:], append(id[:], byte(which))); err == nil {
			return body, nil
		}
	}
	return nil, errSealed
}

var errSealed = &ownError{text: "oncehttp: a body in the journal is sealed with a key that Config.Sealer does not have; open the journal with that one"}
