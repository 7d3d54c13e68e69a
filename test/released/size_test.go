package released

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// sizeBefore is the size of the program for linux/amd64 in bytes before it had what allowed lists.
const sizeBefore = 19_767_458

// allowed is by how much the program may have grown since then, in bytes, and what for. The sum is compared: a binary does not
// say which feature its bytes are for.
var allowed = []struct {
	bytes int64
	what  string
}{
	{3_000_000, "history, metrics, traces and the audit log; they took 2.65 MB when they were done"},
	{700_000, "commands to edit, connect and watch, whose output is JSON if wanted"},
}

// Most of the growth is code of libraries. It is easily doubled without notice: an import is enough.
func TestSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp-workbench")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", path, "github.com/mcp-workbench/mcp-workbench/cmd/mcp-workbench")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOAMD64=v1", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	info, err := os.Stat(path)
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
