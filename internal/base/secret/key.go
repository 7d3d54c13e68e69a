package secret

import (
	"regexp"
	"strings"
	"sync"
)

// Parts of a private key in text.
var (
	keyBegin = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`)
	})
	keyBody = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9+/=\\\s]{16,}`) })
	keyEnd  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`)
	})
)

// shortestKey is the length of the shortest private key between its first and its last line.
const shortestKey = 16

// privateKeys returns where private keys are in a text. One without its last line ends where something else begins.
func privateKeys(text string) (found []span) {
	if !strings.Contains(text, "-----BEGIN ") {
		return nil
	}
	ends := keyEnd().FindAllStringIndex(text, -1)
	after := 0
	for _, begin := range keyBegin().FindAllStringIndex(text, -1) {
		if begin[0] < after { // inside of the one before
			continue
		}
		for len(ends) > 0 && ends[0][0] < begin[1]+shortestKey {
			ends = ends[1:]
		}
		key := span{begin[0], begin[1]}
		if len(ends) > 0 {
			key.end = ends[0][1]
		} else if body := keyBody().FindStringIndex(text[begin[1]:]); body != nil {
			key.end += body[1]
		} else {
			continue
		}
		found, after = append(found, key), key.end
	}
	return found
}
