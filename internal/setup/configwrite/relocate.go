package configwrite

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/jsonc"
)

// Relocation is the new name of a toolbox, or the new name or toolbox of a server.
type Relocation struct{ From, To Entry }

// Relocate renames or moves an entry, with the references to it in the same file: those of pinned tools and of the
// policy that name it in full. A toolbox that a server moves to has to exist.
func (e *Edit) Relocate(r Relocation) error {
	data, err := r.apply(e.Next.Data, r.From.Path(), r.To.Path())
	if err == nil {
		data, err = jsonc.MapStrings(data, r.rewrite)
	}
	return e.replace(data, err)
}

func (r Relocation) apply(data []byte, from, to []string) ([]byte, error) {
	if last := len(from) - 1; slices.Equal(from[:last], to[:last]) {
		return jsonc.Rename(data, from, to[last])
	}
	return jsonc.Move(data, from, to)
}

// rewrite returns a string of the file with a reference to the entry replaced.
func (r Relocation) rewrite(path []string, isKey bool, text string) string {
	switch referenceAt(path, isKey) {
	case pinnedReference:
		if rest, ok := strings.CutPrefix(text, r.prefix(r.From)); ok {
			return r.prefix(r.To) + rest
		}
	case patternReference:
		if rest, ok := strings.CutPrefix(text, escapePattern(r.prefix(r.From))); ok {
			return escapePattern(r.prefix(r.To)) + rest
		}
	}
	return text
}

// prefix returns what the names of the entry's tools start with.
func (r Relocation) prefix(e Entry) string {
	if e.Server == "" {
		return e.Toolbox + "/"
	}
	return e.Toolbox + "/" + e.Server + "/"
}

// escapePattern returns the pattern for a text as it is.
func escapePattern(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`).Replace(text)
}

// reference is how a string of the file refers to tools.
type reference uint8

const (
	noReference reference = iota
	pinnedReference
	patternReference
)

// referenceAt returns how the string at a path refers to tools.
func referenceAt(path []string, isKey bool) reference {
	switch {
	case !isKey && len(path) == 2 && path[0] == "pinned":
		return pinnedReference
	case isKey && len(path) == 3 && path[0] == "policy" && path[1] == "classes":
		return patternReference
	case !isKey && len(path) >= 4 && path[0] == "policy" && path[1] == "rules" && (path[3] == "tools" || path[3] == "except"):
		return patternReference
	}
	return noReference
}

// Affected returns the patterns of the policy of this file that no longer match the tools of the relocated servers, or
// match them only now, and those with variables, of which that is unknown. They are not about the entry alone, so that Relocate leaves them.
func (e *Edit) Affected(r Relocation, servers []config.PreviewServer) []string {
	old, renamed := patterns(e.Content().Data), patterns(e.Next.Data)
	if len(old) != len(renamed) {
		return nil
	}
	names := []string{"x"} // of tools, to try the patterns with
	for _, pattern := range old {
		names = append(names, strings.ReplaceAll(pattern[strings.LastIndex(pattern, "/")+1:], "*", "x"))
	}
	var found []string
	for i := range old {
		differs := func(server config.PreviewServer) bool {
			return slices.ContainsFunc(names, func(name string) bool {
				from := toolbox.Ref{Toolbox: server.Toolbox, Server: server.Name, Name: name}
				to := toolbox.Ref{Toolbox: r.To.Toolbox, Server: cmp.Or(r.To.Server, server.Name), Name: name}
				return toolbox.Pattern(old[i]).Matches(from) != toolbox.Pattern(renamed[i]).Matches(to)
			})
		}
		isUnclear := len(servers) > 0 && strings.Contains(old[i], "${") // a variable may hold the name
		if (isUnclear || slices.ContainsFunc(servers, differs)) && !slices.Contains(found, old[i]) {
			found = append(found, old[i])
		}
	}
	return found
}

// patterns returns the patterns of a policy, in the order of the file.
func patterns(data []byte) []string {
	var found []string
	_, err := jsonc.MapStrings(data, func(path []string, isKey bool, text string) string {
		if referenceAt(path, isKey) == patternReference {
			found = append(found, text)
		}
		return text
	})
	if err != nil {
		return nil
	}
	return found
}

// ReadApproval returns the content of the workbench.lock beside a configuration; nil without one. It refuses one of a
// newer format, in which the names of entries may be elsewhere.
func ReadApproval(path string) ([]byte, error) {
	file := config.File{Path: path}
	content, err := file.ReadLock()
	if err == nil && content != nil {
		err = stored.Lock.Check(file.LockPath(), content)
	}
	return content, err
}

// RelocateApproval changes the workbench.lock beside a configuration, so that what was approved of the entry stays
// approved under its new name. It reports whether there was anything to change.
func RelocateApproval(path string, r Relocation) (isChanged bool, err error) {
	before, err := ReadApproval(path)
	if err != nil || before == nil {
		return false, err
	}
	keys := func(e Entry) []string {
		if e.Server == "" {
			return []string{"toolboxes", e.Toolbox}
		}
		return []string{"toolboxes", e.Toolbox, e.Server}
	}
	after, err := r.apply(before, keys(r.From), keys(r.To))
	if err != nil || bytes.Equal(before, after) {
		return false, err
	}
	return true, safefile.Replace(resolveLink(config.File{Path: path}.LockPath()), pattern, after)
}
