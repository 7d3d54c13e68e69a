package policycheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/console"
)

// suggestion is what the tools of a configuration declare.
type suggestion struct {
	cfg     *config.Config
	project string // for paths in the policy

	destructive []toolbox.Ref // declared
	reading     int           // declared
	seemReading []toolbox.Ref // they declare nothing, but have names like tools that read
	silent      []toolbox.Ref // they declare nothing
	paths       []pathTools   // with arguments that every call has
	optional    []pathTools   // with arguments that a call may leave out
}

// pathTools are tools of a server that take the same arguments with paths.
type pathTools struct {
	place     string
	arguments []string
	tools     []toolbox.Ref
}

// Suggest writes a policy for the tools of a configuration, to start from: JSON with comments, for its top level. It denies
// nothing. user is the path of the user's own configuration.
func Suggest(screen *tty.Screen, cfg *config.Config, tools []console.Definition, user string) {
	s := &suggestion{cfg: cfg, project: "."}
	if len(cfg.Files) > 0 && cfg.Files[0].Path == user {
		if folder, err := filepath.Abs("."); err == nil { // a relative path would start at the folder of the user's file
			s.project = folder
		}
	}
	for _, one := range tools {
		s.add(one.Ref, one.Tool)
	}
	s.write(screen)
}

// SuggestJSON is Suggest for scripts: an object with the policy alone.
func SuggestJSON(out io.Writer, cfg *config.Config, tools []console.Definition, user string) error {
	var text bytes.Buffer
	text.WriteString("{")
	Suggest(tty.New(&text, nil, func(string) string { return "" }), cfg, tools, user)
	text.WriteString("}")
	plain, err := hujson.Standardize(text.Bytes())
	if err != nil {
		return err
	}
	return tty.WriteJSON(out, json.RawMessage(plain))
}

func (s *suggestion) add(ref toolbox.Ref, tool catalog.Tool) {
	hints := tool.Definition.Member("annotations")
	if tool.HintsDoubted {
		hints = wire.Payload{}
	}
	readOnly, destructive := string(hints.Member("readOnlyHint").Bytes()), string(hints.Member("destructiveHint").Bytes())
	switch {
	case readOnly == "true":
		s.reading++
	case destructive == "true" || readOnly == "false" && destructive != "false":
		s.destructive = append(s.destructive, ref)
	case destructive == "false":
	case seemsToRead(ref.Name):
		s.seemReading = append(s.seemReading, ref)
	default:
		s.silent = append(s.silent, ref)
	}
	if s.isFiles(ref) {
		s.addPaths(ref, tool)
	}
}

// readingWords start the names of tools that read.
var readingWords = []string{
	"browse", "check", "count", "describe", "fetch", "find", "get", "inspect", "list", "lookup", "read", "search", "show", "stat", "status", "tail", "view",
}

// seemsToRead reports whether the first word of a name is one for reading, as in get_user, getUser and get-user.
func seemsToRead(name string) bool {
	end := strings.IndexFunc(name[min(1, len(name)):], func(r rune) bool { return (r < 'a' || r > 'z') })
	word := name
	if end >= 0 {
		word = name[:end+1]
	}
	return slices.Contains(readingWords, strings.ToLower(word))
}

// isFiles reports whether a server handles local files.
func (s *suggestion) isFiles(ref toolbox.Ref) bool {
	for _, box := range s.cfg.Toolboxes {
		for _, server := range box.Servers {
			if box.Name != ref.Toolbox || server.Name != ref.Server || server.URL != "" {
				continue
			}
			words := strings.FieldsFunc(strings.ToLower(strings.Join(append([]string{server.Name, server.Command}, server.Args...), " ")), func(r rune) bool {
				return (r < 'a' || r > 'z') && (r < '0' || r > '9')
			})
			return server.Builtin == "files" || slices.ContainsFunc(words, func(word string) bool {
				return slices.Contains([]string{"file", "files", "filesystem", "fs"}, word)
			})
		}
	}
	return false
}

// pathNames are the names of arguments with paths.
var pathNames = []string{
	"path", "paths", "file", "files", "filename", "file_name", "file_path", "filePath", "filepath", "directory", "dir", "folder", "source", "destination",
}

// addPaths remembers the arguments of a tool that are paths: those that it requires, and those that a call may leave out,
// which does not meet a requirement.
func (s *suggestion) addPaths(ref toolbox.Ref, tool catalog.Tool) {
	schema := tool.Definition.Member("inputSchema")
	var required []string
	for element := range schema.Member("required").Elements() {
		name, _ := element.Text()
		required = append(required, name)
	}
	var always, perhaps []string
	for _, name := range pathNames {
		property := schema.Member("properties").Member(name)
		kind, _ := property.Member("type").Text()
		if kind == "array" {
			kind, _ = property.Member("items").Member("type").Text()
		}
		switch {
		case kind != "string":
		case slices.Contains(required, name):
			always = append(always, name)
		default:
			perhaps = append(perhaps, name)
		}
	}
	s.paths = addTool(s.paths, ref, always)
	s.optional = addTool(s.optional, ref, perhaps)
}

// addTool adds a tool to the group of its server with the same arguments. Without arguments it does nothing.
func addTool(groups []pathTools, ref toolbox.Ref, arguments []string) []pathTools {
	if len(arguments) == 0 {
		return groups
	}
	slices.Sort(arguments)
	place := ref.Toolbox + "/" + ref.Server
	at := slices.IndexFunc(groups, func(p pathTools) bool { return p.place == place && slices.Equal(p.arguments, arguments) })
	if at < 0 {
		at = len(groups)
		groups = append(groups, pathTools{place: place, arguments: arguments})
	}
	groups[at].tools = append(groups[at].tools, ref)
	return groups
}

// lineWriter writes formatted lines.
type lineWriter func(format string, args ...any)

func (s *suggestion) write(screen *tty.Screen) {
	line := lineWriter(func(format string, args ...any) { writeJSONC(screen, fmt.Sprintf(format, args...)) })
	line("// A policy to start from, based on what the tools declare. Review it, and paste it before \"toolboxes\" into")
	line("// %s", s.target())
	if len(s.cfg.Policy.Files) > 0 {
		line("// There already is a policy: copy only the rules that you want.")
	}
	line("\"policy\": {")
	line("  // For tools without a matching 'then' below.")
	line("  \"default\": \"allow\",")
	s.writeClasses(line)
	line("  \"rules\": [")
	s.writeRules(line)
	line("  ],")
	line("},")
}

// writeJSONC writes a line to be pasted. Of what may be broken there are only comments without JSON.
func writeJSONC(screen *tty.Screen, line string) {
	indent, comment, isComment := strings.Cut(line, "// ")
	if !isComment || strings.TrimSpace(indent) != "" || strings.HasPrefix(comment, "{") || strings.HasPrefix(comment, `"`) {
		fmt.Fprintln(screen.Writer, line)
		return
	}
	width, _ := screen.Size()
	if width > 0 {
		width -= len(indent + "// ")
	}
	for _, part := range tty.Wrap(comment, width) {
		fmt.Fprintln(screen.Writer, indent+"// "+part)
	}
}

func (s *suggestion) writeClasses(line lineWriter) {
	if len(s.seemReading) == 0 {
		return
	}
	line("  \"classes\": {")
	line("    // Guesses: %s, but the name suggests reading. Check each", declareNothing(len(s.seemReading)))
	line("    // before you uncomment it. Tools of the class \"reads\" count as read-only.")
	for _, ref := range s.seemReading {
		line("    // %s: \"reads\",", pattern(ref))
	}
	line("  },")
}

func (s *suggestion) writeRules(line lineWriter) {
	line("    // %s to be read-only. Needed if you change the default to \"ask\" or \"deny\".", declare(s.reading))
	line("    {\"hints\": {\"readOnly\": true}, \"then\": \"allow\"},")
	if len(s.destructive) > 0 {
		line("    // %s to be destructive, or not to be read-only.", declare(len(s.destructive)))
		line("    {")
		writeTools(line, s.destructive)
		line("      \"then\": \"ask\", \"because\": \"it may delete or overwrite something\"")
		line("    },")
	}
	if silent := len(s.silent) + len(s.seemReading); silent > 0 {
		line("    // %s, which MCP defines as destructive. To ask about these as well:", declareNothing(silent))
		line("    // {\"hints\": {\"destructive\": true}, \"then\": \"ask\"},")
	}
	for _, group := range s.paths {
		line("    // Server %s: ask about paths outside of the project. \"else\": \"deny\" refuses them.", tty.CleanLine(group.place))
		line("    {")
		writeTools(line, group.tools)
		line("      \"require\": {%s}, \"else\": \"ask\"", s.require(group))
		line("    },")
	}
	for _, group := range s.optional {
		line("    // Server %s: nothing asks about %s, which a call may leave out. This asks about such calls, too:", tty.CleanLine(group.place), strings.Join(group.arguments, ", "))
		var tools []string
		for _, ref := range group.tools {
			tools = append(tools, pattern(ref))
		}
		line("    // {\"tools\": [%s], \"require\": {%s}, \"else\": \"ask\"},", strings.Join(tools, ", "), s.require(group))
	}
}

// require returns the requirements that keep the arguments of a group within the project, in JSON.
func (s *suggestion) require(group pathTools) string {
	var all []string
	for _, name := range group.arguments {
		all = append(all, fmt.Sprintf("%s: {\"within\": [%s]}", literal(name), literal(s.project)))
	}
	return strings.Join(all, ", ")
}

// target names the file that the policy is for.
func (s *suggestion) target() string {
	if len(s.cfg.Files) == 0 {
		return "workbench-config.json"
	}
	return tty.CleanLine(s.cfg.Files[0].Path)
}

func writeTools(line lineWriter, refs []toolbox.Ref) {
	line("      \"tools\": [")
	for _, ref := range refs {
		line("        %s,", pattern(ref))
	}
	line("      ],")
}

func declare(n int) string { return toolbox.Count(n, "tool declares", "tools declare") }

func declareNothing(n int) string { return declare(n) + " nothing" }

// pattern returns the pattern for a single tool, in JSON.
func pattern(ref toolbox.Ref) string {
	escape := strings.NewReplacer(`\`, `\\`, `*`, `\*`)
	return literal(escape.Replace(ref.Toolbox + "/" + ref.Server + "/" + ref.Name))
}

// literal returns a text in JSON as the configuration has it: nothing in it is a variable, and what a terminal would act on, or
// a person would not see, is escaped.
func literal(text string) string {
	return string(tty.EscapeJSON(wire.AppendString(nil, strings.ReplaceAll(text, "${", "$${"))))
}
