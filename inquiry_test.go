package oncehttp

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const plantedID = "0195f0a0-0000-7000-8000-000000000001"

// lookedUp is a record that may have taken effect, and its request's body.
func lookedUp() (record, []byte) {
	body := []byte(`{"reference":"order 42/é","amount":500,"to":{"id":"x'y"},"up":"..","none":""}`)
	return record{
		ID:    uuid.MustParse(plantedID),
		First: time.Date(2026, 3, 1, 0, 30, 0, 0, time.UTC),
		Begun: begun{Key: "k-1", Planted: Plant{Kind: CarrierHeader, Name: "X-Ref"}, PlantedID: plantedID, Size: len(body), URL: "https://api.test/v1/pay?account=7&twice=1&twice=2"},
	}, body
}

func TestAValueIsEscapedForWhereItStandsInALookup(t *testing.T) {
	t.Parallel()
	r, body := lookedUp()
	for template, want := range map[string]string{
		"/pay":                           "/pay",
		"/pay/{key}":                     "/pay/k-1",
		"/pay/{/reference}":              "/pay/order%2042%2F%C3%A9",
		"/pay?ref={/reference}&x={id}":   "/pay?ref=order+42%2F%C3%A9&x=" + r.Begun.PlantedID,
		"/pay?since={since}":             "/pay?since=2026-02-28",
		"/a/{query.account}/b/{/amount}": "/a/7/b/500",
		"/{path.1}/x/{path.2}":           "/v1/x/pay",
		"/s?q=m%5B'id'%5D:'{id}'":        "/s?q=m%5B'id'%5D:'" + r.Begun.PlantedID + "'",
		"/s?q={/to/id}":                  "/s?q=x%27y",
	} {
		got, whole := Lookup{URL: template}.target(r, body)
		assert.True(t, whole, template)
		assert.Equal(t, want, got, template)
	}
}

func TestALookupWithoutAValueForItsURLIsNotSent(t *testing.T) {
	t.Parallel()
	r, body := lookedUp()
	for template, why := range map[string]string{
		"/pay/{/missing}":      "nothing is there",
		"/pay/{path.9}":        "the path is shorter",
		"/pay/{/none}":         "it is empty, and /pay/ may be a list",
		"/pay/{/to}":           "it is an object",
		"/pay/{query.missing}": "there is no such parameter",
		"/pay/{query.twice}":   "there are two",
		"/pay/{/up}/refunds":   "it would lead to another path",
		"/s?q=id:'{/to/id}'":   "it would end the quotes",
		"/s?q=id:%22{/to/id}":  "it would end the quotes",
	} {
		_, whole := Lookup{URL: template}.target(r, body)
		assert.False(t, whole, "%s: %s", template, why)
	}
	_, whole := Lookup{URL: "/pay/{/reference}"}.target(r, []byte("no JSON"))
	assert.False(t, whole)
	_, whole = Lookup{URL: "/pay/{key}"}.target(record{}, nil)
	assert.False(t, whole)
	_, whole = Lookup{URL: "/pay?since={since}"}.target(record{}, nil)
	assert.False(t, whole)
}

func TestOnlyALookupThatHasItsValuesMakesAnIntentDue(t *testing.T) {
	t.Parallel()
	full, _ := lookedUp()
	none := record{}
	for _, tt := range []struct {
		lookup Lookup
		want   bool
	}{
		{Lookup{URL: "/pay"}, true},
		{Lookup{URL: "/pay/{key}"}, false},
		{Lookup{URL: "/pay?q={id}"}, false},
		{Lookup{URL: "/pay/{/ref}"}, false},
		{Lookup{URL: "/pay", Items: "/data", Where: "/id"}, false},
	} {
		c := &Contract{Lookups: []Lookup{tt.lookup}}
		assert.True(t, c.canBeAsked(full), "%+v", tt.lookup)
		assert.Equal(t, tt.want, c.canBeAsked(none), "%+v", tt.lookup)
	}
	assert.False(t, (&Contract{}).canBeAsked(full))
	assert.False(t, (*Contract)(nil).canBeAsked(full))
}

// proves, single and listed are lookups of the tests below.
var (
	single = Lookup{URL: "/pay/{key}", Reference: "/id", Proof: true}
	listed = Lookup{URL: "/pay", Items: "/data", Where: "/meta/key", Reference: "/id", Proof: true}
)

func TestWhatALookupsAnswerProves(t *testing.T) {
	t.Parallel()
	const notFound = `{"error":"not_found"}`
	found := func(reference string) Finding { return Finding{Kind: Found, Reference: reference} }
	with := func(l Lookup, change func(*Lookup)) Lookup { change(&l); return l }
	unproved := func(l *Lookup) { l.Proof = false }
	wrapped := func(l *Lookup) { l.State, l.Is = "/StatusCode", []string{"SENT", "2*"} }
	root := with(listed, func(l *Lookup) { l.Items = "/*" })
	filtered := with(listed, func(l *Lookup) { l.Where = "" })
	for name, c := range map[string]struct {
		l      Lookup
		status int
		body   string
		want   Finding
	}{
		"one":                         {single, 200, `{"id":"ch_1"}`, found("ch_1")},
		"one, by a number":            {single, 200, `{"id":9007199254740993}`, found("9007199254740993")},
		"one, nameless":               {Lookup{URL: "/pay"}, 200, `{}`, found("")},
		"one, without its name":       {single, 200, `{"error":"none"}`, Finding{}},
		"one, of another":             {with(single, func(l *Lookup) { l.Where = "/key" }), 200, `{"id":"ch_1","key":"k-2"}`, Finding{}},
		"one, of this":                {with(single, func(l *Lookup) { l.Where = "/key" }), 200, `{"id":"ch_1","key":"k-1"}`, found("ch_1")},
		"one, created":                {single, 201, `{"id":"ch_1"}`, found("ch_1")},
		"one, in the state":           {with(single, wrapped), 200, `{"id":"ch_1","StatusCode":"201"}`, found("ch_1")},
		"one, in the first state":     {with(single, wrapped), 200, `{"id":"ch_1","StatusCode":"sent"}`, found("ch_1")},
		"one, in another state":       {with(single, wrapped), 200, `{"id":"ch_1","StatusCode":400}`, Finding{}},
		"one, without a state":        {with(single, wrapped), 200, `{"id":"ch_1"}`, Finding{}},
		"listed, in another state":    {with(listed, wrapped), 200, `{"data":[{"id":"b","meta":{"key":"k-1"},"StatusCode":"500"}]}`, Finding{}},
		"a list in place of one":      {single, 200, `[]`, Finding{}},
		"a text in place of one":      {single, 200, `"ch_1"`, Finding{}},
		"none":                        {single, 404, notFound, Finding{Kind: NotFound}},
		"none, without proof":         {with(single, unproved), 404, notFound, Finding{}},
		"a page that is not found":    {single, 404, "<html>404</html>", Finding{}},
		"a 404 without a body":        {single, 404, "", Finding{}},
		"gone":                        {single, 410, notFound, Finding{}},
		"refused":                     {single, 401, notFound, Finding{}},
		"forbidden":                   {single, 403, notFound, Finding{}},
		"moved":                       {single, 302, `{"id":"ch_1"}`, Finding{}},
		"not looked yet":              {single, 202, `{"id":"ch_1"}`, Finding{}},
		"a part":                      {single, 206, `{"id":"ch_1"}`, Finding{}},
		"a failure":                   {single, 500, `{"id":"ch_1"}`, Finding{}},
		"throttled":                   {listed, 429, `{"data":[]}`, Finding{}},
		"a page":                      {single, 200, "<html>login</html>", Finding{}},
		"listed":                      {listed, 200, `{"data":[{"id":"a","meta":{"key":"k-2"}},{"id":"b","meta":{"key":"k-1"}}]}`, found("b")},
		"listed by what was planted":  {listed, 200, `{"data":[{"id":"b","meta":{"key":"0195f0a0-0000-7000-8000-000000000001"}}]}`, found("b")},
		"listed, and another page":    {listed, 200, `{"has_more":true,"data":[{"id":"b","meta":{"key":"k-1"}}]}`, found("b")},
		"listed twice":                {listed, 200, `{"data":[{"id":"a","meta":{"key":"k-1"}},{"id":"b","meta":{"key":"k-1"}}]}`, Finding{Kind: Found, Reference: "a", Repeated: true}},
		"listed twice as one":         {listed, 200, `{"data":[{"id":"a","meta":{"key":"k-1"}},{"id":"a","meta":{"key":"k-1"}}]}`, found("a")},
		"listed without a name":       {listed, 200, `{"data":[{"meta":{"key":"k-1"}}]}`, Finding{}},
		"filtered by the API":         {filtered, 200, `{"data":[{"id":"a"}]}`, found("a")},
		"the answer is the list":      {root, 200, `[{"id":"a","meta":{"key":"k-1"}}]`, found("a")},
		"the answer is an empty list": {root, 200, `[]`, Finding{Kind: NotFound}},
		"an empty list":               {listed, 200, `{"data":[]}`, Finding{Kind: NotFound}},
		"an empty list, no proof":     {with(listed, unproved), 200, `{"data":[]}`, Finding{}},
		"a list of others":            {listed, 200, `{"data":[{"id":"a","meta":{"key":"k-2"}}],"has_more":false,"next":null,"total":1}`, Finding{Kind: NotFound}},
		"a list that is null":         {listed, 200, `{"data":null}`, Finding{}},
		"a list that is not there":    {listed, 200, `{"error":"none"}`, Finding{}},
		"a list that is none":         {listed, 200, `{"data":{}}`, Finding{}},
		"no such list":                {listed, 404, notFound, Finding{}},
		"more":                        {listed, 200, `{"data":[],"has_more":true}`, Finding{}},
		"next page":                   {listed, 200, `{"data":[],"links":{"self":"/a","next":{"href":"/b"}}}`, Finding{}},
		"no next page":                {listed, 200, `{"data":[],"links":{"self":"/a","next":{"href":null}}}`, Finding{Kind: NotFound}},
		"next token":                  {listed, 200, `{"data":[],"NextToken":"AAA"}`, Finding{}},
		"no next token":               {listed, 200, `{"data":[],"nextToken":""}`, Finding{Kind: NotFound}},
		"truncated":                   {listed, 200, `{"data":[],"IsTruncated":true}`, Finding{}},
		"incomplete":                  {listed, 200, `{"data":[],"incomplete_results":true}`, Finding{}},
		"more in all than are shown":  {listed, 200, `{"data":[],"meta":{"pagination":{"total_count":3}}}`, Finding{}},
		"more pages":                  {listed, 200, `{"data":[],"page":{"totalPages":2}}`, Finding{}},
		"no page, said in its size":   {listed, 200, `{"data":[],"page":1,"per_page":20,"page_size":20}`, Finding{Kind: NotFound}},
		"not the last":                {listed, 200, `{"data":[],"last":false}`, Finding{}},
		"a cursor":                    {listed, 200, `{"data":[],"cursor":"AAA"}`, Finding{}},
		"a continuation":              {listed, 200, `{"data":[],"continuationToken":"AAA"}`, Finding{}},
		"a cached page":               {listed, 203, `{"data":[]}`, Finding{}},
		"no content":                  {listed, 204, ``, Finding{}},
		"several statuses":            {listed, 207, `{"data":[]}`, Finding{}},
		"a list twice":                {listed, 200, `{"data":[{"id":"b","meta":{"key":"k-1"}}],"data":[]}`, Finding{}},
		"two words on more":           {listed, 200, `{"data":[],"has_more":true,"has_more":false}`, Finding{}},
		"two references":              {single, 200, `{"id":"ch_1","id":"ch_2"}`, Finding{}},
		"two states":                  {with(single, wrapped), 200, `{"id":"ch_1","StatusCode":400,"StatusCode":200}`, Finding{}},
		"none, said twice over":       {single, 404, `{"error":"a","error":"b"}`, Finding{}},
		"one page":                    {listed, 200, `{"data":[],"page":{"number":1,"totalPages":1,"total":0}}`, Finding{Kind: NotFound}},
	} {
		r, _ := lookedUp()
		got, why := c.l.find(facts{status: c.status, body: []byte(c.body)}, &Contract{}, r, stepStart)
		assert.Equal(t, c.want, got, name)
		assert.Equal(t, c.want.Kind == CannotTell, why != "", "%s: %q", name, why)
	}
}

func TestAListProvesNothingOfARecordThatItCannotName(t *testing.T) {
	t.Parallel()
	plants := Contract{Plant: Plant{Kind: CarrierJSON, Name: "/meta/key"}}
	batch := Carrier{Kind: CarrierJSON, Name: "/items/*/key"}
	byKey := Lookup{URL: "/pay?key={key}", Items: "/data", Where: "/meta/key", Proof: true}
	anyItem := Lookup{URL: "/pay?id={/reference}", Items: "/data", Proof: true}
	for _, c := range []struct {
		why      string
		l        Lookup
		contract Contract
		planted  bool
		carrier  Carrier
		want     FindingKind
	}{
		{"an id was planted", listed, plants, true, Carrier{}, NotFound},
		{"what stands there may be what the caller has written", listed, plants, false, Carrier{}, CannotTell},
		{"the key is all that can stand there", listed, Contract{}, false, Carrier{}, NotFound},
		{"the list was asked for by the key", byKey, plants, false, Carrier{}, NotFound},
		{"what was asked for is enough", anyItem, plants, false, Carrier{}, NotFound},
		{"no item of a batch has the intent's key", listed, Contract{}, false, batch, CannotTell},
		{"a batch with an id", listed, plants, true, batch, NotFound},
	} {
		r, _ := lookedUp()
		r.Begun.Carrier, c.contract.Carrier, r.Begun.Planted = c.carrier, c.carrier, c.contract.Plant
		if !c.planted {
			r.Begun.Planted, r.Begun.PlantedID = Plant{}, ""
		}
		got, _ := c.l.find(facts{status: 200, body: []byte(`{"data":[]}`)}, &c.contract, r, stepStart)
		assert.Equal(t, c.want, got.Kind, c.why)
		got, _ = c.l.find(facts{status: 200, body: []byte(`{"data":[{"id":"a","meta":{"key":"k-1"}}]}`)}, &c.contract, r, stepStart)
		assert.Equal(t, Found, got.Kind, "%s: it can still find it", c.why)
	}
}

func TestALookupCannotTellFromAnAnswerThatIsNotWholeOrNotTheAPIs(t *testing.T) {
	t.Parallel()
	r, _ := lookedUp()
	whole := facts{status: 404, body: []byte(`{}`), header: http.Header{}}
	kind := func(f facts, c Contract) FindingKind {
		found, _ := single.find(f, &c, r, stepStart)
		return found.Kind
	}
	require.Equal(t, NotFound, kind(whole, Contract{}))
	cut, long := whole, whole
	cut.cut, long.long = true, true
	assert.Equal(t, CannotTell, kind(cut, Contract{}))
	assert.Equal(t, CannotTell, kind(long, Contract{}))

	marked := Contract{Origin: Marker{Headers: []string{"Request-Id"}}}
	assert.Equal(t, CannotTell, kind(whole, marked), "a proxy's 404 proves nothing")
	whole.header.Set("Request-Id", "req_1")
	assert.Equal(t, NotFound, kind(whole, marked))

	assert.Equal(t, NotFound, kind(whole, Contract{Proof: ProofVendor}))
	assert.Equal(t, CannotTell, kind(whole, Contract{Proof: ProofSecondary}), "hearsay never causes a resend")
}

func TestALinkToANextPageKeepsAListFromProvingAbsence(t *testing.T) {
	t.Parallel()
	r, _ := lookedUp()
	for link, want := range map[string]FindingKind{
		`</pay?page=1>; rel="prev"`:                                 NotFound,
		`</pay?page=3>; rel="next"`:                                 CannotTell,
		`</pay?page=1>; rel=prev, </pay?page=3>; title=x; rel=next`: CannotTell,
	} {
		got, _ := listed.find(facts{status: 200, body: []byte(`{"data":[]}`), header: http.Header{"Link": {link}}}, &Contract{}, r, stepStart)
		assert.Equal(t, want, got.Kind, link)
	}
}

// Silence is no end: without a word of it a list of others may be its first page.
func TestAListOfOthersProvesAbsenceOnlyWhereItsEndIsSaid(t *testing.T) {
	t.Parallel()
	r, _ := lookedUp()
	const others = `[{"id":"a","meta":{"key":"k-2"}},{"id":"b","meta":{"key":"k-3"}}]`
	with := func(members string) string { return `{"data":` + others + members + `}` }
	in := func(url string) Lookup { l := listed; l.URL = url; return l }
	root := listed
	root.Items = "/*"
	header := func(name, value string) http.Header { return http.Header{name: {value}} }
	for name, c := range map[string]struct {
		l      Lookup
		body   string
		header http.Header
		want   FindingKind
	}{
		"nothing is said":            {listed, with(``), nil, CannotTell},
		"nothing, of a bare list":    {root, others, nil, CannotTell},
		"no more":                    {listed, with(`,"has_more":false`), nil, NotFound},
		"no next":                    {listed, with(`,"next":null`), nil, NotFound},
		"no next link":               {listed, with(`,"@odata.nextLink":""`), nil, NotFound},
		"none of something else":     {listed, with(`,"next_billing":null`), nil, CannotTell},
		"no cursor":                  {listed, with(`,"cursor":""`), nil, CannotTell},
		"the last":                   {listed, with(`,"last":true`), nil, NotFound},
		"not the last":               {listed, with(`,"isLast":false`), nil, CannotTell},
		"done":                       {listed, with(`,"done":true`), nil, NotFound},
		"as many as there are":       {listed, with(`,"total":2`), nil, NotFound},
		"more than there are":        {listed, with(`,"total":3`), nil, CannotTell},
		"a sum of something":         {listed, with(`,"total_amount":1,"total":1`), nil, CannotTell},
		"as many as on this page":    {listed, with(`,"count":2`), nil, CannotTell},
		"the first page":             {listed, with(`,"page":1`), nil, CannotTell},
		"one page in all":            {listed, with(`,"meta":{"total_pages":1}`), nil, NotFound},
		"two pages":                  {listed, with(`,"meta":{"total_pages":2},"has_more":false`), nil, CannotTell},
		"a link back":                {root, others, header("Link", `</pay?page=1>; rel="prev"`), NotFound},
		"a link to something else":   {root, others, header("Link", `</help>; rel="help"`), CannotTell},
		"a link on":                  {root, others, header("Link", `</pay?page=2>; rel="next"`), CannotTell},
		"a next page in a header":    {root, others, header("X-Next-Page", "2"), CannotTell},
		"no next page in a header":   {root, others, header("X-Next-Page", ""), NotFound},
		"a header without a line":    {root, others, http.Header{"X-Next-Page": nil}, CannotTell},
		"a continuation in a header": {root, others, header("X-Ms-Continuation", "AAA"), CannotTell},
		"a total in a header":        {root, others, header("X-Total-Count", "3"), CannotTell},
		"all of them, in a header":   {root, others, header("X-Total-Count", "2"), NotFound},
		"a range":                    {root, others, header("Content-Range", "items 0-1/319"), CannotTell},
		"the whole range":            {root, others, header("Content-Range", "items 0-1/2"), NotFound},
		"a range without end":        {root, others, header("Content-Range", "items 0-1/*"), CannotTell},
		"fewer than asked for":       {in("/pay?limit=100"), with(``), nil, NotFound},
		"as many as asked for":       {in("/pay?page_size=2"), with(``), nil, CannotTell},
		"fewer, and yet more":        {in("/pay?per_page=100"), with(`,"has_more":true`), nil, CannotTell},
	} {
		got, why := c.l.find(facts{status: 200, body: []byte(c.body), header: c.header}, &Contract{}, r, stepStart)
		assert.Equal(t, c.want, got.Kind, "%s: %s", name, why)
	}
}

// What a cache kept is as old as its Age, and may be older than the attempt.
func TestAnAnswerOutOfACacheProvesNoAbsence(t *testing.T) {
	t.Parallel()
	r, _ := lookedUp()
	kind := func(status int, body, age string) FindingKind {
		got, _ := single.find(facts{status: status, body: []byte(body), header: http.Header{"Age": {age}}}, &Contract{}, r, stepStart)
		return got.Kind
	}
	assert.Equal(t, CannotTell, kind(404, `{}`, "1"))
	assert.Equal(t, NotFound, kind(404, `{}`, "0"))
	assert.Equal(t, Found, kind(200, `{"id":"ch_1"}`, "300"), "what was there then took effect")
}

// {since} is by this machine's clock, and the API lists by its own.
func TestAListSinceADayProvesNoAbsenceToAClockThatIsAhead(t *testing.T) {
	t.Parallel()
	r, _ := lookedUp()
	r.First = stepStart
	since := listed
	since.URL = "/pay?since={since}"
	kind := func(l Lookup, now time.Time, date time.Time) FindingKind {
		h := http.Header{}
		if !date.IsZero() {
			h.Set("Date", date.UTC().Format(http.TimeFormat))
		}
		got, _ := l.find(facts{status: 200, body: []byte(`{"data":[]}`), header: h}, &Contract{}, r, now)
		return got.Kind
	}
	now := stepStart.Add(time.Hour)
	assert.Equal(t, NotFound, kind(since, now, now))
	assert.Equal(t, NotFound, kind(since, now, time.Time{}))
	assert.Equal(t, NotFound, kind(since, now, now.Add(-5*time.Hour)), "the day before covers that")
	assert.Equal(t, CannotTell, kind(since, now, now.Add(-7*time.Hour)))
	assert.Equal(t, NotFound, kind(since, now, now.Add(30*time.Hour)), "behind, it asks for more days than it must")
	assert.Equal(t, CannotTell, kind(since, stepStart.Add(-time.Hour), time.Time{}), "the clock was ahead at the attempt")
	assert.Equal(t, NotFound, kind(listed, now, now.Add(-30*time.Hour)), "no date is asked for")
}

func TestAWrongLookupIsRefused(t *testing.T) {
	t.Parallel()
	key := Carrier{Kind: CarrierHeader, Name: "Idempotency-Key"}
	for _, tt := range []struct {
		lookup Lookup
		want   string
	}{
		{Lookup{URL: "pay/{key}"}, "start it with /"},
		{Lookup{URL: "/pay/{what}"}, "{what}"},
		{Lookup{URL: "/pay/{/a~}"}, "{/a~}"},
		{Lookup{URL: "/pay/{query.}"}, "{query.}"},
		{Lookup{URL: "/pay/{key"}, "not an escaped path"},
		{Lookup{URL: "/pay/{}"}, "not an escaped path"},
		{Lookup{URL: "/pay/key}"}, "not an escaped path"},
		{Lookup{URL: "/pay?q=a b"}, "not an escaped path"},
		{Lookup{URL: "/pay#x"}, "not an escaped path"},
		{Lookup{URL: "/pay/{id}"}, "Plant is not set"},
		{Lookup{URL: "/pay", Reference: "id"}, "Reference"},
		{Lookup{URL: "/pay", Settle: -1}, "Settle"},
		{Lookup{URL: "/pay/{path.0}"}, "{path.0}"},
		{Lookup{URL: "/pay", State: "/s"}, "State and Lookups[0].Is go together"},
		{Lookup{URL: "/pay", State: "/s", Is: []string{"a", "a*b"}}, "has a * inside"},
		{Lookup{URL: "/pay/{key}?a={/b/0}&c={since}"}, ""},
		{Lookup{URL: "/pay", State: "/s", Is: []string{""}}, "is empty"},
		{Lookup{URL: "/pay", Is: []string{"a"}}, "State and Lookups[0].Is go together"},
	} {
		c := Contract{Match: Match{Hosts: []string{"*"}}, Carrier: key, Window: Window{Kind: WindowForever}, Lookups: []Lookup{tt.lookup}}
		_, err := newContractSet([]Contract{c})
		if tt.want == "" {
			assert.NoError(t, err, tt.lookup.URL)
			continue
		}
		if assert.Error(t, err, tt.lookup.URL) {
			assert.Contains(t, err.Error(), tt.want, tt.lookup.URL)
		}
	}
}

// FuzzLookupAnswer: whatever a server says, proof of absence is an empty answer
// of the kind that was asked for, and an effect has its name.
func FuzzLookupAnswer(f *testing.F) {
	f.Add(404, []byte(`{"error":"not_found"}`), "", true)
	f.Add(200, []byte(`{"data":[{"id":"a","meta":{"key":"k-1"}}],"has_more":false}`), "/data", true)
	f.Add(200, []byte(`[ {"id":1} , 2 ]`), "/*", false)
	f.Fuzz(func(t *testing.T, status int, body []byte, items string, proof bool) {
		if pointerProblem(items) != "" {
			t.Skip()
		}
		r, _ := lookedUp()
		l := Lookup{URL: "/pay", Items: items, Reference: "/id", Proof: proof}
		seen := facts{status: status, body: body}
		got, why := l.find(seen, &Contract{}, r, stepStart)
		again, _ := l.find(seen, &Contract{}, r, stepStart)
		require.Equal(t, got, again)
		require.Equal(t, got.Kind == CannotTell, why != "")
		switch got.Kind {
		case Found:
			require.Equal(t, 2, status/100)
			require.NotEmpty(t, got.Reference)
		case NotFound:
			require.True(t, proof)
			require.True(t, status/100 == 2 && items != "" || status == 404 && items == "")
		default:
			require.Equal(t, Finding{}, got)
		}
	})
}

// The draft may be begun once more, under another record.
func TestPlantingLeavesTheDraftAsItIs(t *testing.T) {
	t.Parallel()
	d := draft{begun: begun{Header: http.Header{}}, body: []byte(`{}`)}
	for range 2 {
		r := record{ID: uuid.MustParse(plantedID), Begun: d.begun}
		body := r.plant(Plant{Kind: CarrierHeader, Name: "X-Ref"}, ticket{}.findable(r), d.body, 100)
		require.Equal(t, plantedID, r.Begun.PlantedID)
		require.Equal(t, plantedID, r.Begun.Header.Get("X-Ref"))
		require.Equal(t, d.body, body)
		require.Empty(t, d.begun.Header)
	}
}
