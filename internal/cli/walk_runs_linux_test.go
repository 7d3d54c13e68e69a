package cli

import "regexp"

// withoutJSON are the commands without --json, and why.
var withoutJSON = map[string]string{
	"":             "speaks MCP on stdout",
	"bridge":       "speaks MCP on stdout",
	"record":       "speaks MCP on stdout",
	"replay":       "speaks MCP on stdout",
	"builtin":      "speaks MCP on stdout",
	"try":          "shows a person how a client uses a toolbox",
	"top":          "is refreshed on a terminal; ps --json has the same",
	"schema":       "prints a JSON Schema",
	"completion":   "prints a script for a shell",
	"audit export": "prints lines of JSON in the format of its flag",
	"token":        "prints its help",
	"auth":         "prints its help",
	"secret":       "prints its help",
	"help":         "prints the help of a command",

	"completion bash": "prints a script", "completion zsh": "prints a script", "completion fish": "prints a script", "completion powershell": "prints a script",
}

// notRun are the commands that show nothing to look at but their help and errors, and why.
var notRun = map[string]string{
	"help":            "shows the help of another command",
	"completion":      "shows its help",
	"completion bash": "prints a script", "completion zsh": "prints a script", "completion fish": "prints a script", "completion powershell": "prints a script",
}

// place is where a command runs.
type place int

const (
	steady  place = iota // a home that is only read
	fresh                // a copy for each run
	running              // with a workbench that runs
	ending               // with one of its own, for each run
	empty                // a new user's
)

// walkRun is a run of a command in all terminals, a pipe and with --json.
type walkRun struct {
	args  []string
	where place
	keys  string // typed in terminals
	input string // in a pipe
	fails bool
	says  string // in a pipe

	asItIs  *regexp.Regexp // lines that are shown as they are, whatever their width
	drops   bool           // columns with names other than the first may go
	noJSON  string         // why it is not run with --json, or that ends differently
	isQuiet bool           // in a pipe
}

var (
	diffLine   = regexp.MustCompile(`^\s*[-+@\\]|^ \s*["{}\]]`) // what is written to a file
	jsonLine   = regexp.MustCompile(`^\s*(// )?[{}"\]]`)        // JSON to paste
	pasteLine  = regexp.MustCompile(`^  \s*[{"]|^  claude `)    // into the file or the shell of another program
	metricLine = regexp.MustCompile(`^(# )?[a-zA-Z]`)
	logLine    = regexp.MustCompile(`^\d\d:\d\d:\d\d `) // what a server or the workbench wrote
)

// walkRuns are the runs of all commands.
var walkRuns = map[string][]walkRun{
	"": {{keys: "\x04", isQuiet: true}, {args: []string{"lst"}, fails: true, says: "did you mean 'list'"}, {args: []string{"--toolbox", "dve"}, fails: true}},
	"init": {
		{args: []string{"--dry-run"}, asItIs: diffLine},
		{args: []string{"--yes"}, where: fresh, asItIs: diffLine},
		{args: []string{"--yes", "--output", "new.json"}, where: fresh, asItIs: diffLine},
		{args: []string{"--dry-run"}, where: empty},
		{args: []string{"--from", "curser"}, fails: true, says: "Did you mean"},
		{args: []string{"--from", "no/such/file.json"}, fails: true},
		{args: []string{"--output", "new.json"}, where: fresh, keys: "\x04", fails: true, noJSON: "asks"},
	},
	"doctor":     {{fails: true}, {args: []string{"files"}}, {args: []string{"fles"}, fails: true, says: "Did you mean 'files'"}, {where: empty}},
	"connect":    {{}, {args: []string{"cursor", "--dry-run"}, asItIs: diffLine}, {args: []string{"claude-code", "codex", "--yes"}, where: fresh, asItIs: diffLine}, {args: []string{"--all", "--shared", "--dry-run"}, asItIs: diffLine}, {args: []string{"curser"}, fails: true, says: "Did you mean 'cursor'"}, {args: []string{"cursor", "--undo"}, where: empty, fails: true}},
	"disconnect": {{args: []string{"cursor", "--dry-run"}, asItIs: diffLine}, {args: []string{"--all", "--yes"}, where: fresh, asItIs: diffLine}, {args: []string{"curser"}, fails: true, says: "Did you mean 'cursor'"}},
	"try":        {{args: []string{"dev"}}, {args: []string{"dve"}, fails: true, says: "Did you mean 'dev'"}},
	"list":       {{}, {where: empty}, {args: []string{"--config", "wrong.json"}}, {args: []string{"--config", "no/such/file.json"}, fails: true}},
	"describe":   {{args: []string{"dev", longText}, where: fresh}, {args: []string{"工具箱", "text", "--dry-run"}, asItIs: diffLine}, {args: []string{"dve", "x"}, fails: true, says: "Did you mean 'dev'"}},
	"add": {
		{args: []string{"new", "--toolbox", "dev", "--", "npx", "-y", "something"}, where: fresh, asItIs: diffLine},
		{args: []string{"new", "--toolbox", "dev", "--dry-run", "http://127.0.0.1:9/mcp"}, asItIs: diffLine},
		{args: []string{"new", "--", "npx"}, fails: true},
		{args: []string{"files", "--toolbox", "dev", "--", "npx"}, fails: true},
	},
	"remove":   {{args: []string{"files", "--dry-run"}, asItIs: diffLine}, {args: []string{"files", "--yes"}, where: fresh, asItIs: diffLine}, {args: []string{"fles"}, fails: true, says: "Did you mean 'files'"}, {args: []string{"web"}, fails: true, says: "工具箱/web"}},
	"move":     {{args: []string{"files", "工具箱", "--dry-run"}, asItIs: diffLine}, {args: []string{"files", "new"}, where: fresh, asItIs: diffLine}, {args: []string{"fles", "new"}, fails: true, says: "Did you mean 'files'"}},
	"enable":   {{args: []string{"dev/web"}, where: fresh, asItIs: diffLine}, {args: []string{"fles"}, fails: true, says: "Did you mean 'files'"}},
	"disable":  {{args: []string{"files", "--dry-run"}, asItIs: diffLine}, {args: []string{longServer}, where: fresh, asItIs: diffLine}, {args: []string{"fles"}, fails: true, says: "Did you mean 'files'"}},
	"rename":   {{args: []string{"files", longServer + "-2"}, where: fresh, asItIs: diffLine}, {args: []string{"fles", "x"}, fails: true, says: "Did you mean 'files'"}},
	"login":    {{args: []string{"remote"}, fails: true}, {args: []string{"files"}, fails: true}, {args: []string{"remoet"}, fails: true, says: "Did you mean 'remote'"}},
	"logout":   {{args: []string{"remote"}}, {args: []string{"remoet"}, fails: true, says: "Did you mean 'remote'"}},
	"auth":     {{}},
	"validate": {{}, {where: empty}, {args: []string{"wrong.json"}, fails: true}, {args: []string{"no/such/file.json"}, fails: true}, {args: []string{"project/workbench-config.json"}}},
	"schema":   {{asItIs: jsonLine}},
	"trust": {
		{args: []string{"--list"}},
		{args: []string{"--list"}, where: empty},
		{args: []string{"wrong.json"}, fails: true, noJSON: "is the review"},
		{args: []string{"project/workbench-config.json"}, fails: true, noJSON: "is the review"},
		{args: []string{"project/workbench-config.json", "--yes"}, where: fresh},
		{args: []string{"no/such/file.json"}, fails: true},
		{args: []string{"--revoke", "files.json"}, fails: true},
	},
	"lock":           {{where: fresh, fails: true}, {args: []string{"--accept", "dev/fles"}, where: fresh, fails: true}, {where: empty, fails: true}},
	"policy":         {{}, {where: empty}},
	"policy explain": {{args: []string{longTool}}, {args: []string{"dev/files/delete_everything"}}, {args: []string{"dev/files/delete_everythin"}, fails: true, says: "Did you mean"}},
	"policy test":    {{args: []string{"cases.json"}, fails: true}, {args: []string{"no/such/file.json"}, fails: true}},
	"policy suggest": {{asItIs: jsonLine}},
	"policy accept":  {{}, {args: []string{"fles"}, fails: true}},
	"tools":          {{}, {args: []string{longServer}}, {args: []string{"fles"}, fails: true, says: "Did you mean 'files'"}},
	"show": {
		{args: []string{"工具箱/文件服务器"}},
		{args: []string{longTool}},
		{args: []string{"files"}},
		{args: []string{"dev"}},
		{args: []string{"broken"}, fails: true},
		{args: []string{"fles"}, fails: true, says: "Did you mean 'files'"},
		{args: []string{"dev/files/delete_everythin"}, fails: true, says: "Did you mean"},
		{args: []string{"delete_everything"}, fails: true, says: longServer},
	},
	"find":   {{args: []string{"read", "folder"}}, {args: []string{"xylophone"}}},
	"call":   {{args: []string{longTool}}, {args: []string{longTool, "pth=x"}}, {args: []string{"dev/files/delete_everythin"}, fails: true, says: "Did you mean"}, {args: []string{"fles/delete_everything"}, fails: true, says: "Did you mean"}, {args: []string{"broken/x"}, fails: true}},
	"tokens": {{}, {args: []string{"dev"}}, {args: []string{"dve"}, fails: true, says: "Did you mean 'dev'"}},

	"ps":      {{fails: true, noJSON: "is an empty list"}, {where: running}},
	"ui":      {{args: []string{"--port", "70000"}, fails: true}, {args: []string{"--pid", "1"}, fails: true}, {args: []string{"--assets", "no/such/folder"}, fails: true}},
	"top":     {{where: running, keys: "q", fails: true, noJSON: "none"}},
	"changes": {{fails: true, noJSON: "is an empty list"}, {where: running}, {where: running, args: []string{"nosuch"}, fails: true}, {where: running, args: []string{"--accept", "nosuch"}, fails: true}},
	"approve": {{where: running, keys: "\x04", fails: true, noJSON: "asks"}, {where: running, args: []string{"nosuch", "no"}, keys: "\x04", fails: true, noJSON: "answers"}},
	"cancel":  {{fails: true, noJSON: "is an empty list"}, {where: running}, {where: running, args: []string{"nosuch"}, fails: true}},
	"logs": {
		{fails: true},
		{where: running, asItIs: logLine},
		{where: running, args: []string{"files"}, asItIs: logLine},
		{where: running, args: []string{"broken"}, asItIs: logLine},
		{where: running, args: []string{longServer}, asItIs: logLine},
		{where: running, args: []string{"文件服务器"}, asItIs: logLine},
		{where: running, args: []string{"fles"}, fails: true, says: "Did you mean 'files'"},
	},
	"restart": {{fails: true, args: []string{"files"}}, {where: running, args: []string{"files"}}, {where: running, args: []string{"broken"}, fails: true}, {where: running, args: []string{"fles"}, fails: true, says: "Did you mean 'files'"}},
	"stop":    {{fails: true}, {where: ending}, {where: running, args: []string{"--pid", "1"}, fails: true}},
	"history": {{fails: true, noJSON: "is no line"}, {where: running, drops: true}, {where: running, args: []string{"--errors"}, drops: true}, {where: running, args: []string{"--slow", "1h"}}},
	"metrics": {{fails: true}, {where: running, asItIs: metricLine}},

	"audit":         {{}, {where: empty}},
	"audit verify":  {{}, {where: empty, fails: true}, {args: []string{"no/such/folder"}, fails: true}},
	"audit export":  {{args: []string{"--format", "ocsf"}, asItIs: jsonLine}, {args: []string{"--format", "ocfs"}, fails: true}, {args: []string{"no/such/folder"}, fails: true}},
	"auth status":   {{}, {where: empty}},
	"serve":         {{args: []string{"--check"}}, {args: []string{"--check", "--listen", "0.0.0.0:0", "--no-auth"}, fails: true}, {args: []string{"--check", "--toolbox", "dve"}, fails: true}, {args: []string{"--listen", "0.0.0.0:0", "--no-auth"}, fails: true}, {args: []string{"--toolbox", "dve"}, fails: true}},
	"token":         {{}},
	"token add":     {{args: []string{"laptop"}, where: fresh, asItIs: pasteLine}, {args: []string{"laptop", "--toolbox", "dve"}, fails: true, says: "Did you mean"}, {args: []string{"a-token-with-quite-a-long-name"}, fails: true}},
	"token list":    {{}, {where: empty}},
	"token remove":  {{args: []string{"a-token-with-quite-a-long-name"}, where: fresh}, {args: []string{"a-token-with-quite-a-long-nam"}, fails: true}},
	"secret":        {{}},
	"secret set":    {{args: []string{"github-token"}, keys: "hunter2\r", input: "hunter2\n", fails: true, says: "keyring", noJSON: "asks"}, {args: []string{"logins"}, fails: true}, {args: []string{"x", "--from-file", "no/such/file"}, fails: true}},
	"secret list":   {{}, {where: empty}},
	"secret remove": {{args: []string{"github-token"}, fails: true}},
	"bridge":        {{args: []string{"http://127.0.0.1:9/mcp"}, keys: "\x04", isQuiet: true}, {args: []string{"no/such/socket"}, fails: true}},
	"builtin":       {{args: []string{"nosuch"}, fails: true}},
	"record":        {{args: []string{"new.jsonl", "fles"}, fails: true, says: "Did you mean 'files'"}, {args: []string{"session.jsonl"}, fails: true}},
	"replay":        {{args: []string{"session.jsonl"}, keys: "\x04"}, {args: []string{"no/such/file.jsonl"}, fails: true}, {args: []string{"files.json"}, fails: true}},
	"explain":       {{}, {args: []string{"reference-not-found"}}, {args: []string{"no-such-code"}, fails: true}},
	"version":       {{}},
	"uninstall":     {{args: []string{"--dry-run"}}, {args: []string{"--dry-run"}, where: empty}, {args: []string{"--yes"}, where: empty}, {args: []string{"--keep", "secrts"}, fails: true}},
}
