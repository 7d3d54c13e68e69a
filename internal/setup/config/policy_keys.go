package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/condition"
)

var policyKey = key{
	name: "policy", kinds: []kind{kindObject}, members: &policyObject, example: `{"rules": [{"tools": "prod/*", "then": "deny"}]}`,
	description: "Which calls are allowed, and about which a person is asked. An unknown key in it is an error, since a partly understood rule could allow too much.",
}

var policyObject = object{isStrict: true, keys: []key{
	{
		name: "default", kinds: []kind{kindString}, enum: verdicts, fallback: `"allow"`,
		description: "The verdict for tools that no rule allows, asks about or denies with 'then'.",
	},
	{
		name: "ask", kinds: []kind{kindObject}, members: &policyAskObject, example: `{"via": ["terminal"], "timeout": "5m"}`,
		description: "How a person is asked.",
	},
	{
		name: "classes", kinds: []kind{kindObject}, example: `{"web/*": "reads"}`,
		entries:     &entries{noun: "Class", checkName: checkPatternName, checkValue: checkNotEmpty},
		description: "What tools do, by pattern, where their own hints do not say it: tools of the class \"reads\" count as tools that only read.",
	},
	{
		name: "rules", kinds: []kind{kindArray}, noun: "Policy rule", members: &policyRuleObject,
		example:     `[{"tools": "*/*/delete_*", "then": "deny", "because": "nothing is deleted from here"}]`,
		description: "The rules. Their order has no meaning: the strictest verdict of all rules counts.",
	},
}}

var policyAskObject = object{isStrict: true, keys: []key{
	{
		name: "via", kinds: []kind{kindArray}, enum: []string{AskClient, AskTerminal, AskPage}, example: `["client", "terminal"]`, fallback: `["client", "terminal"]`,
		description: "Whom to ask, in this order: \"client\" is the client that sent the call, if it can be asked, \"terminal\" is whoever runs 'mcp-workbench approve', \"page\" is whoever has the page of 'mcp-workbench ui'.",
	},
	{
		name: "timeout", kinds: []kind{kindString}, check: checkAskTimeout, pattern: durationPattern, example: `"2m"`, fallback: `"2m"`,
		description: "How long to wait for an answer, from 1s to 10m. Then the call is denied.",
	},
}}

func checkPattern(text string) string { return toolbox.Pattern(text).Check() }

const patternDescription = "A \"*\" matches any characters, \"/\" included, \"\\\\\" escapes the next character, and nothing else is special."

var policyRuleObject = object{isStrict: true, keys: []key{
	{
		name: "tools", kinds: []kind{kindString, kindArray}, nonEmpty: true, check: checkPattern, example: `["prod/*", "*/github/delete_*"]`,
		description: "The tools of the rule: a pattern or a list of patterns for \"toolbox/server/tool\". " + patternDescription + " The default is all tools.",
	},
	{
		name: "except", kinds: []kind{kindString, kindArray}, nonEmpty: true, check: checkPattern, example: `["dev/files/*"]`,
		description: "Tools that the rule is not about, as a pattern or a list of patterns.",
	},
	{
		name: "hints", kinds: []kind{kindObject}, members: &policyHintsObject, example: `{"destructive": true}`,
		description: "Limits the rule to tools with these annotations. An annotation that a tool does not have counts as MCP defines it: not read-only, destructive, not idempotent, open world.",
	},
	{
		name: "callers", kinds: []kind{kindString, kindArray}, nonEmpty: true, check: checkCaller, example: `["token:ci"]`,
		description: "Limits the rule to calls of these: \"stdio\" for the client that started the workbench, \"shared\" for clients of a shared workbench, \"terminal\" for commands such as 'call', \"token:NAME\" for clients over HTTP with that token, \"person:SUBJECT\" for the clients of who has that subject at the identity provider of 'http.oauth', \"certificate:NAME\" for those with that client certificate.",
	},
	{
		name: "then", kinds: []kind{kindString}, enum: verdicts,
		description: "The verdict: \"allow\" overrides 'default' only, \"ask\" asks a person before each call, and \"deny\" refuses the call. A tool that is always denied is not listed.",
	},
	{
		name: "require", kinds: []kind{kindObject}, example: `{"path": {"within": ["~/project"]}}`,
		entries:     &entries{noun: "Requirement", object: &conditionObject, checkName: checkArgument},
		description: "What the arguments of a call must satisfy, by the name of the argument; \"a.b\" is b inside of a, and of a list every value must satisfy it. An argument that is absent, or cannot be judged, does not.",
	},
	{
		name: "limit", kinds: []kind{kindObject}, members: &policyLimitObject, example: `{"calls": "20/1h"}`,
		description: "How often the tools of the rule may be called, all together.",
	},
	{
		name: "else", kinds: []kind{kindString}, enum: []string{"ask", "deny"}, fallback: `"deny"`,
		description: "The verdict for a call that does not satisfy 'require', or is beyond the 'limit'.",
	},
	{
		name: "arguments", kinds: []kind{kindObject}, members: &policySecretsObject, example: `{"secrets": "deny"}`,
		description: "What happens to secrets in the arguments of calls.",
	},
	{
		name: "results", kinds: []kind{kindObject}, members: &policySecretsObject, example: `{"secrets": "mask"}`,
		description: "What happens to secrets in the results of calls.",
	},
	{
		name: "because", kinds: []kind{kindString}, example: `"production is read-only"`,
		description: "The reason, shown in the error of a denied call, and to the person who is asked.",
	},
}}

var policyHintsObject = object{isStrict: true, keys: []key{
	{name: "readOnly", kinds: []kind{kindBoolean}, example: `true`, description: "The tool changes nothing (readOnlyHint), or is of the class \"reads\"."},
	{name: "destructive", kinds: []kind{kindBoolean}, example: `true`, description: "The tool may delete or overwrite something (destructiveHint). A read-only tool is never destructive."},
	{name: "idempotent", kinds: []kind{kindBoolean}, example: `false`, description: "Calling the tool again with the same arguments changes nothing more (idempotentHint)."},
	{name: "openWorld", kinds: []kind{kindBoolean}, example: `true`, description: "The tool reaches things outside, such as the web (openWorldHint)."},
}}

var policyLimitObject = object{isStrict: true, keys: []key{
	{
		name: "calls", kinds: []kind{kindString}, required: "must have a 'limit.calls' string", check: checkRate, pattern: `^[0-9]+/[0-9].*$|\$\{`, example: `"20/1h"`,
		description: "The number of calls in a time, such as \"20/1h\" or \"5/1d\". Calls that were refused do not count.",
	},
	{
		name: "per", kinds: []kind{kindString}, enum: []string{"caller"}, fallback: `"caller"`,
		description: "What is counted separately: each \"caller\".",
	},
}}

var policySecretsObject = object{isStrict: true, keys: []key{{
	name: "secrets", kinds: []kind{kindString}, enum: []string{"mask", "deny"}, required: "must have a 'secrets' field",
	description: "Secrets of known forms, such as keys and tokens of well-known services, are replaced (\"mask\"), or the call or its result is refused (\"deny\").",
}}}

var conditionObject = object{isStrict: true, keys: []key{
	{
		name: "within", kinds: []kind{kindString, kindArray}, nonEmpty: true, example: `["~/project"]`,
		description: "A path, or file:// address, inside of one of these folders, links followed; a relative one starts at the configuration file's folder, and a leading ~/ is the home folder. A relative path of a call starts at the server's folder.",
	},
	{
		name: "hosts", kinds: []kind{kindString, kindArray}, nonEmpty: true, check: checkHostPattern, example: `["*.example.com"]`,
		description: "An http or https address at one of these hosts. \"*.example.com\" is any host below example.com, and not example.com itself. A port counts only if it is given.",
	},
	{
		name: "sql", kinds: []kind{kindString}, enum: []string{"read"},
		description: "\"read\": one SQL statement that only reads. A statement that is not fully understood counts as writing.",
	},
	{
		name: "matches", kinds: []kind{kindString}, check: checkRegexp, example: `"[a-z]+"`,
		description: "A string that matches this regular expression (RE2) as a whole.",
	},
	{
		name: "oneOf", kinds: []kind{kindArray}, scalars: true, example: `["staging", "test"]`,
		description: "One of these strings, numbers or booleans, or null.",
	},
	{
		name: "atMost", kinds: []kind{kindInteger}, check: checkNumber, decimal: true, example: `100`,
		description: "A number that is not larger.",
	},
}}

func checkAskTimeout(text string) string {
	if d, err := time.ParseDuration(text); err != nil || d < time.Second || d > maxAskTimeout {
		return `must be a duration from "1s" to "10m"`
	}
	return ""
}

func checkNotEmpty(text string) string {
	if text == "" {
		return "must not be empty"
	}
	return ""
}

func checkPatternName(name string) string {
	if name == "" {
		return "pattern cannot be empty"
	}
	if wrong := checkPattern(name); wrong != "" {
		return "pattern '" + name + "' " + wrong
	}
	return ""
}

func checkArgument(name string) string {
	if slices.Contains(strings.Split(name, "."), "") {
		return `must name an argument, such as "path", or "options.path" for one inside of another`
	}
	return ""
}

// tokenName is the form of the names of tokens.
var tokenName = regexp.MustCompile(`^[A-Za-z0-9._][A-Za-z0-9._-]{0,63}$`)

func checkCaller(text string) string {
	name, isToken := strings.CutPrefix(text, CallerToken)
	if isToken && tokenName.MatchString(name) || isOutsider(text) || slices.Contains([]string{CallerStdio, CallerShared, CallerTerminal}, text) {
		return ""
	}
	return `must be "stdio", "shared", "terminal", "token:NAME" with the name of a token` + outsiders
}

// outsiders are the forms of callers that are named elsewhere, for messages.
const outsiders = `, "person:SUBJECT" with what the identity provider calls the person (sub), or "certificate:NAME" with the name in a client certificate`

// maxOutsiderName is the length of a caller's name that is given elsewhere, such as the subject of a person; a longer one is a mistake.
const maxOutsiderName = 255

// isOutsider reports whether a text is a caller whose name is given elsewhere: in a token of an identity provider, or a certificate.
func isOutsider(text string) bool {
	for _, prefix := range []string{CallerPerson, CallerCertificate} {
		if name, ok := strings.CutPrefix(text, prefix); ok {
			return name != "" && len(name) <= maxOutsiderName && strings.TrimSpace(name) == name && isPrintable(name)
		}
	}
	return false
}

func isPrintable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

func checkHostPattern(text string) string {
	if _, err := condition.ParseHost(text); err != nil {
		return "is not a host: " + err.Error()
	}
	return ""
}

func checkRegexp(text string) string {
	if _, err := condition.ParsePattern(text); err != nil {
		return "is not a regular expression (RE2): " + err.Error()
	}
	return ""
}

func checkNumber(text string) string {
	if _, err := condition.ParseNumber(text); err != nil {
		return "must be a number: " + err.Error()
	}
	return ""
}

// rateForm is a number of calls in a time.
var rateForm = regexp.MustCompile(`^([0-9]{1,9})/(([0-9]{1,4})d)?([0-9][0-9a-z.]*)?$`)

const (
	maxRateCalls  = 100_000             // calls in a limit of the policy; a higher number is a mistake
	maxRateWindow = 31 * 24 * time.Hour // the time of a limit of the policy; a longer one is a mistake
)

func parseRate(text string) (limit PolicyLimit, ok bool) {
	parts := rateForm.FindStringSubmatch(text)
	if parts == nil || parts[2] == "" && parts[4] == "" {
		return limit, false
	}
	limit.Calls, _ = strconv.Atoi(parts[1])
	days, _ := strconv.Atoi(parts[3])
	limit.Window = time.Duration(days) * 24 * time.Hour
	if parts[4] != "" {
		rest, err := time.ParseDuration(parts[4])
		if err != nil {
			return limit, false
		}
		limit.Window += rest
	}
	return limit, limit.Calls >= 1 && limit.Calls <= maxRateCalls && limit.Window >= time.Second && limit.Window <= maxRateWindow
}

func checkRate(text string) string {
	if _, ok := parseRate(text); !ok {
		return fmt.Sprintf(`must be a number of calls from 1 to %d and a time from 1s to 31d, such as "20/1h" or "5/1d"`, maxRateCalls)
	}
	return ""
}
