package released

import (
	"debug/elf"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const (
	// maxObserving is what history, metrics, traces and the audit log may add to the program for linux/amd64, in bytes.
	maxObserving = 3_000_000
	// perCode is how many bytes the program grows by for one byte of their machine code: tables, types and texts belong to it, and
	// what the linker keeps of other packages because of it. When they were done, the program had grown by 2,686,976 bytes, all
	// else that was new included, and had 1,027,983 bytes of such code.
	perCode = 2_686_976.0 / 1_027_983
)

const module = "github.com/mcp-workbench/mcp-workbench"

// observing are the beginnings of the paths of packages that exist for observing alone, and of the libraries for it.
var observing = []string{
	module + "/internal/observe/", module + "/internal/terminal/pastcalls/", "github.com/prometheus/", "go.opentelemetry.io/", "google.golang.org/protobuf/",
}

// recordings are sessions that a person asks for: 'record' had them before the workbench observed anything.
const recordings = module + "/internal/observe/recording"

func isObserving(path string) bool {
	if path == recordings {
		return false
	}
	for _, begin := range observing {
		if strings.HasPrefix(path+"/", begin) {
			return true
		}
	}
	return false
}

// testObserving checks the share of observing alone, whatever else grows: the code of all packages that the program would not
// have without it.
func testObserving(t *testing.T, program string) {
	needed := onlyForObserving(t)
	binary, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer binary.Close()
	symbols, err := binary.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	code := uint64(0)
	for _, symbol := range symbols {
		if elf.ST_TYPE(symbol.Info) == elf.STT_FUNC && needed[packageOf(symbol.Name)] {
			code += symbol.Size
		}
	}
	share := float64(code) * perCode
	t.Logf("observing has %d bytes of code in %d packages, and takes about %.2f MB", code, len(needed), share/1e6)
	if share >= maxObserving || code < 500_000 {
		t.Errorf("observing has %d bytes of code, and takes about %.0f bytes of the program; it may take %d, and libraries alone have 500,000 bytes of code", code, share, maxObserving)
	}
}

// onlyForObserving returns the packages of the program that nothing else needs.
func onlyForObserving(t *testing.T) map[string]bool {
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports", module+"/cmd/mcp-workbench")
	list.Env = forLinux()
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	imports := make(map[string][]string)
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var one struct {
			ImportPath string
			Imports    []string
		}
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		imports[one.ImportPath] = one.Imports
	}
	others := make(map[string]bool)
	for next := []string{module + "/cmd/mcp-workbench"}; len(next) > 0; {
		path := next[len(next)-1]
		next = next[:len(next)-1]
		if !others[path] && !isObserving(path) {
			others[path] = true
			next = append(next, imports[path]...)
		}
	}
	needed := make(map[string]bool)
	for path := range imports {
		if !others[path] {
			needed[path] = true
		}
	}
	return needed
}

// packageOf returns the path of the package of a function's symbol.
func packageOf(symbol string) string {
	symbol, _, _ = strings.Cut(symbol, "[") // the types of a generic function
	symbol, _, _ = strings.Cut(symbol, "(") // the receiver
	symbol = strings.TrimPrefix(symbol, "type:.eq.")
	folder := strings.LastIndexByte(symbol, '/') + 1
	name, _, _ := strings.Cut(symbol[folder:], ".")
	return strings.ReplaceAll(symbol[:folder]+name, "%2e", ".")
}
