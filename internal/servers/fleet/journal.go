package fleet

import "github.com/mcp-workbench/mcp-workbench/internal/base/journal"

// Journal returns the lines of the server's stderr from a number on, 0 for all that are kept, with the number of the next
// one and a channel that is closed when it is there. They are of all its lives, and those of its variants.
func (s *Server) Journal(number uint64) (lines []journal.Line, next uint64, more <-chan struct{}) {
	return s.journal.Since(number)
}
