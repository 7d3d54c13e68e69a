package config

import "time"

const (
	defaultElicitationTime = 5 * time.Minute // for an answer at the page to a question of a server; then it is refused
	maxElicitationTime     = time.Hour       // the longest that can be configured; a longer one is a mistake
)

// Elicitation is who answers questions of servers for clients that cannot be asked.
type Elicitation struct {
	Page    bool          // a person who has the page of 'mcp-workbench ui'; otherwise nobody
	Timeout time.Duration // without an answer, the question is refused
}

var elicitationKey = key{
	name: "elicitation", kinds: []kind{kindObject}, members: &elicitationObject, example: `{"page": true}`,
	description: "Who answers questions of servers (elicitation) for clients that cannot be asked. A client that can be asked is always asked itself.",
}

var elicitationObject = object{keys: []key{
	{
		name: "page", kinds: []kind{kindBoolean}, fallback: "false",
		description: "Questions to clients that did not declare elicitation wait for a person on the page of 'mcp-workbench ui'. Servers are told that these clients can be asked, with forms and with addresses to open. It counts for clients that connect afterwards.",
	},
	{
		name: "timeout", kinds: []kind{kindString}, check: checkElicitationTime, pattern: durationPattern, example: `"5m"`, fallback: `"5m"`,
		description: "How long to wait for an answer on the page, from 1s to 1h. Then the question is refused.",
	},
}}

func elicitation(n *node) Elicitation {
	settings := Elicitation{Timeout: defaultElicitationTime}
	if n == nil || n.kind != kindObject {
		return settings
	}
	settings.Page = n.get("page").isTrue()
	n.duration("timeout", &settings.Timeout)
	return settings
}

func checkElicitationTime(text string) string {
	if d, err := time.ParseDuration(text); err != nil || d < time.Second || d > maxElicitationTime {
		return `must be a duration from "1s" to "1h"`
	}
	return ""
}
