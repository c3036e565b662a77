package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/oncehttp/oncehttp"
)

func said(status int, body string) shot {
	return shot{answer: answer{status: status, header: http.Header{}, body: []byte(body)}}
}

func (s shot) by(v oncehttp.Verdict) shot { s.verdict = v; return s }

func (s shot) marked() shot { s.replayed = true; return s }

// known is the evidence of an API whose answers differ in id and time.
func known(c oncehttp.Contract) evidence {
	return evidenceOf(c, said(201, `{"id":"a","at":1}`), said(201, `{"id":"b","at":2}`), "")
}

func TestWeakEvidenceContradictsNothing(t *testing.T) {
	t.Parallel()
	c := oncehttp.Contract{Replay: oncehttp.Marker{Headers: []string{"Replayed"}}}
	rejects := oncehttp.Contract{Compared: oncehttp.Compared{Mismatch: oncehttp.MismatchRejects}}
	first := said(201, `{"id":"a","at":1}`)
	blind := evidenceOf(c, said(201, `{"ok":true}`), said(201, `{"ok":true}`), "")
	for name, f := range map[string]finding{
		"a repeat is answered 503":              judgeRepeat(known(c), first, said(503, "")),
		"a repeat is answered 401":              judgeRepeat(known(c), first, said(401, "")),
		"a repeat is redirected":                judgeRepeat(known(c), first, said(302, "")),
		"a repeat finds the first running":      judgeRepeat(known(c), first, said(409, "").by(oncehttp.VerdictInProgress)),
		"what differs is of any two answers":    judgeRepeat(known(c), first, said(201, `{"id":"a","at":9}`)),
		"answers name no effect":                judgeRepeat(blind, said(201, `{"ok":true}`), said(201, `{"ok":true}`)),
		"answers name no effect, and differ":    judgeRepeat(blind, said(201, `{"ok":true}`), said(201, `{"ok":false}`)),
		"an unmarked answer may be no repeat":   judgeMarks(known(c), first, said(503, ""))[1],
		"an unmarked answer names another":      judgeMarks(known(c), first, said(201, `{"id":"b"}`))[1],
		"two at once, one is answered 500":      judgeTogether(known(c), first, said(500, ""))[0],
		"two at once, and none succeeds":        judgeTogether(known(c), said(409, ""), said(409, ""))[0],
		"two at once, and nothing is named":     judgeTogether(blind, said(201, `{"ok":true}`), said(201, `{"ok":true}`))[0],
		"another body is answered 503":          judgeOtherBody(known(rejects), first, first, said(503, "")),
		"what differs is not compared":          judgeOtherBody(known(oncehttp.Contract{Compared: oncehttp.Compared{Mismatch: oncehttp.MismatchRejects, Except: []string{"/n"}}}), first, first, first),
		"the body is not compared":              judgeOtherBody(known(oncehttp.Contract{Compared: oncehttp.Compared{Mismatch: oncehttp.MismatchRejects, Parts: oncehttp.PartPath}}), first, first, first),
		"another body, and nothing is named":    judgeOtherBody(evidence{contract: rejects}, first, first, said(201, `{"ok":true}`)),
		"the bad body is accepted":              judgeRefusal(oncehttp.Contract{Stored: oncehttp.Stored{Refusals: true}}, first, first),
		"the bad body is answered 401":          judgeRefusal(oncehttp.Contract{Stored: oncehttp.Stored{Refusals: true}}, said(401, ""), said(201, "")),
		"the good body is refused otherwise":    judgeRefusal(oncehttp.Contract{Stored: oncehttp.Stored{Refusals: true}}, said(400, "{}"), said(409, `{"a":1}`)),
		"both are refused in other words":       judgeRefusal(oncehttp.Contract{Stored: oncehttp.Stored{Except: []int{400}}}, said(400, "this"), said(400, "that")),
		"both are refused without words":        judgeRefusal(oncehttp.Contract{Stored: oncehttp.Stored{Except: []int{400}}}, said(400, ""), said(400, "")),
		"the good body may overwrite":           judgeRefusal(oncehttp.Contract{Stored: oncehttp.Stored{Refusals: true}, Compared: oncehttp.Compared{Mismatch: oncehttp.MismatchOverwrites}}, said(400, ""), first),
		"a bad key is answered 500":             judgeKey("key", "refused", said(500, "")),
		"no key is answered 403":                judgeKeyless(oncehttp.NeedAll, said(403, "")),
		"a refusal without the mark of its own": judgeOrigin(oncehttp.Contract{Origin: oncehttp.Marker{Headers: []string{"A"}}}, []shot{said(404, "")}),
		"no answer that could have the mark":    judgeOrigin(oncehttp.Contract{Origin: oncehttp.Marker{Headers: []string{"A"}}}, []shot{said(0, "")}),
	} {
		assert.Equal(t, cannotTell, f.Verdict, "%s: %+v", name, f)
	}
}

func TestWhatIsNotDeclaredIsNotJudged(t *testing.T) {
	t.Parallel()
	var none oncehttp.Contract
	first := said(201, `{"id":"a"}`)
	for name, f := range map[string]finding{
		"no mark":                    judgeMarks(known(none), first, first)[0],
		"no mark of its own":         judgeOrigin(none, []shot{first}),
		"no rule for in progress":    judgeTogether(known(none), first, said(409, `{"code":"exists"}`))[1],
		"another body":               judgeOtherBody(known(none), first, first, said(201, `{"id":"b"}`)),
		"a refusal is kept":          judgeRefusal(none, said(400, `{"a":1}`), said(400, `{"a":1}`)),
		"no key, where some need it": judgeKeyless(oncehttp.NeedSome, said(400, "")),
		"no key, and it is refused":  judgeKeyless(oncehttp.NeedNone, said(400, "")),
	} {
		assert.Equal(t, notDeclared, f.Verdict, "%s: %+v", name, f)
	}
}

func TestEachDeclaredEffectOfAnotherBodyIsKnown(t *testing.T) {
	t.Parallel()
	first := said(201, `{"id":"a","at":1}`)
	answers := map[string]shot{
		"refused":     said(400, `{"code":"x"}`),
		"replayed":    first.marked(),
		"another":     said(201, `{"id":"b","at":2}`),
		"overwritten": said(201, `{"id":"a","at":2}`),
		"dropped":     said(200, `{}`),
	}
	for effect, right := range map[oncehttp.MismatchEffect][]string{
		oncehttp.MismatchRejects:    {"refused"},
		oncehttp.MismatchReplays:    {"replayed"},
		oncehttp.MismatchExecutes:   {"another"},
		oncehttp.MismatchOverwrites: {"another", "overwritten"},
		oncehttp.MismatchDrops:      {"dropped"},
	} {
		c := oncehttp.Contract{Compared: oncehttp.Compared{Mismatch: effect}}
		for name, other := range answers {
			f := judgeOtherBody(known(c), first, first, other)
			want := contradicts
			for _, r := range right {
				if r == name {
					want = agrees
				}
			}
			assert.Equal(t, want, f.Verdict, "effect %d, %s: %+v", effect, name, f)
		}
	}
}

func TestASpentKeyIsAKeptRefusal(t *testing.T) {
	t.Parallel()
	c := oncehttp.Contract{Stored: oncehttp.Stored{Refusals: true}}
	assert.Equal(t, agrees, judgeRefusal(c, said(400, `{"a":1}`), said(409, `{"b":1}`).by(oncehttp.VerdictKeySpent)).Verdict)
	assert.Equal(t, agrees, judgeRefusal(c, said(400, `{"a":1}`), said(422, `{"b":1}`).by(oncehttp.VerdictMismatch)).Verdict)
}

func TestTheExitCodeSaysWhatWasFound(t *testing.T) {
	t.Parallel()
	of := func(stopped string, verdicts ...verdict) int {
		r := report{Stopped: stopped}
		for _, v := range verdicts {
			r.Findings = append(r.Findings, finding{Verdict: v})
		}
		return r.exit()
	}
	assert.Equal(t, exitAgrees, of("", agrees, notDeclared, cannotTell))
	assert.Equal(t, exitContradicts, of("", agrees, contradicts))
	assert.Equal(t, exitContradicts, of("stopped", contradicts))
	assert.Equal(t, exitNotDone, of("stopped", agrees))
	assert.Equal(t, exitNotDone, of("", notDeclared, cannotTell), "nothing was found out")
}

func TestARuleForAMismatchIsJudgedByItself(t *testing.T) {
	t.Parallel()
	c := oncehttp.Contract{Answers: []oncehttp.Answer{{Status: []int{422}, Verdict: oncehttp.VerdictMismatch}}}
	first := said(201, `{"id":"a"}`)
	assert.Equal(t, agrees, judgeOtherBody(known(c), first, first, said(422, "").by(oncehttp.VerdictMismatch)).Verdict)
	assert.Equal(t, notDeclared, judgeOtherBody(known(c), first, first, said(201, `{"id":"b"}`)).Verdict)
}

func TestEffectsAreKnownByTheirNames(t *testing.T) {
	t.Parallel()
	var c oncehttp.Contract
	for name, s := range map[string]struct{ one, two, want string }{
		"an id":                        {`{"id":"a","amount":1}`, `{"id":"b","amount":2}`, "/id"},
		"an id below":                  {`{"data":{"id":7}}`, `{"data":{"id":8}}`, "/data/id"},
		"the nearest to the root":      {`{"payer":{"id":1},"id":3}`, `{"payer":{"id":2},"id":4}`, "/id"},
		"another's id is the same":     {`{"id":"account","charge_id":"a"}`, `{"id":"account","charge_id":"b"}`, "/charge_id"},
		"camel case":                   {`{"chargeId":"a"}`, `{"chargeId":"b"}`, "/chargeId"},
		"in a list":                    {`{"items":[{"id":"a"}]}`, `{"items":[{"id":"b"}]}`, "/items/0/id"},
		"what numbers requests":        {`{"request_id":"a","requestId":"c"}`, `{"request_id":"b","requestId":"d"}`, ""},
		"a request's id":               {`{"request":{"id":"a"}}`, `{"request":{"id":"b"}}`, ""},
		"paid is no id":                {`{"paid":1}`, `{"paid":2}`, ""},
		"only one has it":              {`{"id":"a"}`, `{}`, ""},
		"XML":                          {`<R><requestId>1</requestId><instanceId>a</instanceId></R>`, `<R><requestId>2</requestId><instanceId>b</instanceId></R>`, "/R/instanceId"},
		"no document":                  {"created a", "created b", ""},
		"what is only half a document": {`<R><id>a`, `<R><id>b`, "/R/id"},
	} {
		assert.Equal(t, s.want, evidenceOf(c, said(201, s.one), said(201, s.two), "").names, name)
	}
	located := func(at string) shot {
		s := said(201, "")
		s.header.Set("Location", at)
		return s
	}
	assert.Equal(t, location, evidenceOf(c, located("/things/1"), located("/things/2"), "").names)
	assert.Equal(t, "/paid", evidenceOf(c, said(201, `{"id":1,"paid":1}`), said(201, `{"id":2,"paid":2}`), "/paid").names, "as the user says")
	assert.Empty(t, evidenceOf(c, said(201, `{"id":1,"paid":1}`), said(201, `{"id":2,"paid":1}`), "/paid").names, "which two effects share")
	assert.Empty(t, evidenceOf(c, said(201, `{"id":1}`), said(409, `{"id":2}`), "").names, "which is no effect's")
}

// A mark in the body, which only the repeat has, is no change of what it tells.
func TestAMarkInTheBodyIsNoOtherAnswer(t *testing.T) {
	t.Parallel()
	c := oncehttp.Contract{Replay: oncehttp.Marker{At: []string{"/meta/replayed"}}}
	f := judgeRepeat(known(c), said(201, `{"id":"a","meta":{}}`), said(200, `{"id":"a","meta":{"replayed":true}}`).marked())
	assert.Equal(t, agrees, f.Verdict, "%+v", f)
}

// Where the mark of the API's own is the name of what it made, another name is
// another effect; the id of a request is no name.
func TestTheNameOfAnEffectCountsThoughItIsAMark(t *testing.T) {
	t.Parallel()
	c := oncehttp.Contract{Origin: oncehttp.Marker{At: []string{"/token", "/request_id"}}}
	one, two := said(200, `{"token":"a","request_id":"1"}`), said(200, `{"token":"b","request_id":"2"}`)
	assert.Equal(t, []string{"/token"}, differing(c, one.answer, two.answer))
	assert.Equal(t, "/token", naming(c, one.answer, two.answer))
	assert.False(t, alike(c, one.answer, two.answer))
	assert.True(t, alike(c, one.answer, said(200, `{"token":"a","request_id":"2"}`).answer))
}

func TestOnlyNamesOfEffectsArePrintedAndNoneThatIsLong(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "ch_1", clipped("ch_1"))
	assert.Equal(t, `a\n\x1b[2J`, clipped("a\n\x1b[2J"))
	long := make([]byte, 1000)
	for i := range long {
		long[i] = 'a'
	}
	assert.Len(t, clipped(string(long)), 67)
}
