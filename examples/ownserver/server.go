package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"go.etcd.io/bbolt"
)

// server is an API that honours idempotency keys. Its whole store is one bbolt
// file; with an SQL database it is the same, with a unique index on (tenant,
// key).
type server struct {
	db *bbolt.DB
	// charge does the work, inside the transaction. Tests make it fail.
	charge func(tx *bbolt.Tx, body []byte) (answer []byte, err error)
	// committed runs between the commit and the answer. Tests crash there.
	committed func()
}

var charges, keys = []byte("charges"), []byte("keys")

func newServer(db *bbolt.DB) (*server, error) {
	err := db.Update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{charges, keys} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
	return &server{db: db, charge: makeCharge, committed: func() {}}, err
}

// stored is what is kept under a key for as long as the API promises, at least.
type stored struct {
	Print  [32]byte // of the request, to tell another one from a repeat
	Status int
	Body   []byte
}

var errOtherRequest = errors.New("the key was used for another request")

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/charges" {
		http.NotFound(w, r)
		return
	}
	// One key, spelled one way: a hop that joins two of them reads another key.
	given := r.Header.Values("Idempotency-Key")
	if len(given) != 1 || given[0] == "" || len(given[0]) > 255 || strings.ContainsAny(given[0], ", ") {
		fail(w, http.StatusBadRequest, "invalid_idempotency_key")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		fail(w, http.StatusBadRequest, "unreadable_body")
		return
	}
	// A key is the tenant's own. The credential stands for the tenant here.
	name := sha256.Sum256([]byte(r.Header.Get("Authorization") + "\x00" + given[0]))
	print := sha256.Sum256([]byte(r.Method + " " + r.URL.Path + "\x00" + string(body)))

	answer, replayed, err := s.once(name[:], print, body)
	switch {
	case errors.Is(err, errOtherRequest):
		fail(w, http.StatusUnprocessableEntity, "idempotency_key_mismatch")
		return
	case err != nil:
		// Rolled back: nothing happened, and the key is free.
		fail(w, http.StatusInternalServerError, "try_again")
		return
	}
	s.committed()
	if replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(answer.Status)
	w.Write(answer.Body)
}

// once looks the key up, does the work, and stores the answer under the key, in
// one transaction. So there is no moment at which the work is done and the key
// does not know of it, and of two requests at once the second finds what the
// first has stored. It does not depend on the request's context: work that was
// begun goes on when the client has gone.
//
// Work that is not in the same database cannot be had in one transaction. Then
// claim the key in a transaction of its own first, answer repeats 409 while the
// claim stands, and after a crash ask the system that does the work, under the
// same key, before the claim is settled.
func (s *server) once(name []byte, print [32]byte, body []byte) (answer stored, replayed bool, err error) {
	err = s.db.Update(func(tx *bbolt.Tx) error {
		if known := tx.Bucket(keys).Get(name); known != nil {
			replayed = true
			if err := json.Unmarshal(known, &answer); err != nil {
				return err
			}
			if answer.Print != print {
				return errOtherRequest
			}
			return nil
		}
		made, err := s.charge(tx, body)
		if err != nil {
			return err
		}
		answer = stored{Print: print, Status: http.StatusCreated, Body: made}
		text, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		return tx.Bucket(keys).Put(name, text)
	})
	return answer, replayed, err
}

// makeCharge is the effect.
func makeCharge(tx *bbolt.Tx, body []byte) ([]byte, error) {
	id := "ch_" + rand.Text()
	answer, err := json.Marshal(map[string]string{"id": id})
	if err != nil {
		return nil, err
	}
	return answer, tx.Bucket(charges).Put([]byte(id), body)
}

// count is the charges in the system of record.
func (s *server) count() (n int, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		n = tx.Bucket(charges).Stats().KeyN
		return nil
	})
	return n, err
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"code": code})
}
