package contracts

import (
	"net/http"

	"github.com/oncehttp/oncehttp"
)

func crypto() []oncehttp.Contract {
	return []oncehttp.Contract{
		CircleMint, CircleWallets, CircleWalletTransactions,
		CoinbaseCDPV2, CoinbasePrime, CoinbasePrimeStaking, CoinbasePrimeWallets,
		CoinbaseCommerce, CoinbaseBusinessCheckouts,
	}
}

// circle is what Circle's APIs have in common: a success names its request in a
// header, and an error has a code.
func circle(name string, paths ...string) oncehttp.Contract {
	return oncehttp.Contract{
		Name: name,
		Match: oncehttp.Match{
			Hosts:   []string{"api.circle.com", "api-sandbox.circle.com"},
			Paths:   paths,
			Exact:   true,
			Methods: []string{http.MethodPost},
		},
		Carrier: jsonField("/idempotencyKey"),
		Key:     oncehttp.KeyRule{Min: 36, Max: 36, UUID: oncehttp.UUIDRandom, Need: oncehttp.NeedAll},
		Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
		Origin:  oncehttp.Marker{Headers: []string{"X-Request-Id"}, At: []string{"/code"}},
		Stored:  oncehttp.Stored{Repeat: oncehttp.RepeatCurrent},
		Proof:   oncehttp.ProofVendor,
		AsOf:    "2026-11-30",
		Sources: []string{
			"https://developers.circle.com/api-reference/idempotent-requests.md",
			"https://developers.circle.com/api-reference/errors.md",
			"https://developers.circle.com/circle-mint/api-logs",
			"https://github.com/circlefin/circle-nodejs-sdk@13be0641bb:sdk.json",
		},
	}
}

// CircleMint is what takes a key of Circle's Mint and payments API: transfers,
// payouts, payments, wallets, cards, bank accounts. Keys have to be random
// UUIDs.
var CircleMint = circle("circle-mint",
	"/v1/businessAccount/transfers", "/v1/businessAccount/payouts", "/v1/businessAccount/banks/wires",
	"/v1/businessAccount/wallets/addresses/deposit", "/v1/businessAccount/wallets/addresses/recipient",
	"/v1/payments", "/v1/payments/*/capture", "/v1/payments/*/cancel", "/v1/payments/*/refund",
	"/v1/paymentIntents", "/v1/paymentIntents/*/refund",
	"/v1/payouts", "/v1/transfers", "/v1/wallets", "/v1/wallets/*/addresses", "/v1/cards")

// CircleWallets is what takes a key of Circle's wallets but for the transactions
// of developers: it creates wallets and sets of them, and challenges for users.
// What is new is a 201, what was there a 200. Circle wants another ciphertext of
// the entity secret in each request, and a repeat carries the first one's: it is
// not compared here, and such a repeat may be refused.
var CircleWallets = func() oncehttp.Contract {
	c := circleWallets("circle-wallets",
		"/v1/w3s/developer/walletSets", "/v1/w3s/developer/wallets",
		"/v1/w3s/user/initialize", "/v1/w3s/user/wallets", "/v1/w3s/user/pin", "/v1/w3s/user/pin/restore",
		"/v1/w3s/user/transactions/transfer", "/v1/w3s/user/transactions/contractExecution",
		"/v1/w3s/user/transactions/*/accelerate", "/v1/w3s/user/transactions/*/cancel")
	c.Replay = oncehttp.Marker{Status: []int{http.StatusOK}}
	return c
}()

// CircleWalletTransactions sends a transfer, or calls a contract, from a wallet
// that the developer controls. The reference that is planted comes back in the
// list of transactions. What [CircleWallets] says of the ciphertext holds here too.
var CircleWalletTransactions = func() oncehttp.Contract {
	c := circleWallets("circle-wallet-transactions",
		"/v1/w3s/developer/transactions/transfer", "/v1/w3s/developer/transactions/contractExecution")
	c.Plant = oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/refId"}
	c.Lookups = []oncehttp.Lookup{{
		URL: "/v1/w3s/transactions?from={since}T00:00:00Z&pageSize=50", Items: "/data/transactions", Where: "/refId", Reference: "/id",
		State: "/state", Is: []string{"INITIATED", "QUEUED", "CLEARED", "SENT", "STUCK", "CONFIRMED", "COMPLETE"},
	}}
	c.Sources = append(c.Sources, "https://developers.circle.com/api-reference/w3s/developer-controlled-wallets/create-wallet",
		"https://developers.circle.com/api-reference/wallets/transaction-states-and-errors")
	return c
}()

// circleWallets is what Circle's wallets have in common.
func circleWallets(name string, paths ...string) oncehttp.Contract {
	c := circle(name, paths...)
	c.Compared.Except = []string{"/entitySecretCiphertext"}
	return c
}

// CoinbaseCDPV2 is what takes a key of the Coinbase Developer Platform's API:
// accounts and what they sign and send, and policies. Its pages ask for a random
// UUID, its description for any text: what is minted satisfies both.
var CoinbaseCDPV2 = oncehttp.Contract{
	Name: "coinbase-cdp-v2",
	Match: oncehttp.Match{
		Hosts: []string{"api.cdp.coinbase.com"},
		Paths: []string{
			"/platform/v2/evm/accounts", "/platform/v2/solana/accounts",
			"/platform/v2/policy-engine/policies",
		},
		Methods: []string{http.MethodPost},
	},
	Carrier:  header("X-Idempotency-Key"),
	Key:      oncehttp.KeyRule{Max: 128, UUID: oncehttp.UUIDRandom},
	Compared: oncehttp.Compared{Parts: oncehttp.PartBody, Mismatch: oncehttp.MismatchRejects},
	Window:   oncehttp.Window{Length: 24 * hour, Kind: oncehttp.WindowExact, After: oncehttp.ExpiryExecutes},
	Answers: []oncehttp.Answer{
		{Status: []int{409, 422}, At: []string{"/errorType"}, Codes: []string{"idempotency_error"}, Verdict: oncehttp.VerdictMismatch},
	},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-10-06",
	Sources: []string{
		"https://docs.cdp.coinbase.com/api-reference/v2/idempotency",
		"https://docs.cdp.coinbase.com/api-reference/payment-apis/conventions",
		"https://github.com/coinbase/cdp-sdk@f9bbf41d9e:openapi.yaml",
	},
}

// prime is what Coinbase Prime's operations on a wallet have in common. The
// transaction keeps the key, so a portfolio's transactions show it; the lookup
// needs the portfolio's id in the request's body, where Coinbase's own clients
// write it. The body is signed, key and all.
func prime(name string, paths ...string) oncehttp.Contract {
	return oncehttp.Contract{
		Name: name,
		Match: oncehttp.Match{
			Hosts:   []string{"api.prime.coinbase.com"},
			Paths:   paths,
			Exact:   true,
			Methods: []string{http.MethodPost},
		},
		Carrier: jsonField("/idempotency_key"),
		Key:     oncehttp.KeyRule{Need: oncehttp.NeedAll},
		Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
		Lookups: []oncehttp.Lookup{{
			URL:   "/v1/portfolios/{/portfolio_id}/transactions?start_time={since}T00:00:00Z",
			Items: "/transactions", Where: "/idempotency_key", Reference: "/id",
			State: "/status", Is: []string{
				"TRANSACTION_CREATED", "TRANSACTION_REQUESTED", "TRANSACTION_APPROVED", "TRANSACTION_PLANNED", "TRANSACTION_PROVISIONED",
				"TRANSACTION_CONSTRUCTED", "TRANSACTION_GASS*", "TRANSACTION_BROADCASTING", "TRANSACTION_PROCESSING", "TRANSACTION_DELAYED",
				"TRANSACTION_RETRIED", "TRANSACTION_DONE",
			},
		}},
		Proof: oncehttp.ProofVendor,
		AsOf:  "2026-10-06",
		Sources: []string{
			"https://github.com/coinbase-samples/prime-sdk-go@42e802abb4:transactions/create_wallet_withdrawal.go",
			"https://github.com/coinbase-samples/prime-sdk-go@42e802abb4:staking/create_stake.go",
			"https://github.com/coinbase-samples/prime-sdk-go@42e802abb4:model/transaction.go",
			"https://github.com/coinbase-samples/prime-sdk-java:src/main/java/com/coinbase/prime/model/enums/TransactionStatus.java",
		},
	}
}

// CoinbasePrime withdraws, transfers and converts from a wallet of a portfolio.
// What a known key is answered is not written.
var CoinbasePrime = prime("coinbase-prime",
	"/v1/portfolios/*/wallets/*/withdrawals", "/v1/portfolios/*/wallets/*/transfers", "/v1/portfolios/*/wallets/*/conversion")

// CoinbasePrimeStaking stakes and unstakes. A known key is refused and never
// answered again as at first, so an error on a repeat may well follow a success.
var CoinbasePrimeStaking = func() oncehttp.Contract {
	c := prime("coinbase-prime-staking",
		"/v1/portfolios/*/wallets/*/staking/initiate", "/v1/portfolios/*/wallets/*/staking/unstake")
	c.Stored.Repeat = oncehttp.RepeatEmpty
	return c
}()

// CoinbasePrimeWallets creates a wallet in a portfolio.
var CoinbasePrimeWallets = func() oncehttp.Contract {
	c := prime("coinbase-prime-wallets", "/v1/portfolios/*/wallets")
	c.Lookups = nil
	return c
}()

// CoinbaseCommerce creates a charge of Coinbase Commerce, which takes no key:
// nothing ambiguous is sent again. The charge is found by the metadata that is
// planted in it, while it is among the newest hundred. Its successor takes a key:
// see [CoinbaseBusinessCheckouts].
var CoinbaseCommerce = oncehttp.Contract{
	Name: "coinbase-commerce",
	Match: oncehttp.Match{
		Hosts:   []string{"api.commerce.coinbase.com"},
		Path:    "/charges",
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Plant: oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/metadata/oncehttp"},
	Lookups: []oncehttp.Lookup{{
		URL: "/charges?limit=100&order=desc", Items: "/data", Where: "/metadata/oncehttp", Reference: "/id",
	}},
	Proof:   oncehttp.ProofVendor,
	AsOf:    "2026-10-06",
	Sources: coinbaseBusiness(),
}

// CoinbaseBusinessCheckouts creates a checkout of Coinbase Business. Nobody says
// for how long the key is remembered. The metadata that is planted in it comes
// back in the list of checkouts, while it is on the first page.
var CoinbaseBusinessCheckouts = oncehttp.Contract{
	Name: "coinbase-business-checkouts",
	Match: oncehttp.Match{
		Hosts:   []string{"business.coinbase.com"},
		Path:    "/api/v1/checkouts",
		Exact:   true,
		Methods: []string{http.MethodPost},
	},
	Carrier: header("X-Idempotency-Key"),
	Key:     oncehttp.KeyRule{UUID: oncehttp.UUIDRandom},
	Window:  oncehttp.Window{Kind: oncehttp.WindowUnknown},
	Plant:   oncehttp.Plant{Kind: oncehttp.CarrierJSON, Name: "/metadata/oncehttp"},
	Lookups: []oncehttp.Lookup{{
		URL: "/api/v1/checkouts?pageSize=100", Items: "/checkouts", Where: "/metadata/oncehttp", Reference: "/id",
	}},
	Proof: oncehttp.ProofVendor,
	AsOf:  "2026-11-30",
	Sources: append(coinbaseBusiness(),
		"https://docs.cdp.coinbase.com/api-reference/business-api/rest-api/checkouts-spec.yaml",
		"https://docs.cdp.coinbase.com/api-reference/business-api/rest-api/checkouts/list-checkouts.md"),
}

func coinbaseBusiness() []string {
	return []string{"https://docs.cdp.coinbase.com/coinbase-business/checkout-apis/migrate-from-commerce/api-schema-mapping.md"}
}
