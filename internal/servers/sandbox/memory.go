package sandbox

import (
	"regexp"
	"slices"
	"sync"
)

// What programs print that get no more memory, and how those end that do not print it: by a signal, also one that a shell or npx
// tells of as an exit code.
var memoryForms = sync.OnceValue(func() (f struct{ output, exit *regexp.Regexp }) {
	f.output = regexp.MustCompile(`(?i)allocation (?:of \d+ bytes )?failed|out of memory|cannot allocate memory|\bMemoryError\b|\bENOMEM\b|bad_alloc`)
	f.exit = regexp.MustCompile(`^(?:was killed by SIG(?:ABRT|KILL|SEGV|TRAP|ILL)|exited with code (?:134|137|139|133|132))\b`)
	return f
})

// IsShortOfMemory reports whether a program with a limit of memory seems to have run into it, by lines that it printed.
func (p *Plan) IsShortOfMemory(lines []string) bool {
	return p.Memory > 0 && slices.ContainsFunc(lines, memoryForms().output.MatchString)
}

// MayLackMemory reports whether a program with a limit of memory ended as one that runs into it, such as "was killed by SIGABRT".
func (p *Plan) MayLackMemory(exit string) bool {
	return p.Memory > 0 && memoryForms().exit.MatchString(exit)
}
