package released

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const (
	// sizeBefore is the size of the program in bytes before it had a history, metrics, traces and an audit log.
	sizeBefore = 19_767_458
	// maxGrowth is what those, and everything since, may add.
	maxGrowth = 3_000_000
)

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
	growth := info.Size() - sizeBefore
	t.Logf("the program for linux/amd64 has %d bytes, %.2f MB more than %d", info.Size(), float64(growth)/1e6, sizeBefore)
	if growth >= maxGrowth {
		t.Errorf(`the program for linux/amd64 has %d bytes, %d more than it may have.
Compare 'go version -m', 'go list -deps ./cmd/mcp-workbench' and 'go tool nm -size -sort size' with those of an earlier commit to see what grew.
If a new feature is worth its size, raise maxGrowth in test/released/size_test.go, and say in the commit by how much and what for.`, info.Size(), growth-maxGrowth+1)
	}
}
