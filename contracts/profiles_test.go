package contracts

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp/mockserver"
)

const profilesFile = "../mockserver/profiles.json"

func TestTheProfilesOfTheMockServerAreTheContracts(t *testing.T) {
	var profiles []mockserver.Profile
	for _, c := range every() {
		profiles = append(profiles, profileOf(c))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	require.NoError(t, e.Encode(profiles))
	compareGolden(t, profilesFile, b.String())
	if *update {
		return
	}
	var played []string
	for _, p := range mockserver.Profiles() {
		played = append(played, p.Name)
	}
	for _, p := range profiles {
		assert.Contains(t, played, p.Name)
	}
}
