package config

import (
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/condition"
)

// Policy decides which calls are allowed, and about which a person is asked. The zero value allows all.
type Policy struct {
	// Files are the policies of all files that have one, the project's first. Each is judged alone, and the strictest
	// verdict counts.
	Files []PolicyFile
	Ask   PolicyAsk
}

// PolicyFile is the policy of one file.
type PolicyFile struct {
	Path    string
	Default Verdict // of tools for which no rule has a 'then'; Allow unless set
	Classes []PolicyClass
	Rules   []PolicyRule // the order has no meaning

	// Own are the toolboxes for which classes and allowing rules count; nil: all.
	Own []string
	// Replaced are toolboxes that another file has under the same names. What loosens was not written for those: classes,
	// allowing rules and exceptions do not count for them.
	Replaced []string
}

// Owns reports whether classes and allowing rules of the file count for a toolbox.
func (f *PolicyFile) Owns(box string) bool {
	return (f.Own == nil || slices.Contains(f.Own, box)) && !f.isReplaced(box)
}

func (f *PolicyFile) isReplaced(box string) bool { return slices.Contains(f.Replaced, box) }

// Verdict is what a policy says of a call. A larger one is stricter.
type Verdict uint8

// The verdicts. The zero value is none.
const (
	Allow Verdict = iota + 1
	Ask
	Deny
)

var verdicts = []string{"allow", "ask", "deny"}

func (v Verdict) String() string {
	if v == 0 || int(v) > len(verdicts) {
		return ""
	}
	return verdicts[v-1]
}

// ParseVerdict reads the word for a verdict; 0 if it is none.
func ParseVerdict(text string) Verdict { return Verdict(slices.Index(verdicts, text) + 1) }

// PolicyAsk is how a person is asked about a call.
type PolicyAsk struct {
	Via     []string      // AskClient, AskTerminal and AskPage, in the order in which they are tried
	Timeout time.Duration // without an answer, the call is denied
}

// The ways to ask a person.
const (
	AskClient   = "client"   // through the client that sent the call
	AskTerminal = "terminal" // with 'mcp-workbench approve'
	AskPage     = "page"     // on the page of 'mcp-workbench ui'
)

const (
	defaultAskTimeout = 2 * time.Minute  // for a person to answer; then the call is denied
	maxAskTimeout     = 10 * time.Minute // the longest that can be configured; a longer one is a mistake
)

func defaultAsk() PolicyAsk {
	return PolicyAsk{Via: []string{AskClient, AskTerminal}, Timeout: defaultAskTimeout}
}

// PolicyClass puts tools into a class.
type PolicyClass struct {
	Tools toolbox.Pattern
	Class string
}

// ClassReads is the class of tools that only read, whatever their hints are.
const ClassReads = "reads"

// PolicyRule is one rule. It has either a verdict in Then, or what calls must satisfy.
type PolicyRule struct {
	// The rule is about a tool if all of these match.
	Tools   []toolbox.Pattern // nil: all
	Except  []toolbox.Pattern
	Hints   PolicyHints
	Callers []string // nil: all

	Then Verdict

	// What calls must satisfy; otherwise the verdict is Else.
	Require []condition.Requirement
	Limit   *PolicyLimit
	Else    Verdict // Deny unless set

	ArgumentSecrets, ResultSecrets SecretAction

	Because string // may be empty
	File    string // the file that contains it
	Line    int    // in the file; 0 for an assumed rule, see Withheld
}

// PolicyHints are the annotations that a rule asks for; nil: any.
type PolicyHints struct{ ReadOnly, Destructive, Idempotent, OpenWorld *bool }

// IsEmpty reports whether the rule does not ask for annotations.
func (h PolicyHints) IsEmpty() bool { return h == PolicyHints{} }

// PolicyLimit is a number of calls in a sliding window, for each caller.
type PolicyLimit struct {
	Calls  int
	Window time.Duration
}

// SecretAction is what happens to secrets of known forms.
type SecretAction uint8

// The actions; the zero value is none.
const (
	SecretsMask SecretAction = iota + 1
	SecretsDeny
)

// The callers that a rule can name, besides "token:NAME".
const (
	CallerStdio    = "stdio"    // a client that started the workbench
	CallerShared   = "shared"   // a client of a shared workbench
	CallerTerminal = "terminal" // a person who uses commands such as 'call'
	CallerHTTP     = "http"     // a client over HTTP without a token; no rule can name it
	CallerToken    = "token:"   // a client over HTTP; its token's name follows

	CallerPerson      = "person:"      // who signed in at the identity provider; the subject follows
	CallerCertificate = "certificate:" // who has a client certificate; the name in it follows
)

// MayBeElsewhere reports whether a caller may have nothing to do with the machine of the workbench: whoever comes over HTTP and
// says who they are. Where nobody has to, the workbench listens to its own machine alone.
func MayBeElsewhere(caller string) bool {
	return strings.HasPrefix(caller, CallerToken) || strings.HasPrefix(caller, CallerPerson) || strings.HasPrefix(caller, CallerCertificate)
}

// Match returns the first pattern of a rule of the file that matches a tool; "" for a rule without patterns.
func (f *PolicyFile) Match(r *PolicyRule, ref toolbox.Ref) (_ toolbox.Pattern, ok bool) {
	if _, ok := f.Exception(r, ref); ok {
		return "", false
	}
	for _, pattern := range r.Tools {
		if pattern.Matches(ref) {
			return pattern, true
		}
	}
	return "", r.Tools == nil
}

// Exception returns the first pattern of a rule of the file that excepts a tool.
func (f *PolicyFile) Exception(r *PolicyRule, ref toolbox.Ref) (_ toolbox.Pattern, ok bool) {
	if f.isReplaced(ref.Toolbox) {
		return "", false
	}
	for _, pattern := range r.Except {
		if pattern.Matches(ref) {
			return pattern, true
		}
	}
	return "", false
}

// mayMeanPolicy reports whether a key is 'policy', or can be a mistyped one. Its rules must not be ignored then.
func mayMeanPolicy(key string) bool {
	key = strings.ToLower(key)
	return strings.HasPrefix(key, "polic") || toolbox.EditDistance(key, policyKey.name) <= 2
}

// assumedPolicy denies all tools, for an unusable file that may have a policy.
func assumedPolicy(path string) Policy {
	return Policy{Ask: defaultAsk(), Files: []PolicyFile{{Path: path, Default: Allow, Rules: []PolicyRule{{
		Then: Deny, Tools: []toolbox.Pattern{"*"}, File: path,
		Because: "this file cannot be used, and may deny any tool; until it is mended, no tool is allowed",
	}}}}}
}
