package config

import "github.com/mcp-workbench/mcp-workbench/internal/servers/builtin"

// object describes an object with fixed keys. These descriptions are the only definition of the file's keys: checks, hints
// for mistyped keys, the JSON Schema and the reference page are generated from them.
type object struct {
	keys  []key
	oneOf []string // exactly one of these keys is required

	isStrict bool // an unknown key is an error, not a warning
}

// key describes one key of an object.
type key struct {
	name        string
	description string
	kinds       []kind
	required    string // for a required key: the message if it is absent
	example     string // in JSON; shown when the value is wrong
	fallback    string // in JSON; the default

	// For strings, and for strings in an array.
	enum     []string
	nonEmpty bool
	pattern  string                   // for editors; check is decisive
	check    func(text string) string // returns the mistake, as in "must be …"

	scalars bool // elements of the array may be any scalars
	decimal bool // the number may have decimals

	// For objects: fixed keys, or entries with user-defined names. An array with members has objects as elements.
	members *object
	noun    string // for such an element in messages
	entries *entries
	free    bool // the object may hold anything
}

// entries describes an object whose keys are user-defined names.
type entries struct {
	noun       string                   // for an entry in messages
	object     *object                  // nil if the entries are strings
	lists      bool                     // the entries are lists of strings
	checkName  func(name string) string // returns the mistake
	checkValue func(text string) string // for entries that are strings; may be nil
	foldCase   bool                     // names are case-insensitive
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
		description: "Time limits. A server's own value overrides its toolbox's, which overrides the top-level one.",
	}
	inheritEnvKey = key{
		name: "inheritEnv", kinds: []kind{kindBoolean, kindArray}, nonEmpty: true, example: `["AWS_*"]`, fallback: "false",
		description: "The environment variables that a server inherits from the workbench, in addition to the usual few (PATH, HOME, LANG and the like): true for all, or a list of patterns such as \"AWS_*\". A server's own value overrides its toolbox's, which overrides the top-level one.",
	}
)

var timeoutsObject = object{keys: []key{
	{
		name: "connect", kinds: []kind{kindString}, check: checkPositiveDuration, pattern: durationPattern, example: `"30s"`, fallback: `"30s"`,
		description: "How long a server may take to start and to answer its first request.",
	},
	{
		name: "call", kinds: []kind{kindString}, check: checkPositiveDuration, pattern: durationPattern, example: `"5m"`, fallback: `"5m"`,
		description: "How long a tool call may run without a sign of life. Progress notifications extend it.",
	},
	{
		name: "idle", kinds: []kind{kindString}, check: checkDuration, pattern: durationPattern, example: `"15m"`,
		description: "How long a server may be idle before it is stopped; \"0\" means never. It restarts when it is needed. A server that a still connected client has called keeps running, since it may hold state for that client. The default is \"30m\" under 'serve' and for a shared workbench, otherwise never.",
	},
}}

var rootObject = object{keys: []key{
	{
		name: "$schema", kinds: []kind{kindString}, example: `"./workbench.schema.json"`,
		description: "The path or URL of this schema, for editors.",
	},
	{
		name: "toolMode", kinds: []kind{kindString}, enum: []string{string(Proxy), string(Dynamic), string(Direct)}, fallback: `"proxy"`,
		description: "How clients see the tools: \"proxy\" through open_toolbox and use_tool, \"dynamic\" also as native tools once a toolbox is open, \"direct\" only as native tools, all at once.",
	},
	{
		name: "logLevel", kinds: []kind{kindString}, enum: []string{"debug", "info", "warn", "error"}, fallback: `"warn"`,
		description: "The lowest level of messages that are logged.",
	},
	{
		name: "maxMessageSize", kinds: []kind{kindInteger, kindString}, check: checkSize, pattern: sizePattern, example: `"64MiB"`, fallback: `"64MiB"`,
		description: "The maximum size of a forwarded message, in bytes or with a unit such as \"64MiB\"; from 1KiB to 1GiB.",
	},
	autoOpenKey,
	openDetailKey,
	searchKey,
	readToolKey,
	resultsKey,
	pinnedKey,
	timeoutsKey,
	inheritEnvKey,
	sandboxKey,
	{
		name: "lists", kinds: []kind{kindString}, enum: []string{"visible", "opened"}, fallback: `"visible"`,
		description: "Which prompts, resources and templates clients see: those of all \"visible\" toolboxes that are in the cache, or of \"opened\" toolboxes only. Listing them does not start servers.",
	},
	{
		name: "prefetch", kinds: []kind{kindBoolean}, fallback: "false",
		description: "Starts servers that are not in the cache once in the background, so that their tools are known before they are needed.",
	},
	{
		name: "locked", kinds: []kind{kindBoolean}, fallback: "false",
		description: "Offers only tools and instructions of servers that match workbench.lock, the file that 'mcp-workbench lock' writes.",
	},
	policyKey,
	elicitationKey,
	sharedKey,
	sharedIdleKey,
	httpKey,
	credentialsKey,
	historyKey,
	auditKey,
	{
		name: "toolboxes", kinds: []kind{kindObject}, required: "must have a 'toolboxes' object",
		example:     `{"dev": {"description": "Development tools", "mcpServers": {}}}`,
		entries:     &entries{noun: "Toolbox", object: &toolboxObject, checkName: checkEntryName},
		description: "The toolboxes by name, in display order.",
	},
}}

var toolboxObject = object{keys: []key{
	{
		name: "description", kinds: []kind{kindString}, example: `"The project's files, issues and builds"`,
		description: "The purpose of the toolbox. Models read it to decide whether to open the toolbox.",
	},
	{
		name: "mcpServers", kinds: []kind{kindObject}, required: "must have an 'mcpServers' object",
		example:     `{"files": {"builtin": "files"}}`,
		entries:     &entries{noun: "Server", object: &serverObject, checkName: checkEntryName},
		description: "The toolbox's servers by name, in the format of MCP clients.",
	},
	timeoutsKey,
	inheritEnvKey,
}}

var transports = []string{"stdio", "http", "sse", "streamable-http"}

var serverObject = object{oneOf: []string{"command", "url", "builtin"}, keys: []key{
	{
		name: "command", kinds: []kind{kindString}, nonEmpty: true, example: `"npx"`,
		description: "The program to run as the server, without a shell; a leading ~/ is the home folder.",
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
		description: "The working folder of the program, relative to the configuration file's folder; a leading ~/ is the home folder. The default is the workbench's own working folder.",
	},
	{
		name: "url", kinds: []kind{kindString}, nonEmpty: true, check: checkURL, example: `"https://example.com/mcp"`,
		description: "The URL of a remote server.",
	},
	{
		name: "headers", kinds: []kind{kindObject}, example: `{"Authorization": "Bearer ${TOKEN}"}`,
		entries:     &entries{noun: "Header", checkName: checkHeaderName, checkValue: checkHeaderValue, foldCase: true},
		description: "HTTP headers for a remote server.",
	},
	oauthKey,
	{
		name: "builtin", kinds: []kind{kindString}, enum: builtin.Names(),
		description: "One of the workbench's built-in servers.",
	},
	{
		name: "transport", kinds: []kind{kindString}, enum: transports,
		description: "The transport of the server. The default is stdio for a command and http for a url.",
	},
	{
		name: "type", kinds: []kind{kindString}, enum: transports,
		description: "A synonym of transport.",
	},
	{
		name: "toolFilters", kinds: []kind{kindArray}, nonEmpty: true, example: `["read_file"]`, fallback: `["*"]`,
		description: "The tools to offer, by exact name. A list with \"*\" offers all tools, an empty list none.",
	},
	timeoutsKey,
	inheritEnvKey,
	sandboxKey,
	{
		name: "limits", kinds: []kind{kindObject}, members: &serverLimitsObject, example: `{"memory": "512MiB"}`,
		description: "What the server may use.",
	},
	{
		name: "trustHints", kinds: []kind{kindBoolean}, fallback: "true",
		description: "false: what the server says of its own tools, such as that one only reads, does not count for the policy and read_tool.",
	},
	{
		name: "disabled", kinds: []kind{kindBoolean}, fallback: "false",
		description: "Disables the server. Its variables may be unset.",
	},
	{
		name: "instances", kinds: []kind{kindString}, enum: []string{InstancesShared, InstancesPerPerson, InstancesPerClient},
		description: "For whom the server runs: \"shared\" for all clients that declare the same, \"per-person\" for the clients of one person that declare the same, \"per-client\" for each client alone. The default is \"per-person\" with 'http.oauth', otherwise \"shared\".",
	},
	{
		name: "keepDetached", kinds: []kind{kindBoolean}, fallback: "false",
		description: "Keeps processes that detach themselves from the server, such as a browser it opened, running after the server has stopped.",
	},
}}
