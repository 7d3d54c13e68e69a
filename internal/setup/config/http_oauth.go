package config

// HTTPOAuth is how 'serve' knows people: by the access tokens of an identity provider.
type HTTPOAuth struct {
	// Resource is the address of /mcp as clients know it, such as https://mcp.example.com/mcp. It never comes from a request.
	Resource      string
	Issuer        string         // that tokens must name exactly
	Audience      []string       // that tokens may name; nil: the resource of the requested path, or of a path above it
	JWKSURI       string         // "": from the issuer's metadata
	Introspection *Introspection // for tokens that are no JWTs; nil: those are refused
	Claim         string         // whose values Toolboxes maps; "scope" by default
	Toolboxes     []ToolboxGrant // in the order of the file

	// The client at the identity provider that people sign in with on the page of /connect; "": there is no such page.
	ClientID, ClientSecret string
}

// Introspection is where the identity provider is asked about tokens that are no JWTs (RFC 7662).
type Introspection struct {
	Endpoint               string // "": from the issuer's metadata
	ClientID, ClientSecret string
}

// ToolboxGrant lets those who have a value, such as a scope, a group or the name of a certificate, use toolboxes.
type ToolboxGrant struct {
	Value     string
	Toolboxes []string // nil: all
}

// PersonLimits is what one person, token or certificate may use at once over HTTP; 0: no limit of its own.
type PersonLimits struct {
	Sessions int
	Calls    int   // in flight
	Memory   int64 // of the processes that run for the person alone, in bytes
}

// For whom a server runs; see Server.Instances.
const (
	InstancesShared    = "shared"     // for all clients that declare the same
	InstancesPerPerson = "per-person" // for the clients of one person
	InstancesPerClient = "per-client" // for one client
)

// AccountsPerPerson is a value of OAuth.Accounts: each person has a login of their own.
const AccountsPerPerson = "per-person"
