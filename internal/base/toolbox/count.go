package toolbox

import "fmt"

// Count formats a number with its noun: "1 server", "2 servers".
func Count(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", n, plural)
}
