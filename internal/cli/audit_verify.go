package cli

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/audit"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

type verifyFlags struct {
	head       string
	publicKeys []string
	asJSON     bool
}

func newAuditVerify(g *globals) *cobra.Command {
	var flags verifyFlags
	cmd := &cobra.Command{
		Use:   "verify [FOLDER|FILE]",
		Short: "Check the chain and the seals of an audit log",
		Long: `Check that no line of an audit log was changed, removed or added. It says up to which seal it
vouches for the log, and names the file and the line of what is wrong: of the first 20
findings, and the number of others.

A program that runs as you can read the key, and write a new log. Only what was kept
elsewhere shows that: the head of an earlier time (--head), and the public key. A log whose
last lines were cut off is a valid log, too, unless a head from outside names one of them.

Seals name their keys. Those of a key that was not named vouch for nothing, and are reported:
another state folder of yours may write to the same folder, or the key was replaced.

The exit status is 0 if nothing is wrong and every key is known, and 1 otherwise.`,
		Example: `  mcp-workbench audit verify
  mcp-workbench audit verify --head 3f9a… --public-key 81c2…
  mcp-workbench audit verify --public-key 81c2… --public-key other.pub ~/audit
  mcp-workbench audit verify backup/audit-000001.jsonl`,
		Args: atMostOnePath("audit verify"),
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd, g, args) },
	}
	cmd.Flags().StringVar(&flags.head, "head", "", "hash of a line that the log must have, from 'mcp-workbench audit'")
	cmd.Flags().StringArrayVar(&flags.publicKeys, "public-key", nil, "public key of the seals, or a file with it; may be repeated (default: that of this user)")
	addJSONFlag(cmd, &flags.asJSON, "write the result as JSON")
	return cmd
}

func atMostOnePath(command string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return &usageError{err: fmt.Errorf("%s takes one folder or file, not %d", command, len(args))}
		}
		return nil
	}
}

func (f *verifyFlags) run(cmd *cobra.Command, g *globals, args []string) error {
	path, err := auditPath(g, args)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return auditUnreadable(path, err)
	}
	keys, err := f.keys()
	if err != nil {
		return err
	}
	head := strings.ToLower(strings.TrimSpace(f.head))
	if raw, err := hex.DecodeString(head); f.head != "" && (err != nil || len(raw) != 32) {
		return &usageError{err: errors.New("--head needs the 64 hexadecimal digits of a hash")}
	}
	report, err := audit.Verify(path, audit.VerifyOptions{Keys: keys, Head: head})
	if err != nil {
		return auditUnreadable(path, err)
	}
	if len(args) > 0 && report.Files == 0 && len(report.Findings) == 0 {
		return auditUnreadable(path, fs.ErrNotExist) // whoever names a place expects a log there
	}
	if f.asJSON {
		if err := writeJSON(cmd, report); err != nil {
			return err
		}
	} else {
		showReport(tty.Cleaned(cmd.OutOrStdout()), path, report, head != "")
	}
	if len(report.Findings) > 0 {
		return &toolbox.Error{
			Code: toolbox.AuditBroken, Message: fmt.Sprintf("The audit log at %s is not as it was written: %s", path, report.Findings[0]),
			Hint: "Keep a copy of it. What was changed can be before the place that is named, up to the seal before.",
		}
	}
	if len(report.Others) > 0 {
		return otherKeys(path, report)
	}
	return nil
}

// otherKeys is the error for a log in which nothing was found, and which has seals of keys that are not known.
func otherKeys(path string, r *audit.Report) error {
	other := r.Others[0]
	return &toolbox.Error{
		Code:    toolbox.AuditOtherKey,
		Message: fmt.Sprintf("No change was found in the audit log at %s, but it also has seals of another key, first at %s:%d", path, other.First.File, other.First.Line),
		Hint: "If another state folder of yours writes to this log, name all keys: --public-key " + strings.Join(r.Keys, " --public-key ") + " --public-key " + other.PublicKey +
			" (that state folder's 'mcp-workbench audit' prints it). Otherwise the key of the log was replaced: only a head that was kept elsewhere shows what it was before.",
	}
}

// keyProblem says why the key of this user cannot be read.
func keyProblem(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return ": you have written no audit log yet"
	}
	return fmt.Sprintf(": %v", err)
}

// keys returns the public keys to verify with.
func (f *verifyFlags) keys() (keys []ed25519.PublicKey, err error) {
	if len(f.publicKeys) == 0 {
		key, err := audit.PublicKey(config.StateDir())
		if err != nil {
			return nil, &toolbox.Error{
				Code: toolbox.AuditUnreadable, Message: "There is no key to verify the seals with" + keyProblem(err),
				Hint: "Name it with --public-key; 'mcp-workbench audit' prints it for the user who wrote the log.", Cause: err,
			}
		}
		return []ed25519.PublicKey{key}, nil
	}
	for _, text := range f.publicKeys {
		if data, err := os.ReadFile(text); err == nil {
			text = string(data)
		}
		for part := range strings.FieldsSeq(text) {
			key, err := audit.ParsePublicKey(part)
			if err != nil {
				return nil, &usageError{err: fmt.Errorf("--public-key: %w", err)}
			}
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, &usageError{err: errors.New("--public-key: there is no key")}
	}
	return keys, nil
}

// showReport writes what a verification found, and what it cannot find.
func showReport(out io.Writer, path string, r *audit.Report, hasHead bool) {
	fmt.Fprintf(out, "%s: %d %s, %d %s, %d %s\n", path, r.Files, plural(r.Files, "file"), r.Lines, plural(r.Lines, "line"), r.Seals, plural(r.Seals, "seal"))
	for _, finding := range r.Findings {
		fmt.Fprintf(out, "  wrong: %s\n", finding)
	}
	if r.Further > 0 {
		fmt.Fprintf(out, "  wrong: %d further %s\n", r.Further, plural(r.Further, "finding"))
	}
	if r.Lines == 0 && !hasHead {
		fmt.Fprintln(out, "There is nothing to verify. Whether there were lines, shows only a head that was kept elsewhere: --head HASH.")
	}
	if r.Lines == 0 {
		return
	}
	if r.Sealed.Line > 0 {
		before := "before it"
		if r.IsPart() {
			before = fmt.Sprintf("from line %d to it", r.First.Seq)
		}
		fmt.Fprintf(out, "Sealed up to line %d (%s:%d, %s): nothing %s was changed, if the key is still yours alone.\n",
			r.Sealed.Seq, r.Sealed.File, r.Sealed.Line, r.Sealed.Time.Local().Format(time.DateTime), before)
	}
	if after := r.Last.Seq - min(r.Last.Seq, r.Sealed.Seq); r.Sealed.Line == 0 && len(r.Findings) > 0 {
		fmt.Fprintln(out, "No seal that holds, of a key that is known, is before the first finding: nothing vouches for the lines.")
	} else if r.Sealed.Line == 0 {
		fmt.Fprintln(out, "No seal that holds, of a key that is known: nothing vouches for the lines.")
	} else if after > 0 {
		fmt.Fprintf(out, "%d %s the last seal that holds: nothing vouches for them.\n", after, map[bool]string{true: "line follows", false: "lines follow"}[after == 1])
	}
	for _, other := range r.Others {
		fmt.Fprintf(out, "%d %s of another key, from %s:%d to %s:%d: %s\n", other.Seals, map[bool]string{true: "seal is", false: "seals are"}[other.Seals == 1],
			other.First.File, other.First.Line, other.Last.File, other.Last.Line, other.PublicKey)
	}
	if r.IsPart() {
		fmt.Fprintf(out, "It begins with line %d; earlier ones are not here.\n", r.First.Seq)
	}
	for _, note := range []struct {
		what  string
		count uint64
	}{
		{"Lines that could not be written, as the log itself says", r.Lost},
		{"Lines that are incomplete, because a workbench was killed while it wrote, or writes now", uint64(r.Torn)},
		{"Workbenches that ended without a last line; what they had not yet written is lost", uint64(r.Killed)},
		{"Calls that were admitted, and whose end is not recorded", uint64(r.Open)},
	} {
		if note.count > 0 {
			fmt.Fprintf(out, "%s: %d\n", note.what, note.count)
		}
	}
	if hasHead && r.HasHead {
		fmt.Fprintln(out, "The head from outside is in the log: nothing up to it was cut off or written anew.")
	} else if !hasHead {
		fmt.Fprintln(out, "Whether lines at the end were cut off, or everything was written anew, shows only a head that was kept elsewhere: --head HASH.")
	}
	fmt.Fprintf(out, "Head: %s (line %d)\n", r.Last.Hash, r.Last.Seq)
}
