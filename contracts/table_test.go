package contracts

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
)

func carrierText(c oncehttp.Contract) string {
	switch c.Carrier.Kind {
	case oncehttp.CarrierNone:
		return "none"
	case oncehttp.CarrierHeader:
		if c.Carrier.Quoted {
			return c.Carrier.Name + ", quoted"
		}
		return c.Carrier.Name
	}
	return []string{oncehttp.CarrierJSON: "JSON ", oncehttp.CarrierForm: "form ", oncehttp.CarrierQuery: "query ",
		oncehttp.CarrierPath: "path ", oncehttp.CarrierXML: "XML "}[c.Carrier.Kind] + c.Carrier.Name
}

func windowText(c oncehttp.Contract) string {
	switch {
	case c.Carrier.Kind == oncehttp.CarrierNone:
		return ""
	case c.Window.Kind == oncehttp.WindowForever:
		return "for ever"
	case c.Window.Kind == oncehttp.WindowUnknown:
		return "not said"
	case c.Window.Length%day == 0 && c.Window.Length > day:
		return fmt.Sprintf("%d days", c.Window.Length/day)
	case c.Window.Length%hour == 0:
		return fmt.Sprintf("%d h", c.Window.Length/hour)
	case c.Window.Length%minute == 0:
		return fmt.Sprintf("%d min", c.Window.Length/minute)
	}
	return c.Window.Length.String()
}

func proofText(c oncehttp.Contract) string {
	text := []string{oncehttp.ProofDeclared: "declared", oncehttp.ProofVendor: "vendor", oncehttp.ProofSecondary: "secondary", oncehttp.ProofUnknown: "unsure"}[c.Proof]
	if len(c.Match.Hosts) == 0 {
		text += ", no host"
	}
	return text
}

func TestTheTableInThePackageDocumentationIsCurrent(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "//\t%-38s %-38s %-9s %s\n", "contract", "key", "window", "proof")
	for _, c := range every() {
		fmt.Fprintf(&table, "//\t%-38s %-38s %-9s %s\n", c.Name, carrierText(c), windowText(c), proofText(c))
	}
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	begin := strings.Index(string(text), "//\tcontract")
	require.Positive(t, begin, "doc.go has no table")
	end := strings.LastIndex(string(text), "//\t")
	end += strings.Index(string(text[end:]), "\n") + 1
	if *update {
		require.NoError(t, os.WriteFile("doc.go", []byte(string(text[:begin])+table.String()+string(text[end:])), 0o644))
		return
	}
	assert.Equal(t, table.String(), string(text[begin:end]), "the table in doc.go is not current: go test ./contracts -update")
}

// TestEveryVariableIsListed: a contract that no list holds would never be found.
func TestEveryVariableIsListed(t *testing.T) {
	listed := map[string]bool{}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	declared := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		var variables []string
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
						for _, name := range v.Names {
							if name.IsExported() {
								variables = append(variables, name.Name)
							}
						}
					}
				}
			case *ast.FuncDecl:
				ast.Inspect(d, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						listed[id.Name] = true
					}
					return true
				})
			}
		}
		for _, name := range variables {
			assert.True(t, listed[name], "%s of %s is in no list", name, file)
		}
		declared += len(variables)
	}
	assert.Equal(t, declared, len(every()), "a contract is listed twice, or not at all")
}

func TestEveryContractSaysWhereItsFactsAreFrom(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, c := range every() {
		assert.NotEmpty(t, c.Name)
		assert.False(t, names[c.Name], "two contracts are called %s", c.Name)
		names[c.Name] = true
		assert.NotEqual(t, oncehttp.ProofDeclared, c.Proof, "%s: say how well it is proved", c.Name)
		assert.NotEmpty(t, c.AsOf, c.Name)
		assert.NotEmpty(t, c.Sources, "%s has no source", c.Name)
	}
}

func TestAllContractsCanBeHeldTogether(t *testing.T) {
	contracts := All()
	for _, c := range Hostless() {
		contracts = append(contracts, On(c, c.Name+".example.com"))
	}
	require.Len(t, contracts, len(every()))
	client, err := oncehttp.Open(filepath.Join(t.TempDir(), "intents.db"), oncehttp.Config{Contracts: contracts})
	require.NoError(t, err)
	require.NoError(t, client.Close())
}

func TestAHostFindsItsContracts(t *testing.T) {
	t.Parallel()
	found := func(host string) []string {
		var names []string
		for _, c := range For(host) {
			names = append(names, c.Name)
		}
		return names
	}
	assert.Subset(t, found("API.Stripe.com."), []string{"stripe-v1", "stripe-v2"})
	assert.NotEmpty(t, found("shop.myshopify.com"))
	assert.NotEmpty(t, found("dynamodb.eu-west-1.amazonaws.com"))
	assert.Equal(t, found("api.stripe.com"), found("api.stripe.com:443"))
	assert.Empty(t, found("api.example.com"))
	assert.Empty(t, found("myshopify.com"))
	assert.Empty(t, found("evil.dynamodb.eu-west-1.amazonaws.com.example"))
}
