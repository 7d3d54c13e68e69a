package sandbox

import "testing"

func TestShortOfMemory(t *testing.T) {
	limited, free := &Plan{Memory: 64 << 20}, &Plan{}
	for line, want := range map[string]bool{
		"RangeError: Array buffer allocation failed":             true,
		"memory allocation of 4096 bytes failed":                 true,
		"FATAL ERROR: JavaScript heap out of memory":             true,
		"fork: Cannot allocate memory":                           true,
		"MemoryError":                                            true,
		"Error: spawn ENOMEM":                                    true,
		"terminate called after throwing 'std::bad_alloc'":       true,
		"the memory of this server is a graph of what it learnt": false,
	} {
		if got := limited.IsShortOfMemory([]string{"something else", line}); got != want {
			t.Errorf("%q: %t", line, got)
		}
		if free.IsShortOfMemory([]string{line}) {
			t.Errorf("%q without a limit", line)
		}
	}
	for exit, want := range map[string]bool{
		"was killed by SIGABRT": true, "was killed by SIGKILL": true, "was killed by SIGSEGV": true, "exited with code 134": true,
		"was killed by SIGTERM": false, "was killed by SIGSYS": false, "exited with code 1": false, "exited with code 0": false, "still running": false,
	} {
		if got := limited.MayLackMemory(exit); got != want || free.MayLackMemory(exit) {
			t.Errorf("%q: %t", exit, got)
		}
	}
}
