package kill

// A Point is a place at which a process can be stopped.
type Point string

// Points of the client, in the order of a life. A journal write is between the
// two points around it: between them the client does nothing that can be seen
// from outside but the write itself, whose system calls are points of their own.
const (
	OpenCalled   Point = "open: called"
	OpenReturned Point = "open: returned"

	RestoreCopied   Point = "restore: a copy lies beside the journal"
	RestoreReplaced Point = "restore: the copy has taken its place"

	KeyMade     Point = "create: called, the key is made"
	Created     Point = "create: durable"
	Authorizing Point = "start: to be saved, credentials are asked for"
	Started     Point = "start: durable"

	SendCalled    Point = "send: called"
	GetConn       Point = "send: a connection is asked for"
	GotConn       Point = "send: a connection is got"
	WroteField    Point = "send: a header field is written"
	WroteHeaders  Point = "send: the headers are written"
	BodyRead      Point = "send: the request's body is read"
	WroteRequest  Point = "send: the request is written"
	GotEarlyHints Point = "send: a 1xx is got"
	FirstByte     Point = "send: the first byte of the answer is got"
	SendFailed    Point = "send: failed"
	AnswerHeader  Point = "answer: its header is read"
	AnswerPart    Point = "answer: a part of its body is read"
	AnswerCut     Point = "answer: its body is found cut"
	AnswerEnd     Point = "answer: its body is read to the end"
	Answered      Point = "record: called, the answer is judged"
	Waiting       Point = "record: durable, the action waits"
	Unsettled     Point = "record: durable, the action stays pending"
	Settled       Point = "record: durable, the action is settled"

	LookupCalled Point = "lookup: called"
	LookedUp     Point = "lookup: answered, its record called"

	BeginReturned   Point = "begin: returned"
	DoReturned      Point = "do: returned, nobody is told"
	DoTold          Point = "do: told"
	TripReturned    Point = "round trip: returned, nobody is told"
	ResumeOutcome   Point = "resume: an outcome, nobody is told"
	ResumeOver      Point = "resume: over"
	ResolveCalled   Point = "resolve: called"
	ResolveDurable  Point = "resolve: durable"
	ResolveReturned Point = "resolve: returned"
	PruneCalled     Point = "prune: called"
	PruneReturned   Point = "prune: returned"
	CompactCalled   Point = "compact: called"
	CompactReturned Point = "compact: returned"

	ShutdownCalled   Point = "shutdown: called"
	ShutdownWaits    Point = "shutdown: an attempt is under way"
	ShutdownReturned Point = "shutdown: returned"
	CloseCalled      Point = "close: called"
	CloseCutsOff     Point = "close: an attempt is cut off"
	CloseReturned    Point = "close: returned"
)

// Points of the server.
const (
	ServerReceived Point = "server: a request is received"
	ServerExecutes Point = "server: to take effect"
	ServerStored   Point = "server: effect, key and answer are stored"
	ServerHeader   Point = "server: the answer's header is sent"
	ServerHalf     Point = "server: half of the answer is sent"
	ServerAnswered Point = "server: the answer is sent"
)

// ClientPoints and ServerPoints are all of them.
var (
	ClientPoints = []Point{
		OpenCalled, OpenReturned, RestoreCopied, RestoreReplaced,
		KeyMade, Created, Authorizing, Started,
		SendCalled, GetConn, GotConn, WroteField, WroteHeaders, BodyRead, WroteRequest, GotEarlyHints, FirstByte, SendFailed,
		AnswerHeader, AnswerPart, AnswerCut, AnswerEnd, Answered, Waiting, Unsettled, Settled,
		LookupCalled, LookedUp, BeginReturned, DoReturned, DoTold, TripReturned,
		ResumeOutcome, ResumeOver, ResolveCalled, ResolveDurable, ResolveReturned,
		PruneCalled, PruneReturned, CompactCalled, CompactReturned,
		ShutdownCalled, ShutdownWaits, ShutdownReturned, CloseCalled, CloseCutsOff, CloseReturned,
	}
	ServerPoints = []Point{ServerReceived, ServerExecutes, ServerStored, ServerHeader, ServerHalf, ServerAnswered}
)

// Changing are the system calls by which a process can change a journal, or
// who may. Each call of one of them that touches the journal's directory is a
// point: the process is killed in its place.
var Changing = []string{
	"openat", "write", "pwrite64", "fdatasync", "fsync", "ftruncate", "fallocate",
	"linkat", "renameat", "unlinkat", "flock", "fchmod", "fchown", "mmap", "close",
}

// Reading are those that leave a journal as it is: to be killed in their place
// is to be killed in the place of the next one that changes something.
var Reading = []string{
	"read", "pread64", "fstat", "newfstatat", "statx", "statfs", "lseek", "getdents64", "fcntl", "readlinkat", "epoll_ctl",
	"access", "faccessat2", "faccessat",
}
