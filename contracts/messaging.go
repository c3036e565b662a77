package contracts

import "github.com/oncehttp/oncehttp"

func messaging() []oncehttp.Contract {
	return []oncehttp.Contract{
		TwilioPayments, TwilioUserDefinedMessages, TwilioMessages,
		SendGridMail, PostmarkEmail, PostmarkBatch, MailgunMessages,
		ResendEmails, SlackPostMessage, CourierV1, CourierSend, KnockTrigger, CustomerIOSend, TelnyxV2,
	}
}

// twilioHosts are Twilio's own and those by edge and region.
func twilioHosts() []string { return []string{"api.twilio.com", "api.*.*.twilio.com"} }

// TwilioPayments takes a payment in a call, and goes on with it. The form's field
// is required. What a repeat is answered is not written down.
var TwilioPayments = oncehttp.Contract{
	Name: "twilio-payments",
	Match: oncehttp.Match{
		Hosts: twilioHosts(),
		Paths: []string{
			"/2010-04-01/Accounts/*/Calls/*/Payments.json",
			"/2010-04-01/Accounts/*/Calls/*/Payments/*",
		},
		Exact:   true,
		Methods: []string{"POST"},
	},
	Carrier: formField("IdempotencyKey"),
	Key:     oncehttp.KeyRule{Need: oncehttp.NeedAll},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"github.com/twilio/twilio-oai@d50069b44e:spec/json/twilio_api_v2010.json"},
}

// TwilioUserDefinedMessages sends a message into a call, or subscribes to a call's
// messages. The field is optional.
var TwilioUserDefinedMessages = oncehttp.Contract{
	Name: "twilio-user-defined-messages",
	Match: oncehttp.Match{
		Hosts: twilioHosts(),
		Paths: []string{
			"/2010-04-01/Accounts/*/Calls/*/UserDefinedMessages.json",
			"/2010-04-01/Accounts/*/Calls/*/UserDefinedMessageSubscriptions.json",
		},
		Exact:   true,
		Methods: []string{"POST"},
	},
	Carrier: formField("IdempotencyKey"),
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"github.com/twilio/twilio-oai@d50069b44e:spec/json/twilio_api_v2010.json"},
}

// TwilioMessages sends a message or starts a call. Twilio takes no key for
// either: the header I-Twilio-Idempotency-Token, which code in public sends here,
// is one that Twilio's webhooks carry, and protects nothing. In JSON a message, a call
// and an error all have a status; in XML the header alone marks an answer.
var TwilioMessages = oncehttp.Contract{
	Name: "twilio-messages",
	Match: oncehttp.Match{
		Hosts: twilioHosts(),
		Paths: []string{
			"/2010-04-01/Accounts/*/Messages.json", "/2010-04-01/Accounts/*/Messages",
			"/2010-04-01/Accounts/*/Calls.json", "/2010-04-01/Accounts/*/Calls",
		},
		Exact:   true,
		Methods: []string{"POST"},
	},
	Origin: oncehttp.Marker{Headers: []string{"Twilio-Request-Id"}, At: []string{"/status"}},
	Proof:  oncehttp.ProofVendor,
	AsOf:   "2026-11-30",
	Sources: []string{
		"github.com/twilio/twilio-oai@d50069b44e:spec/json/twilio_api_v2010.json",
		"https://www.twilio.com/docs/usage/twilios-response.md",
		"https://github.com/twilio/twilio-ruby/issues/214",
		"github.com/segmentio/action-destinations@44af18197f:packages/destination-actions/src/destinations/engage/twilio/utils/phone-message.ts",
	},
}

// SendGridMail sends e-mail. The published description of the API has no key. What was
// sent can be asked for by a custom argument, in accounts that have paid for more
// history of their e-mail; in others the look-up is refused, which tells nothing. One
// message is asked for, since each recipient has one.
var SendGridMail = oncehttp.Contract{
	Name: "sendgrid-mail",
	Match: oncehttp.Match{
		Hosts: []string{"api.sendgrid.com", "api.eu.sendgrid.com"}, Path: "/v3/mail/send", Exact: true,
		Methods: []string{"POST"},
	},
	Lookups: []oncehttp.Lookup{{
		URL:   "/v3/messages?limit=1&query=%28unique_args%5B%27oncehttp%27%5D%3D%22{id}%22%29",
		Items: "/messages", Reference: "/msg_id",
	}},
	Plant: oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/custom_args/oncehttp"},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-11-30",
	Sources: []string{
		"github.com/twilio/sendgrid-oai@dbe0e0d2e6",
		"https://www.twilio.com/docs/sendgrid/api-reference/email-activity/filter-all-messages.md",
		"https://www.twilio.com/docs/sendgrid/for-developers/sending-email/getting-started-email-activity-api",
		"https://www.twilio.com/docs/sendgrid/for-developers/sending-email/unique-arguments",
	},
}

// PostmarkEmail sends one e-mail. Postmark says that it takes no key. It keeps
// metadata that recipients do not see and that sent messages can be searched by;
// a message that the search does not show yet may still have been sent.
var PostmarkEmail = oncehttp.Contract{
	Name: "postmark-email",
	Match: oncehttp.Match{
		Hosts: []string{"api.postmarkapp.com"}, Paths: []string{"/email", "/email/withTemplate"}, Exact: true,
		Methods: []string{"POST"},
	},
	Lookups: []oncehttp.Lookup{{
		URL:   "/messages/outbound?count=2&offset=0&metadata_oncehttp={id}",
		Items: "/Messages", Where: "/Metadata/oncehttp", Reference: "/MessageID",
	}},
	Plant: oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/Metadata/oncehttp"},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-10-06",
	Sources: []string{
		"https://postmarkapp.com/support/article/what-is-an-idempotency-key",
		"https://postmarkapp.com/support/article/1125-custom-metadata-faq",
		"https://postmarkapp.com/developer/api/messages-api",
	},
}

// PostmarkBatch sends many e-mails in one request, and takes no key either. It
// succeeds though an e-mail in it was refused, which its own ErrorCode tells.
var PostmarkBatch = oncehttp.Contract{
	Name: "postmark-batch",
	Match: oncehttp.Match{
		Hosts: []string{"api.postmarkapp.com"}, Paths: []string{"/email/batch", "/email/batchWithTemplates"}, Exact: true,
		Methods: []string{"POST"},
	},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"https://postmarkapp.com/support/article/what-is-an-idempotency-key"},
}

// MailgunMessages sends e-mail. Its client knows of no key, which does not prove that
// there is none.
var MailgunMessages = oncehttp.Contract{
	Name: "mailgun-messages",
	Match: oncehttp.Match{
		Hosts: []string{"api.mailgun.net", "api.eu.mailgun.net"},
		Paths: []string{"/v3/*/messages", "/v3/*/messages.mime"}, Exact: true,
		Methods: []string{"POST"},
	},
	Proof:   oncehttp.ProofUnknown,
	AsOf:    "2026-11-30",
	Sources: []string{"github.com/mailgun/mailgun-go@00283451f9:messages.go"},
}

// ResendEmails sends one e-mail, or many. A 409 means that the first request still
// runs or that it was another one: the name in the body tells which.
var ResendEmails = oncehttp.Contract{
	Name: "resend-emails",
	Match: oncehttp.Match{
		Hosts: []string{"api.resend.com"}, Paths: []string{"/emails", "/emails/batch"}, Exact: true,
		Methods: []string{"POST"},
	},
	Carrier:  header("Idempotency-Key"),
	Key:      oncehttp.KeyRule{Min: 1, Max: 256},
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Length: day, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryExecutes},
	Answers: []oncehttp.Answer{
		{
			Status: []int{409}, At: []string{"/name"}, Codes: []string{"concurrent_idempotent_requests"},
			Verdict: oncehttp.VerdictInProgress,
		},
		{
			Status: []int{409}, At: []string{"/name"}, Codes: []string{"invalid_idempotent_request"},
			Verdict: oncehttp.VerdictMismatch,
		},
	},
	Pin:   oncehttp.PinMethod | oncehttp.PinPath,
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-10-06",
	Sources: []string{
		"https://resend.com/docs/dashboard/emails/idempotency-keys",
		"https://resend.com/docs/api-reference/errors",
		"github.com/resend/resend-openapi@fd6f395f21:resend.json",
	},
}

// SlackPostMessage posts a message. No request key is documented; client_msg_id,
// which messages have, is none. Slack tells its errors in a 200 with ok false, and
// says of two of them that part of the work may have been done. Every answer says
// whether it is ok, but that of a rate limit need not.
var SlackPostMessage = oncehttp.Contract{
	Name: "slack-post-message",
	Match: oncehttp.Match{
		Hosts: []string{"slack.com"}, Path: "/api/chat.postMessage", Exact: true, Methods: []string{"POST"},
	},
	Answers: []oncehttp.Answer{
		{
			Status: []int{200}, At: []string{"/error"}, Codes: []string{"fatal_error", "internal_error"},
			Verdict: oncehttp.VerdictUnknown,
		},
		{
			Status: []int{200}, At: []string{"/error"}, Codes: []string{"ratelimited", "rate_limited"},
			Verdict: oncehttp.VerdictThrottled,
		},
		{Status: []int{200}, At: []string{"/ok"}, Codes: []string{"false"}, Verdict: oncehttp.VerdictRefused},
	},
	Origin: oncehttp.Marker{At: []string{"/ok"}, Status: []int{429}},
	Proof:  oncehttp.ProofUnknown,
	AsOf:   "2026-11-30",
	Sources: []string{
		"github.com/slackapi/slack-api-specs@bc08db4962:web-api/slack_web_openapi_v2.json",
		"https://github.com/slackhq/slack-api-docs/blob/master/index_web.md",
	},
}

// CourierV1 is every POST of Courier. The caller chooses how long a key is kept,
// between a day and a year, by a second header, here three days. Failures are kept
// under the key, a 500 too, but not what was refused before it was begun.
var CourierV1 = oncehttp.Contract{
	Name:    "courier-v1",
	Match:   oncehttp.Match{Hosts: []string{"api.courier.com"}, Methods: []string{"POST"}},
	Carrier: header("Idempotency-Key"),
	Companions: []oncehttp.Companion{{
		Kind: oncehttp.CarrierHeader, Name: "X-Idempotency-Expiration", Value: oncehttp.CompanionUntil,
	}},
	Window: oncehttp.Window{Length: 3 * day, After: oncehttp.ExpiryExecutes},
	Stored: oncehttp.Stored{Failures: oncehttp.KeepingYes},
	Hints:  retryHints(),
	Proof:  oncehttp.ProofVendor,
	AsOf:   "2026-10-06",
	Sources: []string{
		"https://www.courier.com/docs/reference/idempotent-requests",
		"github.com/trycourier/courier-go@016a9cd355:send.go",
	},
}

// CourierSend sends a message. A trace id of the caller's, of which Courier does not
// care whether it is the only one, finds what was made of the request: a message for
// each recipient.
var CourierSend = func() oncehttp.Contract {
	c := CourierV1
	c.Name = "courier-send"
	c.Match.Path, c.Match.Exact = "/send", true
	c.Lookups = []oncehttp.Lookup{{URL: "/messages?traceId={id}", Reference: "/results/0/id"}}
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/message/metadata/trace_id"}
	c.AsOf = "2026-11-30"
	c.Sources = append(c.Sources[:len(c.Sources):len(c.Sources)], "github.com/trycourier/courier-go@0d56f44996:message.go")
	return c
}()

// KnockTrigger triggers a workflow, the one endpoint where Knock looks at the
// header; its own client sends it with every POST and PUT all the same. The day
// that keys are kept can be changed for an account: use a copy with your own
// Window if it was. A failure is kept, a refusal is not. Messages can be listed by
// the data of what triggered them; one is asked for, since each recipient and
// channel has one.
var KnockTrigger = oncehttp.Contract{
	Name: "knock-trigger",
	Match: oncehttp.Match{
		Hosts: []string{"api.knock.app"}, Path: "/v1/workflows/*/trigger", Exact: true, Methods: []string{"POST"},
	},
	Carrier:  header("Idempotency-Key"),
	Key:      oncehttp.KeyRule{Max: 255},
	Compared: oncehttp.Compared{Parts: oncehttp.PartQuery | oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Length: day, Kind: oncehttp.WindowAccount, After: oncehttp.ExpiryExecutes},
	Origin:   oncehttp.Marker{Headers: []string{"X-Request-Id"}},
	Replay:   marked("Idempotent-Replayed", "true"),
	Answers: []oncehttp.Answer{{
		Status: []int{400}, At: []string{"/error"},
		Codes:   []string{"This request does not match the first request used with this idempotency key*"},
		Verdict: oncehttp.VerdictMismatch,
	}},
	Stored: oncehttp.Stored{Failures: oncehttp.KeepingYes},
	Hints:  retryHints(),
	Lookups: []oncehttp.Lookup{{
		URL:   "/v1/messages?page_size=1&trigger_data=%7B%22oncehttp%22%3A%22{id}%22%7D",
		Items: "/items", Where: "/data/oncehttp", Reference: "/id",
	}},
	Plant: oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/data/oncehttp"},
	Pin:   oncehttp.PinMethod | oncehttp.PinPath,
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-11-30",
	Sources: []string{
		"https://docs.knock.app/api-reference/overview/idempotent-requests.md",
		"github.com/knocklabs/docs@bb6e66b6e0:content/__api-reference/content.mdx",
		"github.com/knocklabs/one_and_done@011f59062a:lib/plug.ex",
		"github.com/knocklabs/one_and_done@f6fc091ded:CHANGELOG.md",
		"github.com/knocklabs/knock-node@0a0269a24c:src/knock.ts",
		"github.com/knocklabs/knock-go@0c3c9cdd19:knock/messages.go",
		"https://docs.knock.app/developer-tools/api-logs",
	},
}

// CustomerIOSend sends a transactional message. No key was found in the client or
// in any description of the API.
var CustomerIOSend = oncehttp.Contract{
	Name: "customerio-send",
	Match: oncehttp.Match{
		Hosts: []string{"api.customer.io", "api-eu.customer.io"}, Path: "/v1/send", Methods: []string{"POST"},
	},
	Proof: oncehttp.ProofSecondary,
	AsOf:  "2026-10-06",
	Sources: []string{
		"github.com/customerio/go-customerio@6eea3db9ff:send_email.go",
		"github.com/api-evangelist/customer-io@b501ffbfe7:conventions/customer-io-conventions.yml",
	},
}

// TelnyxV2 is the general rule of Telnyx's API v2. It names no host: only endpoints
// whose reference says so take the header, some under other rules, so use [On] and
// set Path to yours. Answers are kept for up to a day, which promises no length.
// Bodies are compared byte for byte.
var TelnyxV2 = oncehttp.Contract{
	Name:    "telnyx-v2",
	Match:   oncehttp.Match{Path: "/v2", Methods: []string{"POST", "PATCH"}},
	Carrier: header("Idempotency-Key"),
	Key:     oncehttp.KeyRule{Min: 1, Max: 255, Alphabet: azAZ09 + "_:-", Need: oncehttp.NeedSome},
	Compared: oncehttp.Compared{
		Parts: oncehttp.PartQuery | oncehttp.PartBytes, Mismatch: oncehttp.MismatchRejects,
	},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown, After: oncehttp.ExpiryExecutes},
	Answers: []oncehttp.Answer{{Status: []int{422}, Verdict: oncehttp.VerdictMismatch}},
	Stored:  oncehttp.Stored{Failures: oncehttp.KeepingNo},
	Pin:     oncehttp.PinMethod | oncehttp.PinPath,
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: []string{"https://developers.telnyx.com/docs/development/api-fundamentals/idempotency"},
}
