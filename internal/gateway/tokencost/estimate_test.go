package tokencost

import "testing"

func TestEstimateTokens(t *testing.T) {
	for text, want := range map[string]int{
		"":                     0,
		"read":                 1,
		"read a file":          3,
		"internationalization": 2,
		"12345":                2,
		`{"name":"read_file"}`: 7, // {" name ":" read _ file "}
		"a\n\n  b":             3,
		"\n":                   1,
		"äö":                   2,
	} {
		if got := Estimate(text); got != want {
			t.Errorf("Estimate(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s", n, got)
		}
	}
}
