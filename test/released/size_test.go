package released

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// forLinux is the environment of go commands for the program of linux/amd64.
func forLinux() []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOAMD64=v1", "GOFLAGS=")
}

// linked builds the program, and returns its path.
func linked(t *testing.T, linkerFlags string) string {
	path := filepath.Join(t.TempDir(), "mcp-workbench")
	command := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", linkerFlags, "-o", path, module+"/cmd/mcp-workbench")
	command.Env = forLinux()
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// sizeBefore is the size of the program for linux/amd64 in bytes before it had what allowed lists.
const sizeBefore = 19_767_458

// allowed is by how much the program may have grown since then, in bytes, and what for. The sum is compared; testObserving checks
// the share of the first.
var allowed = []struct {
	bytes int64
	what  string
}{
	{maxObserving, "history, metrics, traces and the audit log"},
	{700_000, "commands to edit, connect and watch, whose output is JSON if wanted"},
	{350_000, "the files of the page, which a test of the page holds to this"},
	{1_100_000, "what serves the page, and what workbenches tell it and do for it: watching, trying tools with forms, changes, recordings, questions"},
	{750_000, "people who sign in: verified tokens, their accounts at servers, certificates, instances and limits of their own, the end of 'serve'"},
	{200_000, "secrets that the configuration names, from the keyring, commands and files, and what servers use of memory and processors"},
	{1_200_000, "'top' with panes and keys: bubbletea, which draws and reads the terminal, and what it needs"},
	{300_000, "sandboxes: their plans, the launcher, the filter of system calls, Landlock"},
}

// Most of the growth is code of libraries. It is easily doubled without notice: an import is enough.
func TestSize(t *testing.T) {
	testObserving(t, linked(t, "-w"))
	info, err := os.Stat(linked(t, "-s -w"))
	if err != nil {
		t.Fatal(err)
	}
	growth, maxGrowth := info.Size()-sizeBefore, int64(0)
	for _, one := range allowed {
		maxGrowth += one.bytes
	}
	t.Logf("the program for linux/amd64 has %d bytes, %.2f MB more than %d", info.Size(), float64(growth)/1e6, sizeBefore)
	if growth >= maxGrowth {
		t.Errorf(`the program for linux/amd64 has %d bytes, %d more than it may have.
Compare 'go version -m', 'go list -deps ./cmd/mcp-workbench' and 'go tool nm -size -sort size' with those of an earlier commit to see what grew.
If a new feature is worth its size, add a line to 'allowed' in test/released/size_test.go.`, info.Size(), growth-maxGrowth+1)
	}
}
