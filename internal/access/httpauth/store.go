package httpauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

const (
	// FileName is the name of the token file in the state folder.
	FileName = "tokens.json"

	tokenPrefix    = "mcpw_" // recognised by scanners for leaked secrets
	tokenBytes     = 32
	maxTokens      = 1000            // tokens in the file; a further one is refused
	maxName        = 64              // characters of a token name
	lockWait       = 5 * time.Second // for another command that writes the token file; then an error
	reloadInterval = time.Second     // between two checks of the token file for changes
	// unknownInterval is the time between two such checks because of unknown tokens: strangers cause no more.
	unknownInterval = 10 * time.Millisecond
)

// Store keeps the tokens in one file that several processes may use: the file is replaced as a whole, under a lock, and
// reloaded when it changes.
type Store struct {
	path string

	mu        sync.Mutex // guards the following fields
	tokens    []Token
	file      fs.FileInfo // of the last read, even if it failed; nil if there was no file
	checkedAt time.Time
	problem   error        // why the file could not be read last; the tokens that were read before stay in use
	log       *slog.Logger // of the gate that uses the store; may be nil
}

// Token is the stored part of a token: enough to recognise it, not to use it.
type Token struct {
	Name      string
	Toolboxes []string // toolboxes that it may see, in the order given; nil: all
	Rights    []Right  // at least one
	Created   time.Time
	Expires   time.Time // zero: never

	digest [sha256.Size]byte
}

// id identifies a token, also among later ones with the same name.
func (t Token) id() string { return hex.EncodeToString(t.digest[:16]) }

func (t Token) expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// Open reads the tokens from the file at path. A missing file means no tokens.
func Open(path string) (*Store, error) {
	s := &Store{path: path, checkedAt: time.Now()}
	tokens, file, err := readTokens(path)
	if err != nil {
		return nil, err
	}
	s.tokens, s.file = tokens, file
	return s, nil
}

// Grant describes a token to create.
type Grant struct {
	Name      string
	Toolboxes []string      // toolboxes that it may see; nil: all
	Rights    []Right       // empty: calls
	Lifetime  time.Duration // 0: unlimited
}

// Create creates a token and returns it. It cannot be retrieved later: only its hash is stored.
func (s *Store) Create(grant Grant) (string, error) {
	name, toolboxes := grant.Name, grant.Toolboxes
	if problem := checkName(name); problem != "" {
		return "", &toolbox.Error{
			Code:    toolbox.TokenInvalid,
			Message: fmt.Sprintf("The name of a token %s", problem),
			Hint:    "Name it after the client that uses it, such as laptop or ci.",
		}
	}
	if toolboxes != nil && len(toolboxes) == 0 || slices.Contains(toolboxes, "") {
		return "", &toolbox.Error{Code: toolbox.TokenInvalid, Message: fmt.Sprintf("Token '%s' must be for toolboxes with a name, or for all", name)}
	}
	rights, err := checkRights(grant.Rights)
	if err != nil {
		return "", err
	}
	var random [tokenBytes]byte
	_, _ = rand.Read(random[:]) // never fails: it would end the program
	token := tokenPrefix + base64.RawURLEncoding.EncodeToString(random[:])
	created := Token{
		Name: name, Toolboxes: slices.Clone(toolboxes), Rights: rights,
		Created: time.Now().UTC().Truncate(time.Second), digest: sha256.Sum256([]byte(token)),
	}
	if grant.Lifetime > 0 {
		created.Expires = created.Created.Add(grant.Lifetime)
	}
	err = s.update(func(tokens []Token) ([]Token, error) {
		if slices.ContainsFunc(tokens, func(t Token) bool { return t.Name == name }) {
			return nil, &toolbox.Error{
				Code:    toolbox.TokenExists,
				Message: fmt.Sprintf("There is a token named '%s' already, and it cannot be shown again", name),
				Hint:    fmt.Sprintf("Choose another name, or remove it first: mcp-workbench token remove %s", name),
				Cause:   fs.ErrExist,
			}
		}
		if len(tokens) >= maxTokens {
			return nil, &toolbox.Error{
				Code:    toolbox.TokensTooMany,
				Message: fmt.Sprintf("There are already %d tokens, the maximum", len(tokens)),
				Hint:    "Remove those that nobody uses: mcp-workbench token list, then mcp-workbench token remove NAME",
			}
		}
		return append(tokens, created), nil
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// Remove invalidates a token. Running servers notice within a second.
func (s *Store) Remove(name string) error {
	return s.update(func(tokens []Token) ([]Token, error) {
		var names []string
		for i, t := range tokens {
			if t.Name == name {
				return slices.Delete(tokens, i, i+1), nil
			}
			names = append(names, t.Name)
		}
		return nil, unknownToken(name, names)
	})
}

func unknownToken(name string, names []string) error {
	hint := "There are no tokens. To create one: mcp-workbench token add NAME"
	if near := toolbox.Nearest(name, names, 1); len(near) > 0 {
		hint = fmt.Sprintf("Did you mean '%s'?", near[0])
	} else if len(names) > 0 {
		hint = "See: mcp-workbench token list"
	}
	return &toolbox.Error{Code: toolbox.TokenNotFound, Message: fmt.Sprintf("There is no token named '%s'", name), Hint: hint, Cause: fs.ErrNotExist}
}

// List returns all tokens in the order of their creation.
func (s *Store) List() []Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reloadIfChanged(reloadInterval)
	return slices.Clone(s.tokens)
}

// Problem returns why the file cannot be read now; nil if it can. Meanwhile the tokens that were read before stay in use.
func (s *Store) Problem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reloadIfChanged(reloadInterval)
	return s.problem
}

// validIDs returns the IDs of the tokens that are valid.
func (s *Store) validIDs(now time.Time) map[string]bool {
	valid := make(map[string]bool)
	for _, token := range s.List() {
		if !token.expired(now) {
			valid[token.id()] = true
		}
	}
	return valid
}

// Verify returns the owner of a token. An unknown one may have been made just now: the file is looked at again, at a bounded rate.
func (s *Store) Verify(token string) (Identity, bool) {
	digest := sha256.Sum256([]byte(token))
	for _, interval := range []time.Duration{reloadInterval, unknownInterval} {
		s.mu.Lock()
		s.reloadIfChanged(interval)
		tokens := s.tokens // never changed in place
		s.mu.Unlock()
		t := find(tokens, digest)
		if t != nil && t.expired(time.Now()) {
			return Identity{}, false
		}
		if t != nil {
			return Identity{Kind: ByToken, Name: t.Name, ID: t.id(), Toolboxes: slices.Clone(t.Toolboxes), Rights: t.Rights, Credential: t.id()}, true
		}
	}
	return Identity{}, false
}

// find returns the token with a digest; nil if there is none. It compares all tokens, so that its duration does not reveal a near
// match.
func find(tokens []Token, digest [sha256.Size]byte) *Token {
	found := -1
	for i := range tokens {
		match := subtle.ConstantTimeCompare(digest[:], tokens[i].digest[:])
		found = subtle.ConstantTimeSelect(match, i, found)
	}
	if found < 0 {
		return nil
	}
	return &tokens[found]
}

// reloadIfChanged reloads the file if it changed, at most once per interval. An unusable file is ignored: a half-finished edit
// must not lock everybody out. The caller holds mu.
func (s *Store) reloadIfChanged(interval time.Duration) {
	if time.Since(s.checkedAt) < interval {
		return
	}
	s.checkedAt = time.Now()
	file, err := os.Stat(s.path)
	if err == nil && sameFile(file, s.file) {
		return
	}
	tokens, file, err := readTokens(s.path)
	if err != nil {
		if s.log != nil && !sameFile(file, s.file) {
			s.log.Warn("could not reload the tokens; the previous ones stay in use", "reason", err)
		}
		s.file, s.problem = file, err
		return
	}
	s.tokens, s.file, s.problem = tokens, file, nil
}

// sameFile reports whether a file is unchanged, mode included; nil means no file.
func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return safefile.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}

// update changes the file under the lock. If change fails, nothing is written.
func (s *Store) update(change func([]Token) ([]Token, error)) error {
	if err := safefile.MakeFolder(filepath.Dir(s.path)); err != nil {
		return s.explain("make the folder of", err)
	}
	release, err := safefile.Lock(context.Background(), s.path+".lock", lockWait)
	if err != nil {
		return s.explain("lock", err)
	}
	defer release()
	tokens, _, err := readTokens(s.path)
	if err != nil {
		return err
	}
	if tokens, err = change(tokens); err != nil {
		return err
	}
	data, err := encodeTokens(tokens)
	if err != nil {
		return err
	}
	if err := safefile.Replace(s.path, ".tokens-*", data); err != nil {
		return s.explain("write", err)
	}
	tokens, file, err := readTokens(s.path)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens, s.file, s.checkedAt, s.problem = tokens, file, time.Now(), nil
	return nil
}

func (s *Store) explain(what string, err error) error {
	reason := err
	if inner := errors.Unwrap(err); inner != nil {
		reason = inner // the message names the path already
	}
	return &toolbox.Error{Code: toolbox.TokensUnusable, Message: fmt.Sprintf("Cannot %s the tokens in %s: %v", what, s.path, reason), Cause: err}
}

// reportTo sets the log for reload errors.
func (s *Store) reportTo(log *slog.Logger) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = log
}

// checkName returns what is wrong with a name, or "". Names appear in logs and on command lines.
func checkName(name string) string {
	isPlain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r)
	}
	switch {
	case name == "":
		return "cannot be empty"
	case len(name) > maxName:
		return fmt.Sprintf("can have at most %d characters", maxName)
	case name[0] == '-':
		return "cannot begin with '-'"
	case strings.ContainsFunc(name, func(r rune) bool { return !isPlain(r) }):
		return "can hold only letters, digits and . _ -"
	}
	return ""
}
