package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The guide has a section for each client, with the places and the entry that the table
// has.
func TestGuideTellsOfEveryClient(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := make(map[string]string)
	for section := range strings.SplitSeq(string(data), "\n## ") {
		title, text, _ := strings.Cut(section, "\n")
		sections[title] = text
	}
	for _, client := range All() {
		section, ok := sections[client.Title]
		if !ok {
			t.Errorf("there is no section '%s'", client.Title)
			continue
		}
		for _, fact := range facts(t, client) {
			if !strings.Contains(section, fact) {
				t.Errorf("%s: the guide lacks\n%s", client.Title, fact)
			}
		}
	}
}

// The guide says which clients can reach a workbench over HTTP, and how they get the token.
func TestGuideTellsOfHTTP(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(data), "\n## Over HTTP\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, client := range All() {
		row := "| `" + client.ID + "` |"
		if (client.remote != nil) != strings.Contains(section, row) {
			t.Errorf("%s: can reach HTTP: %v; the guide has another opinion", client.ID, client.remote != nil)
		}
		token := "copied into the file"
		switch {
		case client.remote == nil:
			continue
		case client.reference("NAME") != "":
			token = "`" + client.reference("NAME") + "`"
		case client.RefersToVariables():
			token = "`bearer_token_env_var`"
		}
		key := ""
		for _, f := range client.remote {
			if f.value == address {
				key = f.name
			}
		}
		if row += " `" + key + "` | " + token + " |"; !strings.Contains(section, row) {
			t.Errorf("the guide lacks\n%s", row)
		}
	}
}

// facts is what the guide has to say of a client.
func facts(t *testing.T, client *Client) []string {
	t.Helper()
	found := []string{"`" + client.ID + "`"}
	env := map[string]string{"HOME": "~", "USERPROFILE": "%USERPROFILE%", "APPDATA": "%APPDATA%", "LOCALAPPDATA": "%LOCALAPPDATA%"}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, file := range client.Files(fake(goos, env)) {
			found = append(found, "`"+file+"`")
		}
	}
	if file := client.ProjectFile(fake("linux", nil), ""); file != "" {
		found = append(found, "`"+strings.TrimPrefix(file, "/")+"`")
	}
	if client.Retired != "" {
		return append(found, client.Retired)
	}
	file := client.Files(fake("linux", env))[0]
	entry, err := client.Put(file, nil, Entry{Name: "workbench", Command: "/path/to/mcp-workbench", Args: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	return append(found, client.After, client.See, "\n"+string(entry)+"```")
}
