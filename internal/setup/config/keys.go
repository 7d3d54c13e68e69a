package config

import "github.com/mcp-workbench/mcp-workbench/internal/servers/builtin"

// object describes an object whose keys are fixed. These descriptions are the
// one place that knows the file's keys: checking, the hints for mistyped keys
// and the JSON Schema are all made from them.
type object struct {
	keys  []key
	oneOf []string // exactly one of these keys must be there

	isStrict bool // an unknown key is an error, not a warning
}

// key describes one key of an object.
type key struct {
	name        string
	description string
	kinds       []kind
	required    string // for a key that must be there: how its absence is put into words
	example     string // in JSON; shown when the value is wrong
	fallback    string // in JSON; what holds when the key is absent

	// Of strings, and of the strings in an array.
	enum     []string
	nonEmpty bool
	pattern  string                   // for editors; check decides
	check    func(text string) string // says what is wrong, as in "must be …"

	// Of objects: either fixed keys or entries whose names are the user's. Of an array with members, they are those of
	// its elements, which are objects then.
	members *object
	noun    string // what such an element is called in messages
	entries *entries
}

// entries describes an object whose keys are names.
type entries struct {
	noun       string                   // what an entry is called in messages
	object     *object                  // nil if the entries are strings
	checkName  func(name string) string // says what is wrong
	checkValue func(text string) string // for entries that are strings; may be nil
	foldCase   bool                     // names that differ only in case are the same
}

func (o *object) key(name string) *key {
	for i := range o.keys {
		if o.keys[i].name == name {
			return &o.keys[i]
		}
	}
	return nil
}

func (o *object) names() []string {
	names := make([]string, len(o.keys))
	for i, k := range o.keys {
		names[i] = k.name
	}
	return names
}

var (
	timeoutsKey = key{
		name: "timeouts", kinds: []kind{kindObject}, members: &timeoutsObject, example: `{"call": "10m"}`,
		description: "How long things may take. A server's own value wins over its toolbox's, and that over the one at the top.",
	}
	inheritEnvKey = key{
		name: "inheritEnv", kinds: []kind{kindBoolean, kindArray}, nonEmpty: true, example: `["AWS_*"]`, fallback: "false",
		description: "Which variables of the workbench's environment a server gets beyond the usual few (PATH, HOME, LANG and the like): true for all, or a list of patterns such as \"AWS_*\". A server's own value wins over its toolbox's, and that over the one at the top.",
	}
)

var timeoutsObject = object{keys: []key{
	{
		name: "connect", kinds: []kind{kindString}, check: checkPositiveDuration, pattern: durationPattern, example: `"30s"`, fallback: `"30s"`,
		description: "How long a server may take to start and to answer its first request.",
	},
	{
		name: "call", kinds: []kind{kindString}, check: checkPositiveDuration, pattern: durationPattern, example: `"5m"`, fallback: `"5m"`,
		description: "How long a tool call may go on without a sign of life. Progress extends it.",
	},
	{
		name: "idle", kinds: []kind{kindString}, check: checkDuration, pattern: durationPattern, example: `"15m"`,
		description: "After how long without a call a server is stopped; \"0\" means never. It starts again when it is needed. A server that was called by a client which is still there is not stopped, since it may hold state for it. The default is \"30m\" under 'serve' and for a shared workbench, otherwise never.",
	},
}}

var rootObject = object{keys: []key{
	{
		name: "$schema", kinds: []kind{kindString}, example: `"./workbench.schema.json"`,
		description: "The address of this schema, for editors.",
	},
	{
		name: "toolMode", kinds: []kind{kindString}, enum: []string{string(Proxy), string(Dynamic), string(Direct)}, fallback: `"proxy"`,
		description: "How tools are shown: \"proxy\" through open_toolbox and use_tool, \"dynamic\" also natively once a toolbox is open, \"direct\" natively and all at once.",
	},
	{
		name: "logLevel", kinds: []kind{kindString}, enum: []string{"debug", "info", "warn", "error"}, fallback: `"warn"`,
		description: "The least important messages that are logged.",
	},
	{
		name: "maxMessageSize", kinds: []kind{kindInteger, kindString}, check: checkSize, pattern: sizePattern, example: `"64MiB"`, fallback: `"64MiB"`,
		description: "The longest message that is passed on, in bytes or with a unit such as \"64MiB\"; from 1KiB to 1GiB.",
	},
	autoOpenKey,
	openDetailKey,
	searchKey,
	resultsKey,
	pinnedKey,
	timeoutsKey,
	inheritEnvKey,
	{
		name: "lists", kinds: []kind{kindString}, enum: []string{"visible", "opened"}, fallback: `"visible"`,
		description: "Whose prompts, resources and templates clients see: those of all \"visible\" toolboxes, as far as they are known, or of \"opened\" ones only. Listing them starts no server.",
	},
	{
		name: "prefetch", kinds: []kind{kindBoolean}, fallback: "false",
		description: "Starts servers that were never seen once in the background, so that what they offer is known before they are needed.",
	},
	{
		name: "locked", kinds: []kind{kindBoolean}, fallback: "false",
		description: "Offers only tools and instructions of servers that are as workbench.lock has them, which 'mcp-workbench lock' writes.",
	},
	policyKey,
	sharedKey,
	sharedIdleKey,
	httpKey,
	{
		name: "toolboxes", kinds: []kind{kindObject}, required: "must have a 'toolboxes' object",
		example:     `{"dev": {"description": "Development tools", "mcpServers": {}}}`,
		entries:     &entries{noun: "Toolbox", object: &toolboxObject, checkName: checkEntryName},
		description: "The toolboxes by name, in the order in which they are shown.",
	},
}}

var toolboxObject = object{keys: []key{
	{
		name: "description", kinds: []kind{kindString}, example: `"The project's files, issues and builds"`,
		description: "What the toolbox is for. A model reads it to decide whether to open the toolbox.",
	},
	{
		name: "mcpServers", kinds: []kind{kindObject}, required: "must have an 'mcpServers' object",
		example:     `{"files": {"builtin": "files"}}`,
		entries:     &entries{noun: "Server", object: &serverObject, checkName: checkEntryName},
		description: "The toolbox's servers by name, in the form that MCP clients use.",
	},
	timeoutsKey,
	inheritEnvKey,
}}

var transports = []string{"stdio", "http", "sse", "streamable-http"}

var serverObject = object{oneOf: []string{"command", "url", "builtin"}, keys: []key{
	{
		name: "command", kinds: []kind{kindString}, nonEmpty: true, example: `"npx"`,
		description: "The program to run as the server. No shell is involved; a leading ~/ is the home folder.",
	},
	{
		name: "args", kinds: []kind{kindArray}, example: `["-y", "some-server"]`,
		description: "The program's arguments.",
	},
	{
		name: "env", kinds: []kind{kindObject}, example: `{"NAME": "value"}`,
		entries:     &entries{noun: "Variable", checkName: checkVariableName},
		description: "Environment variables for the program.",
	},
	{
		name: "cwd", kinds: []kind{kindString}, nonEmpty: true, example: `"."`,
		description: "The folder to run the program in, from the configuration file's folder; a leading ~/ is the home folder. Without it, the workbench's own.",
	},
	{
		name: "url", kinds: []kind{kindString}, nonEmpty: true, check: checkURL, example: `"https://example.com/mcp"`,
		description: "The address of a remote server.",
	},
	{
		name: "headers", kinds: []kind{kindObject}, example: `{"Authorization": "Bearer ${TOKEN}"}`,
		entries:     &entries{noun: "Header", checkName: checkHeaderName, checkValue: checkHeaderValue, foldCase: true},
		description: "HTTP headers for a remote server.",
	},
	{
		name: "builtin", kinds: []kind{kindString}, enum: builtin.Names(),
		description: "One of the servers that are part of the workbench.",
	},
	{
		name: "transport", kinds: []kind{kindString}, enum: transports,
		description: "How to speak to the server; by default stdio for a command and http for a url.",
	},
	{
		name: "type", kinds: []kind{kindString}, enum: transports,
		description: "Another name for transport.",
	},
	{
		name: "toolFilters", kinds: []kind{kindArray}, nonEmpty: true, example: `["read_file"]`, fallback: `["*"]`,
		description: "The tools to offer, by exact name. With \"*\" among them all are offered, and with an empty list none.",
	},
	timeoutsKey,
	inheritEnvKey,
	{
		name: "disabled", kinds: []kind{kindBoolean}, fallback: "false",
		description: "Leaves the server out. Its variables need not be set.",
	},
	{
		name: "keepDetached", kinds: []kind{kindBoolean}, fallback: "false",
		description: "Lets processes that detach themselves from the server, such as a browser it opened, live on after it.",
	},
}}
