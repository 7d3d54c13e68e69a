package config

import (
	"path/filepath"
	"strings"
)

// Sandbox is what a server may do.
type Sandbox struct {
	ReadAll bool
	Read    []string // absolute paths, or SandboxFolder; with ReadAll nil
	Write   []string // likewise

	Network    bool
	Memory     int // of each process, and of all together, in bytes; 0: no limit
	BestEffort bool

	// Bound is the sandbox of the user's own file, if this one is a project's: of the paths, what both allow counts. Everything
	// else was compared already.
	Bound *Sandbox
}

// SandboxFolder stands in a list of paths for the folder in which the server runs.
const SandboxFolder = "cwd"

const minSandboxMemory = 16 << 20 // smallest value of sandbox.memory, in bytes: no program starts with less

var sandboxKey = key{
	name: "sandbox", kinds: []kind{kindBoolean, kindObject}, members: &sandboxObject, example: `{"write": ["~/project"], "network": false}`, fallback: "false",
	description: "Runs servers that have a command with these rights only (Linux): true, or an object with settings; false runs them as you. Where it cannot be had, the server does not start. A server's own value replaces the top-level one, which does not apply to built-in servers.",
}

var sandboxObject = object{isStrict: true, keys: []key{
	{
		name: "read", kinds: []kind{kindString, kindArray}, nonEmpty: true, example: `["~/project"]`, fallback: `"all"`,
		description: "The files and folders that it can read: \"all\", or a list, to which what programs need to run is added: the system's folders, the program and its package, the configured 'cwd'. Paths are relative to the configuration file's folder; a leading ~/ is the home folder; \"cwd\" is the folder in which the server runs.",
	},
	{
		name: "write", kinds: []kind{kindArray}, nonEmpty: true, example: `["~/project", "cwd"]`, fallback: `[]`,
		description: "The files and folders that it can also change, written like those of 'read'. It always has a folder for temporary files and one for what package runners download, which are its own.",
	},
	{
		name: "network", kinds: []kind{kindBoolean}, fallback: "true",
		description: "Whether it can use TCP and UDP. Unix sockets are closed to it in any case.",
	},
	{
		name: "memory", kinds: []kind{kindInteger, kindString}, check: checkSandboxMemory, pattern: sizePattern, example: `"512MiB"`,
		description: "The memory that each of its processes may allocate, in bytes or with a unit such as \"512MiB\"; memory that processes share does not count. As 'limits.memory', it also bounds what they all use together.",
	},
	{
		name: "bestEffort", kinds: []kind{kindBoolean}, fallback: "false",
		description: "true: on a kernel that lacks something, the server starts with what there is, and the log says what is missing.",
	},
}}

func checkSandboxMemory(text string) string {
	if size, ok := parseSize(text); !ok || size < minSandboxMemory {
		return `must be a number of bytes or a size such as "512MiB", from 16MiB`
	}
	return ""
}

// sandbox reads a sandbox; nil if there is none.
func (b *builder) sandbox(n *node, p place) *Sandbox {
	if n == nil || n.kind != kindObject {
		if !n.isTrue() {
			return nil
		}
		return &Sandbox{ReadAll: true, Network: true}
	}
	read := n.get("read")
	s := &Sandbox{
		ReadAll: read == nil || read.kind == kindString, Read: b.sandboxPaths(read, p.member("read")),
		Write: b.sandboxPaths(n.get("write"), p.member("write")), Network: !n.get("network").isFalse(), BestEffort: n.get("bestEffort").isTrue(),
	}
	if read != nil && read.kind == kindString && !read.unresolved && read.text != "all" {
		below := p.member("read")
		b.report.fail(read.offset, below.at, below.describe(`must be "all" or a list of paths`), exampleHint(sandboxObject.key("read")))
	}
	if memory := n.get("memory"); memory != nil {
		s.Memory, _ = parseSize(memory.text) // checked before
	}
	return s
}

// sandboxPaths returns the paths of a list.
func (b *builder) sandboxPaths(n *node, p place) []string {
	if n == nil || n.kind != kindArray {
		return nil
	}
	paths := make([]string, 0, len(n.elements))
	for i := range n.elements {
		element := &n.elements[i]
		switch path := b.file(element, p.element(i)); {
		case element.text == SandboxFolder:
			paths = append(paths, SandboxFolder)
		case path != "" && !strings.ContainsRune(path, 0):
			paths = append(paths, filepath.Clean(path))
		}
	}
	return paths
}

// serverSandbox returns the sandbox of a server. A project's server is bound by the sandbox of the user's own file, whatever its
// own value is.
func (b *builder) serverSandbox(n *node, p place, base *Sandbox) *Sandbox {
	own := n.get("sandbox")
	isOurs, isRemote := n.get("builtin") != nil, n.get("url") != nil
	switch {
	case isRemote, own == nil && isOurs:
		return nil
	case own == nil:
		return base
	}
	below := p.member("sandbox")
	s := b.sandbox(own, below)
	if b.opts.User == nil || b.opts.User.Sandbox == nil || isOurs {
		return s
	}
	if s == nil {
		b.report.warn(own.offset, below.at, below.describe("of a project's file does not count"), "your own "+b.opts.User.Path+" sandboxes all servers; a project can only tighten that")
		return b.opts.User.Sandbox
	}
	return s.boundBy(b.opts.User.Sandbox)
}

// boundBy returns a sandbox that allows what both allow.
func (s *Sandbox) boundBy(user *Sandbox) *Sandbox {
	if user == nil {
		return s
	}
	both := *s
	both.Bound = user
	both.Network = s.Network && user.Network
	both.BestEffort = s.BestEffort && user.BestEffort
	if user.Memory > 0 && (s.Memory == 0 || user.Memory < s.Memory) {
		both.Memory = user.Memory
	}
	return &both
}

// sandboxRules are the rules for the sandbox of a project's file, one for each form that it can have.
func sandboxRules() (rules []projectRule) {
	names := []string{sandboxKey.name}
	for _, name := range sandboxObject.names() {
		names = append(names, sandboxKey.name+"."+name)
	}
	for _, name := range names {
		rules = append(rules, projectRule{
			key: name, counts: "for its own toolboxes: what your sandbox and the project's both allow",
			stricter: func(_, project *Config) bool { return project.Sandbox != nil },
			isSame:   func(user, project *Config) bool { return user.Sandbox == nil && project.Sandbox == nil },
			tighten: func(into, project *Config) {
				if into.Sandbox == nil || into.Sandbox.Bound == nil { // not done yet, with another key of it
					into.Sandbox = project.Sandbox.boundBy(into.Sandbox)
				}
			},
		})
	}
	return rules
}

// assumedSandbox returns the sandbox of a project's servers while the user's own file, which may have one, cannot be read: it
// allows nothing.
func (s *Source) assumedSandbox() *Sandbox {
	if s != nil && !s.mentions(sandboxKey.name) {
		return nil
	}
	return &Sandbox{}
}
