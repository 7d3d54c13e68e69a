package config

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// FormKind is where the value of a form comes from.
type FormKind string

// The kinds of forms, as they are written.
const (
	FormKeyring    FormKind = "keyring"    // ${keyring:NAME}: an entry of the system's keyring
	FormExec       FormKind = "exec"       // ${exec:COMMAND ARGS}: the output of a command
	FormFile       FormKind = "file"       // ${file:PATH}: the content of a file
	FormCredential FormKind = "credential" // ${credential:NAME}: a credential of the systemd unit
)

var formKinds = []FormKind{FormKeyring, FormExec, FormFile, FormCredential}

// Form names a secret in a text of a server, such as ${keyring:NAME}. Its value is not known to the configuration: it is
// got each time the server starts.
type Form struct {
	Kind  FormKind
	Text  string   // as written
	Name  string   // of the entry or the credential; of a file, its path
	Words []string // of a command
	Dir   string   // the folder of the configuration, where a command runs
}

// String names the form in errors. Arguments of a command are left out: they can be long.
func (f Form) String() string {
	if f.Kind == FormExec && len(f.Words) > 1 {
		return "${exec:" + f.Words[0] + " …}"
	}
	return f.Text
}

// Piece is a part of a text with forms: literal text, or a form.
type Piece struct {
	Text string
	Form *Form // nil: Text
}

// Deferred is a text of a server that has forms. The text itself, as the server has it, shows them as they are written.
type Deferred struct {
	Key    string // of the server, such as args, env or oauth.clientSecret
	Index  int    // of the element or the entry, where the key has several
	Label  string // the place for people, such as env.TOKEN
	Pieces []Piece
}

// The keys of a server that may have forms, besides command, args, env, headers and url.
const (
	clientSecretKey   = "oauth.clientSecret"
	providerSecretKey = "oauth.identityProvider.clientSecret"
)

// whereForms says for people where forms can stand.
const whereForms = "secrets can be named in 'command', 'args', 'env', 'headers', 'url', 'oauth.clientSecret' and 'oauth.identityProvider.clientSecret' of a server"

// mayHaveForms reports whether the text at a path may have forms.
func mayHaveForms(at *path) bool {
	server := at.server()
	switch {
	case server == nil || at == server:
		return false
	case at.up(1) == server:
		return at.is("command") || at.is("url")
	case at.up(2) == server && at.index >= 0:
		return at.up(1).is("args")
	case at.up(2) == server:
		return at.up(1).is("env") || at.up(1).is("headers") || at.up(1).is("oauth") && at.is("clientSecret")
	}
	return at.up(3) == server && at.up(2).is("oauth") && at.up(1).is("identityProvider") && at.is("clientSecret")
}

var secretName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@/-]{0,127}$`)

// CheckSecretName returns what is wrong with the name of a secret in the keyring; "" if nothing is.
func CheckSecretName(name string) string {
	switch {
	case name == "logins":
		return "cannot be 'logins', which is the entry of the key that logins are encrypted with"
	case !secretName.MatchString(name):
		return "must be a name of at most 128 letters, digits and _ . @ / -, and begin with a letter, a digit or _"
	}
	return ""
}

// parseForm parses a form at the beginning of a text. size is 0 if there is none; wrong is what is wrong with one.
func parseForm(s string) (form Form, size int, wrong string) {
	at := slices.IndexFunc(formKinds, func(kind FormKind) bool { return strings.HasPrefix(s, "${"+string(kind)+":") })
	if at < 0 {
		return form, 0, ""
	}
	form.Kind = formKinds[at]
	start := len("${") + len(form.Kind) + len(":")
	end := strings.IndexByte(s[start:], '}')
	if end < 0 {
		return form, 0, "" // reported as every unclosed brace
	}
	if form.Kind == FormExec {
		if form.Words, end = splitWords(s[start:]); end < 0 {
			return form, 0, "has an open quote"
		}
	}
	inner := s[start : start+end]
	form.Text, form.Name, size = s[:start+end+1], inner, start+end+1
	switch {
	case strings.Contains(inner, "${"):
		wrong = "cannot hold a variable or another form; nothing is expanded in it"
	case form.Kind == FormExec:
		if form.Name = ""; len(form.Words) == 0 || form.Words[0] == "" {
			wrong = "must name a command"
		}
	case form.Kind == FormFile:
		if inner == "" || strings.TrimSpace(inner) != inner {
			wrong = "must name a file, without blanks around it"
		}
	case form.Kind == FormCredential && (strings.Contains(inner, "/") || !filepath.IsLocal(inner)):
		wrong = "must have the name of a credential, which has no slash"
	default:
		wrong = CheckSecretName(inner)
	}
	return form, size, wrong
}

// CutForm cuts a text around its first form, as it is written.
func CutForm(text string) (before string, form Form, after string, ok bool) {
	for i := 0; i < len(text); i++ {
		if strings.HasPrefix(text[i:], "$${") {
			i += len("$${") - 1
			continue
		}
		if form, size, wrong := parseForm(text[i:]); size > 0 && wrong == "" {
			return text[:i], form, text[i+size:], true
		}
	}
	return text, form, "", false
}

// splitWords splits a command at blanks, up to the brace that ends it. Quotes of both kinds keep blanks and braces, and
// nothing in them is special. end is negative if a quote stays open.
func splitWords(s string) (words []string, end int) {
	var word strings.Builder
	inWord, quote := false, byte(0)
	for i := range len(s) {
		c := s[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '"' || c == '\'':
			quote, inWord = c, true
		case c == ' ' || c == '\t' || c == '\n' || c == '}':
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
			if c == '}' {
				return words, i
			}
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	return nil, -1
}

// locate completes a form with what depends on where its file is.
func (f *Form) locate(dir, home string) (wrong string) {
	name := &f.Name
	if f.Kind == FormExec {
		f.Dir, name = dir, &f.Words[0]
	} else if f.Kind != FormFile {
		return ""
	}
	if isInHome(*name) {
		if home == "" {
			return "starts with ~, but the home folder is not known"
		}
		*name = inHome(*name, home)
	}
	if f.Kind == FormFile && !filepath.IsAbs(f.Name) {
		f.Name = filepath.Join(dir, f.Name)
	}
	return ""
}

// probe returns the text with a harmless value in place of each form, for the checks that look at its shape.
func (n *node) probe() string {
	if n.pieces == nil {
		return n.text
	}
	var text strings.Builder
	for _, piece := range n.pieces {
		if piece.Form != nil {
			piece.Text = "x"
		}
		text.WriteString(piece.Text)
	}
	return text.String()
}

// literals returns the parts of a text that stand in the file, or came by variables.
func (n *node) literals() (texts []string) {
	if n.pieces == nil {
		return []string{n.resolved()}
	}
	for _, piece := range n.pieces {
		if piece.Form == nil && !n.unresolved {
			texts = append(texts, piece.Text)
		}
	}
	return texts
}

// deferred collects the texts of a server that have forms, and checks them against the rest of it.
func (b *builder) deferred(n *node, p place) (all []Deferred) {
	add := func(value *node, key string, index int, label string) {
		if value != nil && value.pieces != nil && !value.unresolved {
			all = append(all, Deferred{key, index, label, value.pieces})
		}
	}
	command := n.get("command")
	add(command, "command", 0, "command")
	if command != nil && len(all) == 1 && isInHome(all[0].Pieces[0].Text) {
		all[0].Pieces = slices.Clone(all[0].Pieces)
		all[0].Pieces[0].Text = b.opts.Home + all[0].Pieces[0].Text[len("~"):]
	}
	if args := n.get("args"); args != nil {
		for i := range args.elements {
			below := p.member("args").element(i)
			add(&args.elements[i], "args", i, below.field.String())
			if args.elements[i].pieces != nil {
				b.checkArgument(n, &args.elements[i], below)
			}
		}
	}
	for _, key := range []string{"env", "headers"} {
		for i, m := range n.get(key).entries() {
			add(&m.value, key, i, p.member(key).member(m.raw).field.String())
		}
	}
	add(n.get("url"), "url", 0, "url")
	oauth := n.get("oauth")
	if address := n.get("url"); address != nil && address.pieces != nil && oauth != nil && !oauth.isFalse() {
		below := p.member("oauth")
		b.report.fail(oauth.offset, below.at, below.describe("needs an address that is known before the server starts, and the 'url' names a secret"),
			"put the secret into 'headers', or remove 'oauth'")
	}
	add(oauth.get("clientSecret"), clientSecretKey, 0, clientSecretKey)
	add(oauth.get("identityProvider").get("clientSecret"), providerSecretKey, 0, providerSecretKey)
	return all
}

// checkArgument checks an argument with a form: every user of the machine can see it while the program runs.
func (b *builder) checkArgument(server, argument *node, p place) {
	if server.get("builtin") != nil {
		b.report.fail(argument.offset, p.at, p.describe("cannot name a secret, since the server is a built-in one"), "write the value")
		return
	}
	b.report.warn(argument.offset, p.at, p.describe("names a secret, and other users of this machine can see arguments while the program runs"),
		"if the program can read it from a variable, put it into 'env'")
}

// Forms returns the forms of the server, each once.
func (s *Server) Forms() (forms []Form) {
	for _, text := range s.Deferred {
		forms = appendForms(forms, text.Pieces)
	}
	return forms
}

// forms returns the forms of a value, each once.
func (n *node) forms() []Form {
	forms := appendForms(nil, n.pieces)
	for i := range n.elements {
		forms = append(forms, n.elements[i].forms()...)
	}
	for i := range n.members {
		forms = append(forms, n.members[i].value.forms()...)
	}
	slices.SortFunc(forms, func(a, b Form) int { return strings.Compare(a.Text, b.Text) })
	return slices.CompactFunc(forms, func(a, b Form) bool { return a.Text == b.Text })
}

func appendForms(forms []Form, pieces []Piece) []Form {
	for _, piece := range pieces {
		if piece.Form != nil && !slices.ContainsFunc(forms, func(f Form) bool { return f.Text == piece.Form.Text }) {
			forms = append(forms, *piece.Form)
		}
	}
	return forms
}

// defers reports whether the text of a key has forms.
func (s *Server) defers(key string) bool {
	return slices.ContainsFunc(s.Deferred, func(d Deferred) bool { return d.Key == key })
}

// Fill returns the server with values in place of its forms. The result is for the start of the server alone: what is
// stored, compared and shown is s. The settings of OAuth keep theirs; see FillOAuth.
func (s *Server) Fill(value func(Form) (string, error)) (Server, error) {
	filled := *s
	if len(s.Deferred) == 0 {
		return filled, nil
	}
	filled.Args, filled.Env, filled.Headers = slices.Clone(s.Args), slices.Clone(s.Env), slices.Clone(s.Headers)
	for _, d := range s.Deferred {
		if d.Key == clientSecretKey || d.Key == providerSecretKey {
			continue
		}
		text, err := d.fill(value)
		if err != nil {
			return Server{}, err
		}
		wrong := ""
		switch d.Key {
		case "command":
			filled.Command = text
		case "args":
			filled.Args[d.Index] = text
		case "env":
			filled.Env[d.Index].Value = text
		case "headers":
			filled.Headers[d.Index].Value, wrong = text, checkHeaderValue(text)
		case "url":
			filled.URL, wrong = text, checkURL(text)
		}
		if wrong == "" && strings.ContainsRune(text, 0) {
			wrong = "holds a NUL character"
		}
		if wrong != "" {
			return Server{}, errors.New("'" + d.Label + "', with the value of its secret, " + wrong)
		}
	}
	return filled, nil
}

// FillOAuth is Fill for the settings of OAuth.
func (s *Server) FillOAuth(value func(Form) (string, error)) (*OAuth, error) {
	if s.OAuth == nil || !s.defers(clientSecretKey) && !s.defers(providerSecretKey) {
		return s.OAuth, nil
	}
	filled := *s.OAuth
	for _, d := range s.Deferred {
		if d.Key != clientSecretKey && d.Key != providerSecretKey {
			continue
		}
		text, err := d.fill(value)
		if err != nil {
			return nil, err
		}
		if d.Key == clientSecretKey {
			filled.ClientSecret = text
			continue
		}
		provider := *filled.IdentityProvider
		provider.ClientSecret = text
		filled.IdentityProvider = &provider
	}
	return &filled, nil
}

func (d *Deferred) fill(value func(Form) (string, error)) (string, error) {
	var text strings.Builder
	for _, piece := range d.Pieces {
		if piece.Form != nil {
			var err error
			if piece.Text, err = value(*piece.Form); err != nil {
				return "", err
			}
		}
		text.WriteString(piece.Text)
	}
	return text.String(), nil
}

// SecretsIn returns what to mask of the value of a form: the text, its lines, and what a header or an address has of it.
// Values of fewer than 8 characters are left out: they would mask the words of others.
func SecretsIn(value string) []string {
	found := &secrets{isCertain: true}
	found.addHeader(value)
	return found.list(nil)
}
