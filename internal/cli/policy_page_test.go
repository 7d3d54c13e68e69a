package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// The examples of docs/policy.md can be pasted, the commands that it names exist, and each numbered rule is in scripts.
func TestPageAboutPolicies(t *testing.T) {
	data, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	examples := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(examples) < 15 {
		t.Fatalf("the page has %d examples", len(examples))
	}
	scripts := policyScripts(t)
	for _, example := range examples {
		checkPolicyExample(t, example[1])
		if strings.Contains(example[1], `"cases"`) && !strings.Contains(scripts, example[1]) {
			t.Errorf("no script has these cases: %s", example[1])
		}
	}
	numbered := regexp.MustCompile("(?s)\n\\*\\*([0-9]+)\\. .*?\n```json\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(numbered) != 9 {
		t.Errorf("the page has %d numbered rules", len(numbered))
	}
	for _, example := range numbered {
		if !strings.Contains(scripts, compact(t, example[2])) {
			t.Errorf("no script has rule %s: %s", example[1], example[2])
		}
	}
	commands := regexp.MustCompile("(?m)^mcp-workbench ([a-z ]+)").FindAllStringSubmatch(page, -1)
	for _, row := range section(page, "## Commands") {
		commands = append(commands, regexp.MustCompile("`([a-z]+(?: [a-z]+)?)").FindStringSubmatch(row[0]))
	}
	for _, command := range commands {
		words := strings.Fields(command[1])
		found, rest, err := newRoot().Find(words)
		if err != nil || found.Name() != words[min(1, len(words)-1)] {
			t.Errorf("there is no command %q (%v, %v)", command[1], rest, err)
		}
	}
}

// Every key of a policy and its rules has a row in the page's tables.
func TestPageAboutPoliciesHasAllKeys(t *testing.T) {
	data, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := ""
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "| `") {
			rows += line[:strings.Index(line[2:], " | ")+2] + "\n"
		}
	}
	_, page, _ := strings.Cut(rows, "`rules`")
	for _, name := range []string{
		"default", "classes", "ask", "tools", "except", "hints", "callers", "then", "require", "limit", "else", "arguments", "results", "because",
		"within", "hosts", "sql", "matches", "oneOf", "atMost",
	} {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("no row is about %s", name)
		}
	}
}

// checkPolicyExample parses a configuration, the cases of 'policy test', or a rule.
func checkPolicyExample(t *testing.T, text string) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	if _, ok := members["cases"]; ok {
		file := filepath.Join(t.TempDir(), "cases.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := config.ReadPolicyCases(file); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		return
	}
	if _, ok := members["policy"]; !ok {
		text = `{"policy": {"rules": [` + text + `]}, "toolboxes": {}}`
	}
	cfg, err := config.Parse("policy.md", []byte(text), config.ParseOptions{Dir: "/tmp", Home: "/tmp", Lookup: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	for _, warning := range cfg.Warnings {
		if !strings.Contains(warning.Message, "matches no toolbox") && !strings.Contains(warning.Message, "oolboxes") {
			t.Errorf("%s: %v", text, warning)
		}
	}
	for _, fault := range cfg.Faults() {
		t.Errorf("%s: %v", text, fault)
	}
}

// policyScripts returns the scripts that try the example rules.
func policyScripts(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("../../test/script/policy/example_*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no scripts", err)
	}
	var all strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(text)); err != nil {
		t.Error(err)
	}
	return out.String()
}
