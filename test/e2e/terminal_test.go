package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCallFromTheTerminal uses the tools of real servers by the commands for people.
func TestCallFromTheTerminal(t *testing.T) {
	root := realTempDir(t)
	if err := os.WriteFile(filepath.Join(root, "note.txt"), []byte("first\nsecond\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, "", box{"dev", "Development", []server{everythingServer(t), filesystemServer(t, root)}})
	run := func(args ...string) string {
		t.Helper()
		out, err := b.run(append([]string{"--config", b.config}, args...)...).Output()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, b.stderr)
		}
		return string(out)
	}
	// Some of its tools are there only for clients that can be asked, and know their roots.
	for _, want := range []string{"dev/everything/trigger-elicitation-request", "dev/everything/get-roots-list", "dev/filesystem/read_text_file"} {
		if listed := run("tools"); !strings.Contains(listed, want) {
			t.Errorf("there is no %s in\n%s", want, listed)
		}
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"call", "get-sum", "a=3", "b=4"}, "The sum of 3 and 4 is 7."},
		{[]string{"call", "filesystem/read_text_file", "path=" + filepath.Join(root, "note.txt"), "head=1"}, "first"},
		{[]string{"call", "get-roots-list", "--root", root}, "file://" + filepath.ToSlash(root)},
		{[]string{"call", "trigger-elicitation-request"}, "declined"},
		{[]string{"call", "trigger-long-running-operation", "duration=0.1", "steps=2"}, "Steps: 2"},
		{[]string{"find", "read", "a", "file"}, "dev/filesystem/read_text_file"},
		{[]string{"show", "get-sum"}, "get-sum(a: number, b: number)"},
	} {
		if got := run(test.args...); !strings.Contains(got, test.want) {
			t.Errorf("%q: there is no %q in\n%s", test.args, test.want, got)
		}
	}
	var result struct {
		StructuredContent map[string]any
		Content           []struct {
			MimeType string
			Data     []byte
		}
	}
	if err := json.Unmarshal([]byte(run("call", "get-structured-content", "location=Chicago", "--json")), &result); err != nil || result.StructuredContent["temperature"] == nil {
		t.Errorf("the result is %v, %v", result, err)
	}
	if err := json.Unmarshal([]byte(run("call", "get-tiny-image", "--json")), &result); err != nil {
		t.Fatal(err)
	}
	run("call", "get-tiny-image", "--output", root)
	saved, err := os.ReadFile(filepath.Join(root, "get-tiny-image.png"))
	if err != nil || len(saved) == 0 || !bytes.Equal(saved, result.Content[1].Data) {
		t.Errorf("the saved picture of %d bytes is not what was sent: %v", len(saved), err)
	}
}
