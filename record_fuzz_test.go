package oncehttp

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// sampleRecords are one record of each kind that a journal keeps.
func sampleRecords() []record {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	fresh := record{
		Action: "order-42/charge", Reason: NotSent, Due: at, Seen: at,
		Begun: begun{
			At: at, Key: "5f0c", Wire: `"5f0c"`, Contract: "api.test", Carrier: Carrier{Kind: CarrierHeader, Name: "Idempotency-Key", Quoted: true},
			Window: Window{Length: 24 * time.Hour}, Method: http.MethodPost, URL: "https://api.test/charges?n=1", Host: "api.test",
			Header: http.Header{"Content-Type": {"application/json"}}, Stripped: []string{"header Authorization"}, Size: 7, Fingerprint: "1:aa",
		},
	}
	started := fresh
	started.Attempts, started.Sending = 1, &sending{ID: "1", At: at.Add(time.Second)}
	exposed := fresh
	exposed.Attempts, exposed.Exposed, exposed.Reason, exposed.Cause = 2, true, Unknown, "the server answered 500"
	exposed.First, exposed.Last, exposed.Ended = at, at.Add(time.Minute), at.Add(2*time.Minute)
	exposed.NotBefore, exposed.Due, exposed.Waits = at.Add(time.Hour), at.Add(time.Hour), 2
	idempotent := exposed
	idempotent.Begun.Key, idempotent.Begun.Wire, idempotent.Begun.Idempotent, idempotent.Begun.Method = "", "", true, http.MethodPut
	parked := exposed
	parked.Parked, parked.RefusedStatus, parked.Looks, parked.Absent, parked.Due = true, 404, 3, at, time.Time{}
	incomplete := exposed
	incomplete.State, incomplete.Reason, incomplete.Exposed, incomplete.Incomplete = Confirmed, "", false, true
	incomplete.Answer, incomplete.Reference = &answer{Status: 201, Header: http.Header{"Etag": {"x"}}, Incomplete: true, At: at}, "ch_1"
	again := fresh
	again.State, again.Reason, again.Attempts, again.Answer = Rejected, Unauthorized, 1, &answer{Status: 401, At: at}
	conflict := exposed
	conflict.State, conflict.Rival, conflict.Reason, conflict.Exposed, conflict.Repeated = Confirmed, Rejected, Conflict, false, true
	conflict.Words = []word{{At: at, From: Pending, To: Confirmed, By: "ada", Why: "seen"}}
	born := fresh
	born.Begun.Born, born.Begun.Adopted, born.Begun.Window, born.Begun.Sealed, born.Begun.Principal = at.Add(-time.Hour), true, Window{Kind: WindowForever}, true, "ab"
	told := started
	told.Begun.Carrier, told.Begun.Stamped, told.Sending = Carrier{Kind: CarrierJSON, Name: "/e/*/id"}, at, &sending{ID: "1", At: at, Stamps: true}
	told.Begun.Companions = []Companion{{Kind: CarrierHeader, Name: "First-Sent", Value: CompanionSentIMF}, {Kind: CarrierForm, Name: "p", Text: "x"}}
	bytes := incomplete
	bytes.Begun.URL, bytes.Begun.Host, bytes.Begun.Header = "https://api.test/charges?n=\xe9é", "\xff.test", http.Header{"X-Note": {"caf\xe9", "caf\u00e9"}}
	bytes.Overruled = true
	bytes.Begun.Stripped = []string{"query:token\xe9"}
	bytes.Answer, bytes.Reference = &answer{Status: 201, Header: http.Header{"Location": {"/\xe9"}}, At: at}, "ch_\xe9"
	return []record{fresh, bytes, told, started, exposed, idempotent, parked, incomplete, again, conflict, born, conflict.tombstone()}
}

func addRecords(f *testing.F, add func(text []byte)) {
	for _, r := range sampleRecords() {
		r.Version = recordVersion
		e, err := r.entry()
		require.NoError(f, err)
		back, err := decodeRecord(e)
		require.NoError(f, err)
		require.Equal(f, r, back, "no field is lost")
		add(e.Record)
	}
}

// FuzzDecodeRecord: what is decoded has one meaning, which is the same after it
// was written again; a record of a newer version is refused, and told from a
// damaged one, whatever else is in it.
func FuzzDecodeRecord(f *testing.F) {
	addRecords(f, func(text []byte) {
		f.Add(text, false, 1)
		f.Add(text, true, recordVersion+1)
	})
	f.Add([]byte(`{"v":2,"action":{"from":"the future"}}`), false, 7)
	f.Add([]byte(`null`), false, 0)
	f.Fuzz(func(t *testing.T, text []byte, copied bool, version int) {
		if len(text) > 16<<10 {
			t.Skip("longer ones show nothing new")
		}
		e := Entry{ID: uuid.UUID{7}, Revision: 3, Record: text, Copied: copied}
		later, newer := withVersion(text, version)
		if newer && version > recordVersion {
			_, err := decodeRecord(Entry{ID: e.ID, Record: later})
			require.ErrorIs(t, err, ErrJournal)
			require.NotErrorIs(t, err, ErrJournalCorrupt)
			require.ErrorContains(t, err, "use a newer oncehttp")
		}
		r, err := decodeRecord(e)
		if err != nil {
			require.True(t, errors.Is(err, ErrJournal) || errors.Is(err, ErrJournalCorrupt), "%v", err)
			require.Zero(t, r)
			return
		}
		require.LessOrEqual(t, r.Version, recordVersion)
		require.GreaterOrEqual(t, r.Version, 1)
		require.Equal(t, [2]any{e.ID, e.Revision}, [2]any{r.ID, r.Revision})
		if copied && r.State == Pending {
			require.True(t, r.mayHaveExecuted(), "the original may have sent it")
			require.True(t, r.First.Equal(r.Begun.At))
			require.NotEqual(t, NotSent, r.Reason)
		}

		again, err := r.entry()
		require.NoError(t, err)
		require.Equal(t, r.State == Pending || r.Reason == Conflict, again.Open)
		require.False(t, !again.Open && !again.Due.IsZero(), "what is settled is never due")
		again.Copied = copied
		back, err := decodeRecord(again)
		require.NoError(t, err, "%s", again.Record)
		require.Equal(t, r, back)
		require.Equal(t, r.outcome(nil, 0.9, time.Minute), back.outcome(nil, 0.9, time.Minute))

		stone, err := r.tombstone().entry()
		require.NoError(t, err)
		left, err := decodeRecord(stone)
		require.NoError(t, err)
		require.Equal(t, []any{r.Action, r.State, r.Reference, r.Begun.Key, r.Begun.Fingerprint}, []any{left.Action, left.State, left.Reference, left.Begun.Key, left.Begun.Fingerprint})
	})
}

// withVersion is the same JSON object with another version.
func withVersion(text []byte, version int) ([]byte, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil || fields == nil {
		return nil, false
	}
	fields["v"], _ = json.Marshal(version)
	text, err := json.Marshal(fields)
	return text, err == nil
}
