package cli

import (
	"runtime"
	"testing"
)

func TestLeaveProcessors(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, test := range []struct {
		environment   string
		present, want int
	}{
		{"", 8, 4}, {"", 3, 1}, {"", 2, 1}, {"", 1, 1}, {"8", 8, 8},
	} {
		t.Setenv("GOMAXPROCS", test.environment)
		runtime.GOMAXPROCS(test.present)
		if leaveProcessors(); runtime.GOMAXPROCS(0) != test.want {
			t.Errorf("of %d, with %q, it takes %d; want %d", test.present, test.environment, runtime.GOMAXPROCS(0), test.want)
		}
	}
}
