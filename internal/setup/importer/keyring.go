package importer

import (
	"regexp"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
)

// kept matches the name of a secret in the keyring where init could have put it.
var kept = regexp.MustCompile(`\$\{keyring:([A-Z_][A-Z0-9_]*)\}`)

// MoveToKeyring has the servers of the plan name secrets by ${keyring:NAME} instead of variables of workbench.env, and
// moves them to Kept. Those stay in workbench.env that canMove refuses, or that stand where no form can.
func (p *Plan) MoveToKeyring(canMove func(name, value string) bool) {
	p.Variables = slices.DeleteFunc(p.Variables, func(v configwrite.Variable) bool {
		if config.CheckSecretName(v.Name) != "" || !canMove(v.Name, v.Value) {
			return false
		}
		entries, ok := p.withForm(v.Name)
		if !ok {
			return false
		}
		for i, server := range p.Servers {
			server.entry = entries[i]
		}
		p.Kept = append(p.Kept, v)
		return true
	})
}

// withForm returns the entries of all servers with a form in place of a variable; ok is false if one would be invalid, or
// none has the variable.
func (p *Plan) withForm(name string) (entries [][]byte, ok bool) {
	variable := regexp.MustCompile(`(^|[^$])\$\{` + name + `\}`)
	for _, server := range p.Servers {
		entry := variable.ReplaceAll(server.entry, []byte("${1}$${keyring:"+name+"}"))
		if string(entry) != string(server.entry) {
			ok = true
			if invalidReason(server.Name, entry, server.definition.URL) != "" {
				return nil, false
			}
		}
		entries = append(entries, entry)
	}
	return entries, ok
}
