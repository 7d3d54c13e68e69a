package loader

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// Review is what a person should see of a file before it may run, and the output of 'trust --json'. It shows the file
// as written: variables are not replaced, so no value is shown, and no default is hidden. Values that look like secrets
// are masked.
type Review struct {
	Path      string           `json:"path"`
	Trust     string           `json:"trust"`         // trusted, changed or unknown
	Why       string           `json:"why,omitempty"` // why the file needs trust; "": it does not
	Servers   []reviewServer   `json:"servers"`
	Variables []reviewVariable `json:"variables"` // set by the workbench.env beside it
	Listen    string           `json:"listen,omitempty"`
	Hosts     []string         `json:"allowedHosts,omitempty"`
	Origins   []string         `json:"allowedOrigins,omitempty"`
	People    []reviewVariable `json:"people,omitempty"`  // the other settings of who could connect
	Policy    []reviewVariable `json:"policy,omitempty"`  // rules and other keys, as JSON
	Unclear   []string         `json:"unclear,omitempty"` // keys that depend on variables
	Changes   []string         `json:"changes,omitempty"` // since it was trusted: lines that begin with + or -

	source     *config.Source
	isCompared bool // the previously seen review is known
}

type reviewServer struct {
	Toolbox   string               `json:"toolbox"`
	Name      string               `json:"name"`
	Disabled  bool                 `json:"disabled,omitempty"`
	Builtin   string               `json:"builtin,omitempty"`
	Command   string               `json:"command,omitempty"`
	Args      []string             `json:"args,omitempty"`
	Program   string               `json:"program,omitempty"` // the file that would run
	Problem   string               `json:"problem,omitempty"` // why none would
	Dir       string               `json:"cwd,omitempty"`
	Env       []reviewVariable     `json:"env,omitempty"`
	Inherits  any                  `json:"inheritEnv,omitempty"` // true, or patterns
	Host      string               `json:"host,omitempty"`
	Headers   []reviewVariable     `json:"headers,omitempty"`
	OAuth     []reviewVariable     `json:"oauth,omitempty"`
	Sandbox   *config.ShownSandbox `json:"sandbox,omitempty"` // false: none
	Limits    *config.ShownLimits  `json:"limits,omitempty"`
	Instances string               `json:"instances,omitempty"`
	Secrets   []reviewSecret       `json:"secrets,omitempty"` // that it would get, each time it starts
	Sends     []string             `json:"sends,omitempty"`   // variables in the address, headers and OAuth settings
}

// reviewSecret is a secret that a server names.
type reviewSecret struct {
	Kind    config.FormKind `json:"kind"`
	Name    string          `json:"name,omitempty"`    // of the entry or the credential; of a file, its path
	Command []string        `json:"command,omitempty"` // that would run
}

type reviewVariable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// NewReview makes the review of a file.
func NewReview(source *config.Source) (*Review, error) {
	preview, err := source.Preview(os.Environ())
	if err != nil {
		return nil, err
	}
	r := &Review{
		Path: source.Path, Why: doubt(source), Trust: "unknown", Servers: []reviewServer{},
		Variables: reviewVariables(preview.Variables), Policy: reviewVariables(preview.Policy), Unclear: preview.Unclear,
		Listen: preview.HTTP.Listen, Hosts: preview.HTTP.Hosts, Origins: preview.HTTP.Origins, People: reviewVariables(preview.HTTP.People), source: source,
	}
	if r.Variables == nil {
		r.Variables = []reviewVariable{}
	}
	for _, server := range preview.Servers {
		r.Servers = append(r.Servers, newReviewServer(server))
	}
	return r, nil
}

func newReviewServer(server config.PreviewServer) reviewServer {
	s := reviewServer{
		Toolbox: server.Toolbox, Name: server.Name, Disabled: server.Disabled, Builtin: server.Builtin,
		Command: server.Command, Args: server.Args, Dir: server.Dir, Host: server.Host, Sends: server.Sent,
		Sandbox: server.Sandbox, Limits: server.Limits, Instances: server.Instances,
		Env: reviewVariables(server.Env), Headers: reviewVariables(server.Headers), OAuth: reviewVariables(server.OAuth),
	}
	for _, form := range server.Forms {
		s.Secrets = append(s.Secrets, reviewSecret{Kind: form.Kind, Name: form.Name, Command: form.Words}) // a command is shown whole, like that of a server
	}
	switch inherit := server.InheritEnv; {
	case inherit.All:
		s.Inherits = true
	case len(inherit.Patterns) > 0:
		s.Inherits = inherit.Patterns
	}
	switch {
	case server.Command == "":
	case server.Launch == nil:
		s.Problem = "variables that have no value decide on it"
		if _, _, _, ok := config.CutForm(server.Command); ok {
			s.Problem = "a secret decides on it"
		}
	default:
		s.Program, s.Problem = programOf(server)
	}
	return s
}

// programOf returns the file that a server's command resolves to, or why there is none.
func programOf(server config.PreviewServer) (file, problem string) {
	inherit := process.Inherit{All: server.InheritEnv.All, Patterns: server.InheritEnv.Patterns}
	env, _ := process.Environment(os.Environ(), inherit, server.Launch.Env)
	file, err := process.Find(process.Spec{Command: server.Launch.Command, Dir: server.Launch.Dir, Env: env})
	if err != nil {
		// The error would show values of variables.
		return "", "no such program is found"
	}
	return file, ""
}

func reviewVariables(variables []config.Variable) (shown []reviewVariable) {
	for _, variable := range variables {
		shown = append(shown, reviewVariable{variable.Name, shownValue(variable.Name, variable.Value)})
	}
	return shown
}

var variableReference = regexp.MustCompile(`\$\{([A-Z_][A-Z0-9_]*)(?::-([^}]*))?\}`)

// shownValue masks a value that looks like a secret. References to variables stay, and so do the names of secrets.
func shownValue(name, value string) string {
	if before, form, after, ok := config.CutForm(value); ok {
		return shownPart(name, before) + form.String() + shownValue(name, after)
	}
	return shownPart(name, value)
}

func shownPart(name, value string) string {
	if !strings.Contains(value, "${") {
		return shownLiteral(name, value)
	}
	var shown strings.Builder
	end := 0
	for _, at := range variableReference.FindAllStringSubmatchIndex(value, -1) {
		shown.WriteString(secret.MaskWithin(value[end:at[0]]))
		reference := value[at[2]:at[3]]
		shown.WriteString("${" + reference)
		if at[4] >= 0 {
			fallback := shownLiteral(name, value[at[4]:at[5]])
			shown.WriteString(":-" + shownLiteral(reference, fallback))
		}
		shown.WriteByte('}')
		end = at[1]
	}
	shown.WriteString(secret.MaskWithin(value[end:]))
	return shown.String()
}

func shownLiteral(name, value string) string {
	if secret.IsNamed(name) && secret.MayBe(value) {
		return secret.Mask
	}
	return secret.MaskWithin(value)
}

// File returns what to record once the person agrees.
func (r *Review) File() trust.File {
	f := trust.FileOf(r.source)
	f.Shown = r.facts()
	return f
}

// Compare adds the verdict of the trust records, and the changes since its user saw the file.
func (r *Review) Compare(verdict trust.Verdict, store *trust.Store) {
	switch verdict {
	case trust.Trusted:
		r.Trust = "trusted"
		return
	case trust.Unknown:
		return
	}
	r.Trust = "changed"
	before := store.Shown(r.Path)
	if r.isCompared = before != nil; !r.isCompared {
		return
	}
	now := r.facts()
	for _, fact := range before {
		if !slices.Contains(now, fact) {
			r.Changes = append(r.Changes, "- "+fact)
		}
	}
	for _, fact := range now {
		if !slices.Contains(before, fact) {
			r.Changes = append(r.Changes, "+ "+fact)
		}
	}
}

// facts returns every shown line with its subject, so that two reviews can be compared.
func (r *Review) facts() []string {
	facts := []string{}
	for _, server := range r.Servers {
		place := trust.Quote(server.Toolbox) + "/" + trust.Quote(server.Name) + ": "
		facts = append(facts, place+server.headline())
		for _, detail := range server.details() {
			facts = append(facts, place+detail)
		}
	}
	facts = append(facts, r.ofHTTP()...)
	for _, part := range r.ofPolicy() {
		facts = append(facts, "policy: "+part)
	}
	for _, variable := range r.Variables {
		facts = append(facts, config.EnvFileName+": "+variable.String())
	}
	return facts
}

// Print prints the review.
func (r *Review) Print(out io.Writer) {
	fmt.Fprintf(out, "%s would run:\n", trust.Quote(r.Path))
	if len(r.Servers) == 0 {
		fmt.Fprintln(out, "  nothing")
	}
	for _, server := range r.Servers {
		fmt.Fprintf(out, "  %s/%s: %s\n", trust.Quote(server.Toolbox), trust.Quote(server.Name), server.headline())
		for _, detail := range server.details() {
			fmt.Fprintln(out, "      "+detail)
		}
	}
	for _, line := range r.ofHTTP() {
		fmt.Fprintln(out, line)
	}
	if len(r.Policy) > 0 {
		fmt.Fprintln(out, "Its policy, which can also restrict your own tools:")
		for _, part := range r.ofPolicy() {
			fmt.Fprintln(out, "  "+part)
		}
	}
	if len(r.Variables) > 0 {
		fmt.Fprintf(out, "The %s beside it sets:\n", config.EnvFileName)
		for _, variable := range r.Variables {
			fmt.Fprintln(out, "  "+variable.String())
		}
	}
	if len(r.Unclear) > 0 {
		fmt.Fprintf(out, "The values of these keys depend on variables, so read the file: %s\n", trust.QuoteList(r.Unclear))
	}
	r.printChanges(out)
}

func (r *Review) printChanges(out io.Writer) {
	if r.Trust != "changed" {
		return
	}
	fmt.Fprintln(out, "Its content changed since it was trusted.")
	for _, change := range r.Changes {
		fmt.Fprintln(out, "  "+change)
	}
	if r.isCompared && len(r.Changes) == 0 {
		fmt.Fprintln(out, "  No line above changed: it may be a masked value, a key that is not shown, or a comment.")
	}
}

// ofHTTP returns who could connect, relevant for 'serve' only.
func (r *Review) ofHTTP() (lines []string) {
	if r.Listen != "" {
		lines = append(lines, fmt.Sprintf("As a service it would listen on %s.", trust.Quote(r.Listen)))
	}
	if len(r.Hosts) > 0 {
		lines = append(lines, fmt.Sprintf("As a service it could be called by the names %s.", trust.QuoteList(r.Hosts)))
	}
	if len(r.Origins) > 0 {
		lines = append(lines, fmt.Sprintf("As a service it could be used by web pages of %s.", trust.QuoteList(r.Origins)))
	}
	for _, setting := range r.People {
		lines = append(lines, fmt.Sprintf("As a service it would let in who fits http.%s: %s.", setting.Name, trust.Quote(setting.Value)))
	}
	return lines
}

// ofPolicy returns the rules and other keys of the policy.
func (r *Review) ofPolicy() (lines []string) {
	for _, part := range r.Policy {
		lines = append(lines, trust.Quote(part.Name)+": "+trust.Quote(part.Value))
	}
	return lines
}

// headline describes a server in one line, as written.
func (s reviewServer) headline() string {
	text := "nothing"
	switch {
	case s.Command != "":
		text = trust.Quote(append([]string{s.Command}, s.Args...)...)
	case s.Builtin != "":
		text = "built-in " + trust.Quote(append([]string{s.Builtin}, s.Args...)...)
	case s.Host != "":
		text = "connects to " + trust.Quote(s.Host)
	}
	if s.Dir != "" {
		text += ", in " + trust.Quote(s.Dir)
	}
	if len(s.Env) > 0 {
		names := make([]string, len(s.Env))
		for i, variable := range s.Env {
			names[i] = variable.Name
		}
		text += ", with " + trust.QuoteList(names)
	}
	if s.Disabled {
		text += " (disabled)"
	}
	return text
}

// details returns the other lines about a server.
func (s reviewServer) details() (lines []string) {
	switch {
	case s.Program != "" && s.Program != filepath.Clean(s.Command):
		lines = append(lines, "program: "+trust.Quote(s.Program))
	case s.Problem != "":
		lines = append(lines, "program: not known, "+s.Problem)
	}
	for _, variable := range s.Env {
		lines = append(lines, "env: "+variable.String())
	}
	switch inherits := s.Inherits.(type) {
	case bool:
		lines = append(lines, "inheritEnv: all variables of your environment")
	case []string:
		lines = append(lines, "inheritEnv: your variables "+trust.QuoteList(inherits))
	}
	for _, header := range s.Headers {
		lines = append(lines, "header: "+header.String())
	}
	for _, setting := range s.OAuth {
		lines = append(lines, "oauth: "+setting.String())
	}
	lines = append(lines, s.bounds()...)
	for _, one := range s.Secrets {
		lines = append(lines, "secret: "+one.String())
	}
	if len(s.Sends) > 0 {
		in := ", in its address or headers"
		if len(s.OAuth) > 0 {
			in = ", in its address, headers or OAuth settings"
		}
		lines = append(lines, "sends: the values of your variables "+trust.QuoteList(s.Sends)+in)
	}
	return lines
}

// bounds returns the lines about what a server may do and use.
func (s reviewServer) bounds() (lines []string) {
	if s.Sandbox != nil {
		lines = append(lines, "sandbox: "+s.Sandbox.Line(trust.QuoteList))
	}
	if s.Limits != nil {
		lines = append(lines, "limits: "+s.Limits.Line(trust.QuoteList))
	}
	if s.Instances != "" {
		lines = append(lines, "instances: "+trust.Quote(s.Instances))
	}
	return lines
}

func (s reviewSecret) String() string {
	switch s.Kind {
	case config.FormExec:
		return "runs " + trust.Quote(s.Command...)
	case config.FormFile:
		return "reads the file " + trust.Quote(s.Name)
	case config.FormCredential:
		return "reads the systemd credential " + trust.Quote(s.Name)
	}
	return "reads the keyring entry " + trust.Quote(s.Name)
}

func (v reviewVariable) String() string { return trust.Quote(v.Name) + "=" + trust.Quote(v.Value) }
