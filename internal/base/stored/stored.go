// Package stored is the list of everything that the workbench stores on a machine: where, for how long, and in which format. It
// refuses files of newer formats, and finds what is there.
package stored

// Place is a folder of this user, or something else that stores.
type Place string

// The places.
const (
	State   Place = "STATE"   // $XDG_STATE_HOME/mcp-workbench
	Config  Place = "CONFIG"  // $XDG_CONFIG_HOME/mcp-workbench
	Data    Place = "DATA"    // $XDG_DATA_HOME/mcp-workbench
	Runtime Place = "RUNTIME" // $XDG_RUNTIME_DIR/mcp-workbench
	Keyring Place = "KEYRING" // of the system
	Project Place = "PROJECT" // the folder of a configuration, or a file that the user names
)

// Group is what a person decides about at once.
type Group string

// The groups, in the order in which they are removed.
const (
	Credentials Group = "credentials"
	Records     Group = "records"
	Caches      Group = "caches"
	Notes       Group = "notes"
	Settings    Group = "configuration"
	Foreign     Group = "" // the user's own: never removed
)

// Kind is one kind of file.
type Kind struct {
	Name  string // what it is, in words
	Place Place
	// Patterns match its files in the place, the main one first. Others are locks and temporary files.
	Patterns []string
	Format   int // the newest that is known; 0: it has none, since only people or the system read it
	Group    Group
	Kept     string // for how long
	Folders  bool   // they are folders, with whatever is in them

	header string // of a key's file
}

// The kinds whose formats are checked.
var (
	Trust = &Kind{
		Name: "which project configurations you trust", Place: State, Patterns: []string{"trust/*.json", "trust/.new-*"}, Format: 1,
		Group: Records, Kept: "until `trust --revoke`",
	}
	Tokens = &Kind{
		Name: "hashes of the tokens of HTTP clients, their names and rights", Place: State,
		Patterns: []string{"tokens.json", "tokens.json.lock", ".tokens-*"}, Format: 1, Group: Credentials, Kept: "until `token remove`",
	}
	Logins = &Kind{
		Name: "logins of remote servers: access and refresh tokens, encrypted if `credentials.seal` is set", Place: State,
		Patterns: []string{"logins/*.json", "logins/*.lock", "logins/.*.tmp"}, Format: 1, Group: Credentials, Kept: "until `logout`",
	}
	Secrets = &Kind{
		Name: "names of the secrets that `secret set` keeps in the system's keyring; no values", Place: State,
		Patterns: []string{"secrets.json", "secrets.json.lock", ".secrets-*"}, Format: 1, Group: Credentials, Kept: "until `secret remove`",
	}
	HopsKey = &Kind{
		Name: "a random key by which workbenches recognize themselves in a loop", Place: State, Patterns: []string{"hops.key"},
		Format: 2, Group: Credentials, Kept: "for good", header: "hops key",
	}
	AuditKey = &Kind{
		Name: "random keys that seal the audit log and hash arguments in it", Place: State,
		Patterns: []string{"audit-*.key", "audit-*.key.lock", ".audit-key-*"}, Format: 2, Group: Records, Kept: "for good", header: "audit key",
	}
	Audit = &Kind{
		Name: "the audit log, if `audit` is on", Place: State,
		Patterns: []string{"audit/audit-*.jsonl", "audit/.lock", "audit/writers/*"}, Format: 1, Group: Records, Kept: "for `audit.keep`; without it for good",
	}
	History = &Kind{
		Name: "the last calls, if `history.keep` is set: names and durations, no arguments or results", Place: State,
		Patterns: []string{"history/*.jsonl"}, Format: 1, Group: Records, Kept: "for `history.keep`, at most 256 MiB",
	}
	Calls = &Kind{
		Name: "counts of calls for the limits of the policy", Place: State, Patterns: []string{"calls.json", "calls.json.lock", ".calls-*"},
		Format: 1, Group: Records, Kept: "for the period of the limit",
	}
	Backups = &Kind{
		Name: "files of clients before and after each change by `connect`, for `--undo`; may contain secrets", Place: State,
		Patterns: []string{"clients/*.json", "clients/*.backup", "clients/*.written", "clients/.backup-*"}, Format: 1,
		Group: Records, Kept: "the last 20 changes of each client, and every one that is the only copy of a server",
	}
	Definitions = &Kind{
		Name: "which definition each tool had last, to notice a change", Place: State, Patterns: []string{"definitions/*.json", "definitions/*.new"},
		Format: 2, Group: Caches, Kept: "of the last 1,000 servers, at most 256 MiB",
	}
	Changes = &Kind{
		Name: "the accepted definitions of tools that changed", Place: State, Patterns: []string{"definitions/*.changes"},
		Format: 1, Group: Records, Kept: "of the last 1,000 servers, at most 256 MiB",
	}
	Hints = &Kind{
		Name: "the hints of tools, and which of them you accepted", Place: State, Patterns: []string{"definitions/*.hints"},
		Format: 1, Group: Records, Kept: "of the last 1,000 servers",
	}
	Tools = &Kind{
		Name: "what each server offered last: tools", Place: State, Patterns: []string{"definitions/*.tools"},
		Format: 1, Group: Caches, Kept: "of the last 1,000 servers, at most 256 MiB",
	}
	Lists = &Kind{
		Name: "what each server offered last: resources, prompts, skills", Place: State, Patterns: []string{"definitions/*.lists"},
		Format: 1, Group: Caches, Kept: "of the last 1,000 servers, at most 256 MiB",
	}
	Notebook = &Kind{
		Name: "the notes of the built-in server `notes`", Place: Data, Patterns: []string{"notes.json", "notes.json.lock", "notes-*.json", "notes-*.json.lock", ".notes-*.tmp"},
		Format: 1, Group: Notes, Kept: "until they are forgotten",
	}
	Lock = &Kind{
		Name: "`workbench.lock`: the approved tool definitions", Place: Project, Patterns: []string{"workbench.lock"},
		Format: 2, Group: Foreign, Kept: "yours, beside the configuration",
	}
	ServerRecordings = &Kind{
		Name: "recordings of servers of running workbenches: messages with arguments and results, secrets masked", Place: State, Patterns: []string{"recordings/*.jsonl"},
		Format: 1, Group: Records, Kept: "the last 100, at most 512 MiB",
	}
	Recording = &Kind{
		Name: "recordings that you make with `record FILE`, without secrets", Place: Project, Patterns: []string{"FILE"},
		Format: 1, Group: Foreign, Kept: "yours",
	}
)

// Kinds returns all kinds, by group.
func Kinds() []*Kind {
	return []*Kind{
		Logins, Tokens, Secrets, HopsKey,
		{
			Name: "the key that logins are encrypted with, if `credentials.seal` is `keyring`", Place: Keyring, Patterns: []string{"mcp-workbench/logins"},
			Group: Credentials, Kept: "for good",
		},
		{
			Name: "secrets of `secret set`, which a configuration names by `${keyring:NAME}`", Place: Keyring, Patterns: []string{"mcp-workbench/NAME"},
			Group: Credentials, Kept: "until `secret remove`",
		},
		Trust, Hints, Changes, Calls, History, ServerRecordings, Audit, AuditKey, Backups,
		Definitions, Tools, Lists,
		{
			Name: "logs of shared workbenches: what they did, without secrets", Place: State, Patterns: []string{"logs/daemon-*.log", "logs/daemon-*.log.1"},
			Group: Caches, Kept: "14 days, 2 MiB each",
		},
		{
			Name: "which workbenches run, to end what is left of one that was killed", Place: State, Patterns: []string{"runs/*"},
			Group: Caches, Kept: "while it runs",
		},
		{
			Name: "what sandboxed servers downloaded, such as packages of npm: a folder for each server, which it can change", Place: State,
			Patterns: []string{"sandbox-cache/*"}, Group: Caches, Kept: "90 days after its last start", Folders: true,
		},
		{
			Name: "temporary files of sandboxed servers: a folder for each run of a workbench", Place: State, Patterns: []string{"sandbox-temp/*"},
			Group: Caches, Kept: "while the server runs", Folders: true,
		},
		{
			Name: "locks of configurations that are edited", Place: State, Patterns: []string{"locks/*.lock", ".doctor-*"},
			Group: Caches, Kept: "for good; they are empty",
		},
		{
			Name: "sockets of running workbenches", Place: Runtime, Patterns: []string{"d-*.sock", "control-*", "start.lock"},
			Group: Caches, Kept: "while it runs",
		},
		{
			Name: "lead the browser to the page of `ui`, with a link that works once; not on Linux and Windows", Place: Runtime,
			Patterns: []string{"page-*.html"}, Group: Caches, Kept: "a minute, or until `ui` ends",
		},
		{
			Name: "your configuration, and its variables in `workbench.env`; may contain secrets", Place: Config,
			Patterns: []string{"workbench-config.json", "workbench.env", "workbench.lock", ".workbench-*"}, Group: Settings, Kept: "yours",
		},
		Notebook, Lock, Recording,
	}
}
