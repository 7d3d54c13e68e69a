package cli

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// The configurations of docs/team.md can be pasted, its keys exist, and what is tried there has a test.
func TestPageAboutTeams(t *testing.T) {
	data, err := os.ReadFile("../../docs/team.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	examples := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(examples) < 10 {
		t.Fatalf("the page has %d examples", len(examples))
	}
	for _, example := range examples {
		checkTeamExample(t, example[1])
	}
	var keys []string
	for _, row := range section(page, "## Settings") {
		for _, key := range regexp.MustCompile("`([A-Za-z]+)`").FindAllStringSubmatch(row[0], -1) {
			keys = append(keys, key[1])
		}
	}
	slices.Sort(keys)
	want := []string{"audience", "claim", "clientId", "clientSecret", "introspection", "issuer", "jwksUri", "resource", "scopes", "toolboxes"}
	if !slices.Equal(keys, want) {
		t.Errorf("the table has the keys %v, want %v", keys, want)
	}
	source := textsIn(t, "../access", "../gateway/front", "../app")
	for _, row := range section(page, "## When it does not work") {
		for _, message := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[0], -1) {
			if !strings.Contains(source, message[1]) {
				t.Errorf("no text of the program has %q", message[1])
			}
		}
	}
	for _, row := range section(page, "## Identity providers") {
		isTried := row[1] == "tried"
		if isTried != strings.Contains(row[0], "oidc-provider") || !isTried && !strings.HasPrefix(row[1], "not tried") {
			t.Errorf("%s is %s", row[0], row[1])
		}
	}
}

// checkTeamExample parses a configuration, or members of it or of 'http'.
func checkTeamExample(t *testing.T, text string) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	if members["toolboxes"] == nil {
		if members["policy"] == nil {
			text = `{"http": ` + text + `}`
		}
		server := `{"description": "d", "mcpServers": {"x": {"command": "x"}}}`
		text = strings.TrimSuffix(strings.TrimSpace(text), "}") + `, "toolboxes": {"dev": ` + server + `, "ops": ` + server + `}}`
	}
	cfg, err := config.Parse("team.md", []byte(text), config.ParseOptions{
		Dir: "/tmp", Home: "/tmp", Lookup: func(string) (string, bool) { return "value", true },
	})
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	for _, warning := range cfg.Warnings {
		t.Errorf("%s: %v", text, warning)
	}
	for _, fault := range cfg.Faults() {
		t.Errorf("%s: %v", text, fault)
	}
}
