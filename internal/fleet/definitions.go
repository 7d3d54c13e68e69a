package fleet

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/config"
)

// maxLoggedChanges bounds what one reading of a server's tools says in the log.
const maxLoggedChanges = 50

// compare adds warnings to a snapshot for the tools whose definitions changed.
func (s *Server) compare(snapshot *catalog.Snapshot) *catalog.Snapshot {
	snapshot, changes := s.fleet.options.Baseline.Compare(s.Name(), definitionKey(s.toolbox, s.config), snapshot)
	for i, change := range changes {
		if i == maxLoggedChanges {
			s.log.Warn("definitions of more tools changed", "tools", len(changes)-i)
			break
		}
		s.log.Warn("definition of a tool changed", "tool", s.fleet.masker.Load().Mask(change.Tool),
			"before", change.Before.String(), "after", change.After.String())
	}
	return snapshot
}

// definitionKey is a hash of what makes a configured server the same one as before. A
// server that is configured otherwise is another one, and has no past. Left out are
// settings that only concern how we treat it, and headers, since tokens in them are
// renewed: better a warning too many. Nothing of a value can be read from it.
func definitionKey(toolbox string, server config.Server) catalog.Hash {
	fields := []string{
		toolbox, server.Name, server.Builtin, server.Command, server.Dir, server.URL, server.Transport,
		fmt.Sprint(len(server.Args)), // where the arguments end
	}
	fields = append(fields, server.Args...)
	variables := slices.Clone(server.Env) // their order has no meaning
	slices.SortStableFunc(variables, func(a, b config.Variable) int { return strings.Compare(a.Name, b.Name) })
	for _, variable := range variables {
		value := sha256.Sum256([]byte(variable.Value))
		fields = append(fields, variable.Name, string(value[:]))
	}
	hash := sha256.New()
	for _, field := range fields {
		fmt.Fprintf(hash, "%d:%s", len(field), field)
	}
	return catalog.Hash(hash.Sum(nil))
}
