// Tools of the checks, apart from the library's own requirements. Run one with
// GOWORK=off go tool -modfile=tools/go.mod NAME from the root.
module github.com/oncehttp/oncehttp/tools

go 1.26.0

tool (
	golang.org/x/vuln/cmd/govulncheck // known vulnerabilities in what the code really calls
	honnef.co/go/tools/cmd/staticcheck // dead code, misuse of the standard library, what vet leaves out
)

require (
	github.com/BurntSushi/toml v1.4.1-0.20240526193622-a339e1f7089c // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/telemetry v0.0.0-20261010193011-f71dc92da45e // indirect
	golang.org/x/tools v0.52.0 // indirect
	golang.org/x/vuln v1.9.0 // indirect
	honnef.co/go/tools v0.8.2 // indirect
)
