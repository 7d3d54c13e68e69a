package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// maxLinks bounds the links that are followed on the way to a path, about as the kernel does.
const maxLinks = 40

// linkWithin returns the first symbolic link on the way to a path that is in one of the folders, whose owner can replace it;
// "" if there is none.
func linkWithin(path string, folders []string) string {
	rest, at, links := strings.Split(filepath.Clean(path), "/"), "/", 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		next := filepath.Join(at, name) // of "..", the folder above: no link is left in at
		target, err := os.Readlink(next)
		if err != nil { // no link
			at = next
			continue
		}
		if links++; links > maxLinks || isWithinAny(at, folders) {
			return next
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return ""
}

// checkLinks returns an error for a path of a policy that leads through a link which the program can replace: its next start
// would allow whatever the link leads to by then.
func checkLinks(policy *Policy, dir string, write []string) error {
	if policy == nil {
		return nil
	}
	for key, paths := range map[string][]string{"read": policy.Read, "write": policy.Write} {
		for _, path := range paths {
			if path == Cwd {
				path = dir
			}
			if link := linkWithin(path, write); link != "" {
				return failure("Name what the link is to lead to.", "'sandbox.%s' names %s, which the link %s is part of, and the server could let that link lead anywhere: it is in a folder that the server can change", key, path, link)
			}
		}
	}
	return checkLinks(policy.Bound, dir, write)
}
