package cli

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// The examples of docs/login.md can be pasted, and the messages that it explains are those of the program.
func TestPageAboutLogins(t *testing.T) {
	data, err := os.ReadFile("../../docs/login.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	examples := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(examples) < 5 {
		t.Fatalf("the page has %d examples", len(examples))
	}
	for _, example := range examples {
		checkExample(t, example[1])
	}
	for _, row := range section(page, "## Settings") {
		key, _, _ := strings.Cut(strings.Trim(row[0], "`"), "`")
		value := strings.Trim(row[1], "`")
		if !strings.HasPrefix(value, `"`+key+`": `) {
			value = `"` + key + `": ` + value
		}
		if key == "grant" {
			value += `, "clientId": "a", "clientSecret": "b"`
		}
		checkExample(t, `{"oauth": {`+value+`}}`)
	}
	source := texts(t)
	for _, row := range section(page, "## When it does not work") {
		for _, message := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[0], -1) {
			text, _, _ := strings.Cut(message[1], "(…)")
			text = strings.ReplaceAll(text, "10 minutes", "%d minutes")
			if !strings.Contains(source, strings.TrimSpace(text)) {
				t.Errorf("no text of the program has %q", text)
			}
		}
	}
}

// checkExample parses servers, or the settings of one.
func checkExample(t *testing.T, text string) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	if _, ok := members["oauth"]; ok {
		text = `{"x": {"url": "https://x.test/mcp", ` + strings.TrimPrefix(strings.TrimSpace(text), "{") + `}`
	}
	const people = `"http": {"oauth": {"resource": "https://x.test/mcp", "issuer": "https://login.x.test", "toolboxes": {"all": ["*"]}, "clientId": "x"}}`
	cfg, err := config.Parse("login.md", []byte(`{`+people+`, "toolboxes": {"a": {"description": "d", "mcpServers": `+text+`}}}`), config.ParseOptions{
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

// section returns the cells of the rows of a section's table, without its head.
func section(page, heading string) (rows [][]string) {
	_, rest, _ := strings.Cut(page, heading+"\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	for line := range strings.Lines(rest) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| ---") {
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows = append(rows, cells)
		}
	}
	return rows[min(1, len(rows)):]
}

// texts returns the source of the packages that messages about logins come from.
func texts(t *testing.T) string {
	t.Helper()
	return textsIn(t, "../servers/oauth", "../terminal/login", ".")
}

// textsIn returns the source of packages.
func textsIn(t *testing.T, folders ...string) string {
	t.Helper()
	var all strings.Builder
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			data, err := os.ReadFile(path)
			all.Write(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}
