package wire

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestNames(t *testing.T) {
	for text, want := range map[string]string{`"echo"`: "echo", `"a\u0062c"`: "abc", `""`: "", `"\"q\""`: `"q"`} {
		for range 2 {
			if name, ok := Raw([]byte(text)).Name(); !ok || name != want {
				t.Errorf("%s is %q, %t", text, name, ok)
			}
		}
	}
	if _, ok := Raw([]byte("7")).Name(); ok {
		t.Error("a number is a name")
	}
	known := Raw([]byte(`"echo"`))
	if n := testing.AllocsPerRun(100, func() { known.Name() }); n > 0 {
		t.Errorf("a known name allocates %v times", n)
	}
}

func TestNamesAreBounded(t *testing.T) {
	before := names.known.Load()
	defer names.known.Store(before)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range maxNames {
				text := fmt.Sprintf("name %d of %d", i, g)
				if name := Name([]byte(text)); name != text {
					t.Errorf("%q became %q", text, name)
				}
			}
			Name([]byte(strings.Repeat("x", maxNameLength+1)))
		})
	}
	all.Wait()
	if n := len(*names.known.Load()); n > maxNames {
		t.Errorf("%d names are remembered", n)
	}
}
