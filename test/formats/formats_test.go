// Package formats tests that stored files of every format that existed are read, and that newer ones are refused and stay as
// they are.
package formats

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	zalando "github.com/zalando/go-keyring"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/access/keyring"
	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/ledger"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/audit"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/recording"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// user reads what is stored in a folder, changes it if it can, and returns what it has read.
type user struct {
	kind *stored.Kind
	file string // of the kind, in the folder; it may be a pattern
	want string // what is read of each fixture
	// isQuiet is for what is not worth an error: it is ignored, with a warning.
	isQuiet bool
	use     func(folder string) (string, error)
}

var login = credentials.Key{Server: "https://mcp.example.com/mcp", Issuer: "https://login.example.com"}

func users() []user {
	return []user{
		{stored.Trust, "trust/*.json", "/project/workbench-config.json", false, func(folder string) (string, error) {
			records, err := trust.NewStore(folder).List()
			return joined(records, func(r trust.Record) string { return r.Path }), err
		}},
		{stored.Tokens, "tokens.json", "laptop", false, func(folder string) (string, error) {
			store, err := httpauth.Open(filepath.Join(folder, "tokens.json"))
			if err != nil {
				return "", err
			}
			names := joined(store.List(), func(t httpauth.Token) string { return t.Name })
			_, err = store.Create(httpauth.Grant{Name: "another"})
			return names, err
		}},
		{stored.Logins, "logins/*.json", "refresh-me", false, func(folder string) (string, error) {
			store := credentials.Open(credentials.Folder(folder), credentials.Options{})
			found, err := store.Load(login)
			if err != nil {
				if _, fresh := store.RemoveUnusable(context.Background(), login.Server, ""); !stored.IsNewer(fresh) {
					return "", fmt.Errorf("a login of a newer format may be removed: %w", fresh)
				}
				return "", err
			}
			lock, err := store.Lock(context.Background(), login)
			if err != nil {
				return "", err
			}
			defer lock.Unlock()
			return found.Refresh, lock.Save(found)
		}},
		{stored.Secrets, "secrets.json", "github-token", false, func(folder string) (string, error) {
			zalando.MockInit() // the names are in the file, and the values elsewhere
			book := keyring.OpenBook(folder)
			names, err := book.Names()
			if err == nil {
				_, err = book.Set(context.Background(), "another", "value")
			}
			return strings.Join(names, " "), err
		}},
		{stored.HopsKey, "hops.key", strings.Repeat("6b", 32), true, func(folder string) (string, error) {
			return hex.EncodeToString(hops.Key(folder)), nil
		}},
		{stored.AuditKey, "audit-seal.key", "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29", false, func(folder string) (string, error) {
			key, err := audit.PublicKey(folder)
			return hex.EncodeToString(key), err
		}},
		{stored.Audit, "audit/audit-000001.jsonl", "[]", false, func(folder string) (string, error) {
			path := filepath.Join(folder, "audit")
			if err := audit.Record(context.Background(), audit.Options{Folder: path, Keys: folder}, audit.Logout("dev", "github")); err != nil {
				return "", err
			}
			key, err := audit.PublicKey(folder)
			if err != nil {
				return "", err
			}
			report, err := audit.Verify(path, audit.VerifyOptions{Keys: []ed25519.PublicKey{key}})
			if err != nil {
				return "", err
			}
			return fmt.Sprint(report.Findings), nil
		}},
		{stored.History, "history/*.jsonl", "7", false, func(folder string) (string, error) {
			calls, err := history.ReadStored(history.Folder(folder), 10, func(history.Owner, *history.Record) bool { return true })
			return joined(calls, func(r history.Record) string { return strconv.FormatUint(r.Seq, 10) }), err
		}},
		{stored.Calls, "calls.json", "1", false, func(folder string) (string, error) {
			rule := &config.PolicyRule{
				Tools: []toolbox.Pattern{"a/*"}, Limit: &config.PolicyLimit{Calls: 10, Window: 100 * 365 * 24 * time.Hour}, Else: config.Deny, File: "/c.json", Line: 3,
			}
			claim := policy.Claim{Rule: rule, Caller: config.CallerStdio}
			used, _, err := ledger.New(folder).Used(claim)
			if err == nil {
				_, _, err = ledger.New(folder).Take([]policy.Claim{claim})
			}
			return strconv.Itoa(used), err
		}},
		{stored.Backups, "clients/*.json", "/home/user/.cursor/mcp.json", false, func(folder string) (string, error) {
			last, err := clients.Backups{Dir: filepath.Join(folder, "clients")}.Last("cursor", "")
			if last == nil {
				return "", err
			}
			return last.File, err
		}},
		{stored.Definitions, "definitions/*.json", "changed", true, func(folder string) (string, error) {
			_, changes := catalog.NewBaseline(filepath.Join(folder, "definitions"), nil).Compare("fs", catalog.Hash{1}, offered(`{"name":"a","description":"new","inputSchema":{}}`), plain)
			if len(changes) > 0 {
				return "changed", nil
			}
			return "", nil
		}},
		{stored.Changes, "definitions/*.changes", "open", true, func(folder string) (string, error) {
			b := catalog.NewBaseline(filepath.Join(folder, "definitions"), nil)
			now, _ := b.Compare("fs", catalog.Hash{1}, offered(`{"name":"a","description":"new","inputSchema":{}}`), plain)
			if now.OpenChanges() == 0 {
				return "", nil
			}
			return "open", b.AcceptChange(catalog.Hash{1}, now, now.ChangeIDs()[0], plain)
		}},
		{stored.Hints, "definitions/*.hints", "doubted", true, func(folder string) (string, error) {
			now, _ := catalog.NewBaseline(filepath.Join(folder, "definitions"), nil).Compare("fs", catalog.Hash{1}, offered(`{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":true}}`), plain)
			if now.Tools[0].HintsDoubted {
				return "doubted", nil
			}
			return "", nil
		}},
		{stored.Tools, "definitions/*.tools", "a", true, func(folder string) (string, error) {
			copies := catalog.NewCopies(filepath.Join(folder, "definitions"), nil)
			known := copies.Load("fs", catalog.Hash{1}, toolbox.Filter{})
			copies.Save("fs", catalog.Hash{1}, offered(`{"name":"b","inputSchema":{}}`), plain)
			if known == nil {
				return "", nil
			}
			return known.Tools[0].Name, nil
		}},
		{stored.Lists, "definitions/*.lists", "1", true, func(folder string) (string, error) {
			copies := catalog.NewCopies(filepath.Join(folder, "definitions"), nil)
			known := copies.LoadLists("fs", catalog.Hash{1})
			copies.SaveLists("fs", catalog.Hash{1}, catalog.Lists{catalog.Prompts: catalog.NewList("fs", catalog.Prompts, nil, "")}, plain)
			if known == nil {
				return "", nil
			}
			return strconv.Itoa(len(known[catalog.Prompts].Entries)), nil
		}},
		{stored.Lock, "workbench.lock", "dev/fs", false, func(folder string) (string, error) {
			path := filepath.Join(folder, "workbench.lock")
			data, err := os.ReadFile(path)
			if err != nil {
				return "", err
			}
			lock, err := app.ParseLock(path, data)
			if err != nil {
				return "", err
			}
			return lock.Servers[0].Toolbox + "/" + lock.Servers[0].Server, nil
		}},
		{stored.ServerRecordings, "recordings/*.jsonl", "dev/fs 2", false, func(folder string) (string, error) {
			info, err := recording.NewBook(recording.Options{Folder: recording.Folder(folder)}).Find("20260131T120000-dev-fs-7.jsonl")
			return fmt.Sprintf("%s/%s %d", info.Toolbox, info.Server, info.Messages), err
		}},
		{stored.Recording, "session.jsonl", "fs", false, func(folder string) (string, error) {
			file, err := os.Open(filepath.Join(folder, "session.jsonl"))
			if err != nil {
				return "", err
			}
			defer file.Close()
			recorded, err := recording.Read(file)
			if err != nil {
				return "", err
			}
			return recorded.Header.Server, nil
		}},
	}
}

func joined[T any](all []T, name func(T) string) string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = name(one)
	}
	return strings.Join(names, " ")
}

func plain(text string) string { return text }

func offered(definition string) *catalog.Snapshot {
	return catalog.NewSnapshot("fs", catalog.Listing{Definitions: []wire.Payload{wire.Raw([]byte(definition))}}, toolbox.Filter{})
}

// fixtures are the folders of a kind: one for each format, and one from before the format was written to the file.
func fixtures(file string) string {
	name, _, _ := strings.Cut(strings.NewReplacer("/", "-", "*", "x").Replace(file), ".")
	return filepath.Join("testdata", name+strings.ReplaceAll(filepath.Ext(file), ".", "-"))
}

func TestEveryFormatIsRead(t *testing.T) {
	for _, u := range users() {
		all, err := os.ReadDir(fixtures(u.file))
		if err != nil {
			t.Fatal(err)
		}
		covered := 0
		for _, entry := range all {
			format, _, _ := strings.Cut(entry.Name(), "-")
			n, err := strconv.Atoi(format)
			if err != nil {
				t.Fatal(err)
			}
			covered = max(covered, n)
			t.Run(u.file+"/"+entry.Name(), func(t *testing.T) {
				folder := copied(t, filepath.Join(fixtures(u.file), entry.Name()))
				if got, err := u.use(folder); err != nil || got != u.want {
					t.Errorf("%q, %v; want %q", got, err, u.want)
				}
			})
		}
		if covered != u.kind.Format {
			t.Errorf("%s has fixtures up to format %d, and the program writes %d", u.file, covered, u.kind.Format)
		}
	}
}

// format is where a file says its format.
var format = regexp.MustCompile(`("(?:version|format|recording)" ?: ?|^mcp-workbench [a-z ]+ )(\d+)`)

func TestNewerFormatsAreRefused(t *testing.T) {
	for _, u := range users() {
		t.Run(u.file, func(t *testing.T) {
			folder := copied(t, filepath.Join(fixtures(u.file), strconv.Itoa(u.kind.Format)))
			paths, err := filepath.Glob(filepath.Join(folder, u.file))
			if err != nil || len(paths) != 1 {
				t.Fatal(paths, err)
			}
			before, err := os.ReadFile(paths[0])
			if err != nil {
				t.Fatal(err)
			}
			at := format.FindSubmatchIndex(before)
			newer := bytes.Join([][]byte{before[:at[4]], []byte("99"), before[at[5]:]}, nil)
			if err := os.WriteFile(paths[0], newer, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := u.use(folder)
			if u.isQuiet {
				if err != nil || got == u.want {
					t.Errorf("%q, %v", got, err)
				}
			} else if !stored.IsNewer(err) || !strings.Contains(err.Error(), fmt.Sprintf("a newer mcp-workbench (format 99, this one knows %d)", u.kind.Format)) {
				t.Errorf("%q, %v", got, err)
			}
			if after, err := os.ReadFile(paths[0]); err != nil || !bytes.Equal(after, newer) {
				t.Errorf("the file was changed, %v:\n%s", err, after)
			}
		})
	}
}

// Every kind with a format is used here, or in a test of its package.
func TestEveryKindIsTested(t *testing.T) {
	tested := map[*stored.Kind]bool{stored.Notebook: true}
	for _, u := range users() {
		tested[u.kind] = true
	}
	for _, kind := range stored.Kinds() {
		if kind.Format > 0 && !tested[kind] {
			t.Errorf("nothing tests the formats of %s", kind.Patterns[0])
		}
	}
}

// copied returns a copy of a folder, for this user only.
func copied(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(to, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := os.FileMode(0o600)
		if entry.IsDir() {
			mode = 0o700
		}
		return os.Chmod(path, mode)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}
