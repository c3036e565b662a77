package contracts

import (
	"slices"
	"time"

	"github.com/oncehttp/oncehttp"
)

func aws() []oncehttp.Contract {
	return []oncehttp.Contract{
		AWSEC2,
		AWSDynamoDBTransactWriteItems, AWSDynamoDBExecuteTransaction,
		AWSDynamoDBImportTable, AWSDynamoDBExportTable,
		AWSSQSFIFO, AWSSNSFIFO,
		AWSECSRunTask, AWSStepFunctions, AWSLambdaDurable,
		AWSSecretsManagerCreate, AWSSecretsManagerPut, AWSSecretsManagerUpdate, AWSSecretsManagerRotate,
		AWSACM, AWSEFS, AWSRoute53, AWSCloudFormation,
	}
}

const (
	amzTarget = "X-Amz-Target"
	azAZ09    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
)

// awsHosts are a service's hosts in every Region: plain, FIPS, dual-stack, and
// in China.
func awsHosts(service string) []string {
	return []string{
		service + ".*.amazonaws.com", service + "-fips.*.amazonaws.com",
		service + ".*.api.aws", service + ".*.amazonaws.com.cn",
	}
}

// awsOrigin is the id that AWS gives every answer, in a header under one of three
// names, which its SDKs read. The errors of some services were seen with the id in
// their XML alone: at is where it stands there.
func awsOrigin(at ...string) oncehttp.Marker {
	return oncehttp.Marker{Headers: []string{"X-Amzn-Requestid", "X-Amz-Requestid", "X-Amz-Request-Id"}, At: at}
}

func awsHints() oncehttp.Hints {
	return oncehttp.Hints{Headers: []oncehttp.Hint{{Header: "X-Amz-Retry-After", Kind: oncehttp.HintMillis}}}
}

// awsThrottled knows the codes of a request that was turned away before it was
// looked at, which AWS tells with a 400 or a 503; at is where the code stands.
func awsThrottled(at string) oncehttp.Answer {
	return oncehttp.Answer{
		Status:  []int{400, 503},
		At:      []string{at},
		Codes:   []string{"*throttl*", "*RequestLimitExceeded*", "*ProvisionedThroughputExceeded*"},
		Verdict: oncehttp.VerdictThrottled,
	}
}

// awsTarget is the contract for another operation of the same service.
func awsTarget(c oncehttp.Contract, name, target string) oncehttp.Contract {
	c.Name, c.Match.HeaderValue = name, target
	return c
}

// AWSDynamoDBTransactWriteItems is the all-or-nothing write of DynamoDB. Keys
// are forgotten ten minutes after the first request ends, which an ordinary
// outage outlasts. The answer to a repeat tells other capacity figures than the
// first.
var AWSDynamoDBTransactWriteItems = oncehttp.Contract{
	Name: "aws-dynamodb-transact-write-items",
	Match: oncehttp.Match{
		Hosts:   slices.Concat(awsHosts("dynamodb"), []string{"*.ddb.*.amazonaws.com", "*.ddb.*.api.aws"}),
		Methods: []string{"POST"},
		Header:  amzTarget, HeaderValue: "DynamoDB_20120810.TransactWriteItems",
	},
	Carrier:  jsonField("/ClientRequestToken"),
	Key:      oncehttp.KeyRule{Min: 1, Max: 36},
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window: oncehttp.Window{
		Length: 10 * minute, Kind: oncehttp.WindowExact, Anchor: oncehttp.AnchorDone, After: oncehttp.ExpiryExecutes,
	},
	Origin: awsOrigin(),
	Answers: []oncehttp.Answer{
		awsThrottled("/__type"),
		{Status: []int{400}, At: []string{"/__type"}, Codes: []string{"*TransactionInProgressException"}, Verdict: oncehttp.VerdictInProgress},
		{Status: []int{400}, At: []string{"/__type"}, Codes: []string{"*IdempotentParameterMismatchException"}, Verdict: oncehttp.VerdictMismatch},
	},
	Stored: oncehttp.Stored{Repeat: oncehttp.RepeatCurrent},
	Hints: oncehttp.Hints{
		Headers: awsHints().Headers,
		Least:   5 * time.Second,
	},
	Pin:     oncehttp.PinHost,
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"github.com/boto/botocore@0e6e2404b8:botocore/data/dynamodb/2012-08-10/service-2.json"},
}

// AWSDynamoDBExecuteTransaction is the same in PartiQL.
var AWSDynamoDBExecuteTransaction = awsTarget(AWSDynamoDBTransactWriteItems,
	"aws-dynamodb-execute-transaction", "DynamoDB_20120810.ExecuteTransaction")

// AWSDynamoDBImportTable makes a table of what stands in S3. Its field and its
// window, which ends eight hours after the first request does, are not those of a
// transaction.
var AWSDynamoDBImportTable = oncehttp.Contract{
	Name: "aws-dynamodb-import-table",
	Match: oncehttp.Match{
		Hosts:   slices.Concat(awsHosts("dynamodb"), []string{"*.ddb.*.amazonaws.com", "*.ddb.*.api.aws"}),
		Methods: []string{"POST"},
		Header:  amzTarget, HeaderValue: "DynamoDB_20120810.ImportTable",
	},
	Carrier:  jsonField("/ClientToken"),
	Key:      oncehttp.KeyRule{Alphabet: azAZ09 + "!#%&'()*+-./:;<=>?@[]^_`{|}~"},
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window: oncehttp.Window{
		Length: 8 * hour, Kind: oncehttp.WindowExact, Anchor: oncehttp.AnchorDone, After: oncehttp.ExpiryExecutes,
	},
	Origin: awsOrigin(),
	Answers: []oncehttp.Answer{
		awsThrottled("/__type"),
		{
			Status:  []int{400},
			At:      []string{"/__type"},
			Codes:   []string{"*IdempotentParameterMismatch*", "*ImportConflictException", "*ExportConflictException"},
			Verdict: oncehttp.VerdictMismatch,
		},
	},
	Hints:   awsHints(),
	Pin:     oncehttp.PinHost,
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"github.com/boto/botocore@0e6e2404b8:botocore/data/dynamodb/2012-08-10/service-2.json"},
}

// AWSDynamoDBExportTable writes a table to S3, under the same terms.
var AWSDynamoDBExportTable = awsTarget(AWSDynamoDBImportTable,
	"aws-dynamodb-export-table", "DynamoDB_20120810.ExportTableToPointInTime")

// AWSSQSFIFO sends one message to a FIFO queue, in the JSON protocol. It names no
// host: which queue a message is for stands in the body, and a queue that is not
// FIFO refuses the field, so use [On] in a client that sends to FIFO queues only.
// A repeat inside five minutes is told as a success and not delivered, whatever
// it holds; a later one is delivered again.
var AWSSQSFIFO = oncehttp.Contract{
	Name:     "aws-sqs-fifo",
	Match:    oncehttp.Match{Methods: []string{"POST"}, Header: amzTarget, HeaderValue: "AmazonSQS.SendMessage"},
	Carrier:  jsonField("/MessageDeduplicationId"),
	Key:      oncehttp.KeyRule{Max: 128, Need: oncehttp.NeedSome},
	Compared: oncehttp.Compared{Mismatch: oncehttp.MismatchDrops},
	Window:   oncehttp.Window{Length: 5 * minute, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryExecutes},
	Origin:   awsOrigin(),
	Answers:  []oncehttp.Answer{awsThrottled("/__type")},
	Stored:   oncehttp.Stored{Repeat: oncehttp.RepeatEmpty},
	Hints:    awsHints(),
	Pin:      oncehttp.PinHost,
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-10-06",
	Sources:  []string{"github.com/boto/botocore@0e6e2404b8:botocore/data/sqs/2012-11-05/service-2.json"},
}

// AWSSNSFIFO publishes to a FIFO topic. It names no host, for the same reason as
// [AWSSQSFIFO], and a repeat is dropped as silently.
var AWSSNSFIFO = oncehttp.Contract{
	Name: "aws-sns-fifo",
	Match: oncehttp.Match{
		Methods:   []string{"POST"},
		Operation: oncehttp.Operation{Kind: oncehttp.OperationForm, At: "Action", Names: []string{"Publish"}},
	},
	Carrier:  formField("MessageDeduplicationId"),
	Key:      oncehttp.KeyRule{Max: 128, Need: oncehttp.NeedSome},
	Compared: oncehttp.Compared{Mismatch: oncehttp.MismatchDrops},
	Window:   oncehttp.Window{Length: 5 * minute, After: oncehttp.ExpiryExecutes},
	Origin:   awsOrigin("/ErrorResponse/RequestId"),
	Answers:  []oncehttp.Answer{awsThrottled("/ErrorResponse/Error/Code")},
	Stored:   oncehttp.Stored{Repeat: oncehttp.RepeatEmpty},
	Hints:    awsHints(),
	Pin:      oncehttp.PinHost,
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-10-06",
	Sources:  []string{"github.com/boto/botocore@0e6e2404b8:botocore/data/sns/2010-03-31/service-2.json"},
}

// AWSECSRunTask starts tasks. A token lives for 24 hours or, if that is less, for
// the life of its tasks and an hour more, so that the hour is all one can build
// on. It is known in one cluster.
var AWSECSRunTask = oncehttp.Contract{
	Name: "aws-ecs-run-task",
	Match: oncehttp.Match{
		Hosts: awsHosts("ecs"), Methods: []string{"POST"},
		Header: amzTarget, HeaderValue: "AmazonEC2ContainerServiceV20141113.RunTask",
	},
	Carrier:  jsonField("/clientToken"),
	Key:      oncehttp.KeyRule{Max: 64},
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Length: hour},
	Origin:   awsOrigin(),
	Answers: []oncehttp.Answer{
		awsThrottled("/__type"),
		{Status: []int{400}, At: []string{"/__type"}, Codes: []string{"*ConflictException"}, Verdict: oncehttp.VerdictMismatch},
	},
	Hints: awsHints(),
	Pin:   oncehttp.PinHost,
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-10-06",
	Sources: []string{
		"https://docs.aws.amazon.com/AmazonECS/latest/APIReference/ECS_Idempotency.html",
		"github.com/boto/botocore@0e6e2404b8:botocore/data/ecs/2014-11-13/service-2.json",
	},
}

// AWSStepFunctions starts an execution whose name is the key. It names no host:
// only Standard workflows know a name again, and the request does not tell which
// kind it starts, so use [On] in a client that starts Standard ones only. While
// the execution runs a repeat succeeds; once it has ended the same repeat is
// refused as a name with another input is, so that it is left Pending.
var AWSStepFunctions = oncehttp.Contract{
	Name:     "aws-step-functions",
	Match:    oncehttp.Match{Methods: []string{"POST"}, Header: amzTarget, HeaderValue: "AWSStepFunctions.StartExecution"},
	Carrier:  jsonField("/name"),
	Key:      oncehttp.KeyRule{Min: 1, Max: 80, Alphabet: azAZ09 + "!'()+-.=@_"},
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Length: 90 * day},
	Origin:   awsOrigin(),
	Answers: []oncehttp.Answer{
		awsThrottled("/__type"),
		{Status: []int{400}, At: []string{"/__type"}, Codes: []string{"*ExecutionAlreadyExists"}, Verdict: oncehttp.VerdictMismatch},
	},
	Hints:   awsHints(),
	Pin:     oncehttp.PinHost,
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"github.com/boto/botocore@0e6e2404b8:botocore/data/stepfunctions/2016-11-23/service-2.json"},
}

// AWSLambdaDurable invokes a durable function. It applies only where the caller
// has named the execution in the header: no other function knows the name. The
// executions of a version or an alias can be asked for a name, which takes a
// permission of its own (lambda:ListDurableExecutionsByFunction).
var AWSLambdaDurable = oncehttp.Contract{
	Name: "aws-lambda-durable",
	Match: oncehttp.Match{
		Hosts: awsHosts("lambda"), Path: "/2015-03-31/functions/*/invocations", Exact: true, Methods: []string{"POST"},
		Header: "X-Amz-Durable-Execution-Name",
	},
	Carrier:  header("X-Amz-Durable-Execution-Name"),
	Key:      oncehttp.KeyRule{Min: 1, Max: 64, Alphabet: azAZ09 + "-_"},
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Origin:   awsOrigin(),
	Answers: []oncehttp.Answer{{
		Status: []int{409}, Header: "X-Amzn-Errortype", HeaderValue: "DurableExecutionAlreadyStartedException",
		Verdict: oncehttp.VerdictMismatch,
	}},
	Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatCurrent},
	Hints:   awsHints(),
	Lookups: []oncehttp.Lookup{awsExecution("&Qualifier={query.Qualifier}"), awsExecution("")},
	Pin:     oncehttp.PinHost | oncehttp.PinPath,
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-11-30",
	Sources: []string{
		"github.com/boto/botocore@0e6e2404b8:botocore/data/lambda/2015-03-31/service-2.json",
		"https://docs.amazonaws.cn/lambda/latest/api/API_ListDurableExecutionsByFunction.html",
		"https://docs.aws.amazon.com/cli/latest/reference/lambda/list-durable-executions-by-function.md",
	},
}

// awsExecution looks for a durable execution by its name; of tells of which version
// or alias, and nothing means $LATEST.
func awsExecution(of string) oncehttp.Lookup {
	return oncehttp.Lookup{
		URL:       "/2025-12-01/functions/{path.3}/durable-executions?DurableExecutionName={key}" + of,
		Items:     "/DurableExecutions",
		Where:     "/DurableExecutionName",
		Reference: "/DurableExecutionArn",
	}
}

// AWSSecretsManagerCreate makes a secret, or a version of one: the token becomes
// the version's id. A repeat with the same value is ignored; one with another
// value is refused, since a version never changes.
var AWSSecretsManagerCreate = oncehttp.Contract{
	Name: "aws-secretsmanager-create-secret",
	Match: oncehttp.Match{
		Hosts: awsHosts("secretsmanager"), Methods: []string{"POST"},
		Header: amzTarget, HeaderValue: "secretsmanager.CreateSecret",
	},
	Carrier:  jsonField("/ClientRequestToken"),
	Key:      oncehttp.KeyRule{Min: 32, Max: 64},
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Origin:   awsOrigin(),
	Answers:  []oncehttp.Answer{awsThrottled("/__type")},
	Stored:   oncehttp.Stored{Repeat: oncehttp.RepeatCurrent},
	Hints:    awsHints(),
	Pin:      oncehttp.PinHost,
	Proof:    oncehttp.ProofVendor,
	AsOf:     "2026-10-06",
	Sources:  []string{"github.com/boto/botocore@0e6e2404b8:botocore/data/secretsmanager/2017-10-17/service-2.json"},
}

// AWSSecretsManagerPut adds a version, under the same terms.
var AWSSecretsManagerPut = awsTarget(AWSSecretsManagerCreate,
	"aws-secretsmanager-put-secret-value", "secretsmanager.PutSecretValue")

// AWSSecretsManagerUpdate changes a secret, under the same terms.
var AWSSecretsManagerUpdate = awsTarget(AWSSecretsManagerCreate,
	"aws-secretsmanager-update-secret", "secretsmanager.UpdateSecret")

// AWSSecretsManagerRotate begins a rotation, under the same terms.
var AWSSecretsManagerRotate = awsTarget(AWSSecretsManagerCreate,
	"aws-secretsmanager-rotate-secret", "secretsmanager.RotateSecret")

// AWSACM asks for a certificate. Tokens hold letters, digits and underscores
// only, at most 32, so that a UUID with its hyphens is refused. Whether the
// request is compared is not written down.
var AWSACM = oncehttp.Contract{
	Name: "aws-acm-request-certificate",
	Match: oncehttp.Match{
		Hosts: awsHosts("acm"), Methods: []string{"POST"},
		Header: amzTarget, HeaderValue: "CertificateManager.RequestCertificate",
	},
	Carrier: jsonField("/IdempotencyToken"),
	Key:     oncehttp.KeyRule{Min: 1, Max: 32, Alphabet: azAZ09 + "_", Form: oncehttp.FormHex},
	Window:  oncehttp.Window{Length: hour, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryExecutes},
	Origin:  awsOrigin(),
	Answers: []oncehttp.Answer{awsThrottled("/__type")},
	Hints:   awsHints(),
	Pin:     oncehttp.PinHost,
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"github.com/boto/botocore@0e6e2404b8:botocore/data/acm/2015-12-08/service-2.json"},
}

// AWSEFS creates a file system. A repeat is told as an error, 409, which names the
// file system that the first one made; the list of file systems can be asked for a
// token.
var AWSEFS = oncehttp.Contract{
	Name: "aws-efs-create-file-system",
	Match: oncehttp.Match{
		Hosts: awsHosts("elasticfilesystem"), Path: "/2015-02-01/file-systems", Exact: true, Methods: []string{"POST"},
	},
	Carrier: jsonField("/CreationToken"),
	Key:     oncehttp.KeyRule{Min: 1, Max: 64, Need: oncehttp.NeedAll},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Origin:  awsOrigin(),
	Answers: []oncehttp.Answer{{
		Status: []int{409}, At: []string{"/ErrorCode"}, Codes: []string{"FileSystemAlreadyExists"},
		Verdict: oncehttp.VerdictDone, Reference: "/FileSystemId",
	}},
	Stored: oncehttp.Stored{Repeat: oncehttp.RepeatError},
	Hints:  awsHints(),
	Lookups: []oncehttp.Lookup{{
		URL:   "/2015-02-01/file-systems?CreationToken={key}",
		Items: "/FileSystems", Where: "/CreationToken", Reference: "/FileSystemId",
		State: "/LifeCycleState", Is: []string{"available", "creating", "updating"},
	}},
	Pin:   oncehttp.PinHost,
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-11-30",
	Sources: []string{
		"github.com/boto/botocore@0e6e2404b8:botocore/data/efs/2015-02-01/service-2.json",
		"https://docs.aws.amazon.com/efs/latest/ug/file-system-state.html",
	},
}

// AWSRoute53 creates a hosted zone. A repeat is told as an error, 409, which does
// not name the zone.
var AWSRoute53 = oncehttp.Contract{
	Name: "aws-route53-create-hosted-zone",
	Match: oncehttp.Match{
		Hosts: []string{"route53.amazonaws.com", "route53.global.api.aws", "route53.amazonaws.com.cn"},
		Path:  "/2013-04-01/hostedzone", Exact: true, Methods: []string{"POST"},
	},
	Carrier: oncehttp.Carrier{Kind: oncehttp.CarrierXML, Name: "/CreateHostedZoneRequest/CallerReference"},
	Key:     oncehttp.KeyRule{Min: 1, Max: 128, Need: oncehttp.NeedAll},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Origin:  awsOrigin("/ErrorResponse/RequestId"),
	Answers: []oncehttp.Answer{
		awsThrottled("/ErrorResponse/Error/Code"),
		{
			Status: []int{409}, At: []string{"/ErrorResponse/Error/Code"}, Codes: []string{"HostedZoneAlreadyExists"},
			Verdict: oncehttp.VerdictDone,
		},
	},
	Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatError},
	Hints:   awsHints(),
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"github.com/boto/botocore@0e6e2404b8:botocore/data/route53/2013-04-01/service-2.json"},
}

// AWSCloudFormation creates a stack. Every event of the stack carries the token,
// which is where to look for what became of it.
var AWSCloudFormation = oncehttp.Contract{
	Name: "aws-cloudformation-create-stack",
	Match: oncehttp.Match{
		Hosts:     awsHosts("cloudformation"),
		Methods:   []string{"POST"},
		Operation: oncehttp.Operation{Kind: oncehttp.OperationForm, At: "Action", Names: []string{"CreateStack"}},
	},
	Carrier: formField("ClientRequestToken"),
	Key:     oncehttp.KeyRule{Min: 1, Max: 128, Alphabet: azAZ09 + "-"},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Origin:  awsOrigin("/ErrorResponse/RequestId"),
	Answers: []oncehttp.Answer{
		awsThrottled("/ErrorResponse/Error/Code"),
		{
			Status: []int{400}, At: []string{"/ErrorResponse/Error/Code"}, Codes: []string{"TokenAlreadyExistsException"},
			Verdict: oncehttp.VerdictMismatch,
		},
	},
	Hints:   awsHints(),
	Pin:     oncehttp.PinHost,
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"github.com/boto/botocore@0e6e2404b8:botocore/data/cloudformation/2010-05-15/service-2.json"},
}
