package doctor

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/audit"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Names of the checks.
const (
	checkConfig = "configuration"
	checkTrust  = "trust"
	checkEnv    = "workbench.env"
	checkLock   = "lock"
	checkState  = "state folder"
	checkStored = "stored files"
	checkAudit  = "audit log"
	checkClient = "clients"
)

// Configuration checks a loaded configuration and the places of its files.
func Configuration(cfg *config.Config, places []config.Place) []Check {
	var checks []Check
	if len(places) == 0 {
		checks = append(checks, Check{
			Name: checkConfig, Verdict: Warning,
			Detail: "no configuration was found; the built-in 'starter' toolbox is used",
			Fix:    "To make one of the servers that your clients have: mcp-workbench init",
		})
	}
	for _, file := range cfg.Files {
		at := slices.IndexFunc(places, func(place config.Place) bool { return place.Path == file.Path })
		if at >= 0 {
			check := Check{Name: checkConfig, Verdict: Fine, Detail: fmt.Sprintf("%s (%s)", file.Path, foundBy(places[at].Origin))}
			if faulty := faultyIn(cfg, file.Path); faulty > 0 {
				check.Verdict = Warning
				check.Detail += ": " + toolbox.Count(faulty, "server of it is faulty", "servers of it are faulty")
			}
			checks = append(checks, check)
		}
	}
	for _, warning := range cfg.Warnings {
		checks = append(checks, Check{Name: checkConfig, Verdict: Warning, Detail: formatProblem(cfg.Path, warning), Fix: warning.Hint})
	}
	for _, file := range cfg.Files {
		if check, ok := variables(file.Path); ok {
			checks = append(checks, check)
		}
	}
	if err := app.CheckLock(cfg); err != nil {
		return append(checks, failed(checkLock, err))
	}
	for _, file := range cfg.Files {
		if file.Locked {
			checks = append(checks, Check{Name: checkLock, Verdict: Fine, Detail: file.LockPath()})
		}
	}
	return checks
}

// faultyIn counts the enabled servers of a file that have an invalid definition.
func faultyIn(cfg *config.Config, file string) (faulty int) {
	for _, box := range cfg.Toolboxes {
		for i := range box.Servers {
			if box.File == file && box.Servers[i].Fault != nil && !box.Servers[i].Disabled {
				faulty++
			}
		}
	}
	return faulty
}

func foundBy(origin config.Origin) string {
	switch origin {
	case config.Named:
		return "named by --config or WORKBENCH_CONFIG"
	case config.Local:
		return "in the working folder"
	default:
		return "in your configuration folder"
	}
}

// formatProblem formats a problem with its file, in the form that terminals link, without the hint.
func formatProblem(file string, problem config.Problem) string {
	problem.Hint = ""
	if problem.File != "" {
		file, problem.File = problem.File, ""
	}
	text := strings.ReplaceAll(problem.String(), "\n    ", "\n")
	if problem.Line > 0 {
		return file + ":" + text
	}
	return text
}

// variables checks who can read the file of secrets. The configuration's own warnings report that others can.
func variables(file string) (Check, bool) {
	path := config.EnvPath(file)
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 != 0 {
		return Check{}, false
	}
	return Check{Name: checkEnv, Verdict: Fine, Detail: fmt.Sprintf("%s is yours alone (%#o)", path, info.Mode().Perm())}, true
}

// Unusable is the check of a configuration that cannot be used.
func Unusable(err error) []Check {
	wrong, ok := errors.AsType[*config.Error](err)
	if !ok {
		return []Check{failed(checkConfig, err)}
	}
	var checks []Check
	for _, problem := range wrong.Problems {
		detail := formatProblem(wrong.File, problem)
		if problem.Line == 0 {
			detail = wrong.File + ": " + detail
		}
		checks = append(checks, Check{Name: checkConfig, Verdict: Failed, Detail: detail, Fix: problem.Hint})
	}
	for _, warning := range wrong.Warnings {
		checks = append(checks, Check{Name: checkConfig, Verdict: Warning, Detail: formatProblem(wrong.File, warning), Fix: warning.Hint})
	}
	return checks
}

// OtherFaults warns about faults of servers that are not examined.
func OtherFaults(cfg *config.Config, patients []Patient) (checks []Check) {
	for _, box := range cfg.Toolboxes {
		for i := range box.Servers {
			server := &box.Servers[i]
			isExamined := slices.ContainsFunc(patients, func(p Patient) bool {
				return p.Toolbox == box.Name && p.Config.Name == server.Name && !server.Disabled
			})
			if server.Fault != nil && !isExamined {
				checks = append(checks, Check{Name: checkConfig, Verdict: Warning, Detail: places(server.Fault), Fix: hints(server.Fault)})
			}
		}
	}
	return checks
}

// places returns the problems of a server's definition, one per line.
func places(fault *config.Error) string {
	var lines []string
	for _, problem := range fault.Problems {
		lines = append(lines, formatProblem(fault.File, problem))
	}
	return strings.Join(lines, "\n")
}

// hints returns the advice for these problems.
func hints(fault *config.Error) string {
	var lines []string
	for _, problem := range fault.Problems {
		if problem.Hint != "" {
			lines = appendNew(lines, problem.Hint)
		}
	}
	return strings.Join(lines, "\n")
}

// Untrusted is the check of a configuration that is not trusted.
func Untrusted(err error) []Check { return []Check{failed(checkTrust, err)} }

func failed(name string, err error) Check {
	check := Check{Name: name, Verdict: Failed, Detail: err.Error()}
	if known, ok := errors.AsType[*toolbox.Error](err); ok {
		check.Detail, check.Fix = known.Message, known.Hint
	}
	return check
}

// StateFolder checks the state folder; "": none.
func StateFolder(dir string) Check {
	const forgets = "changes of tools are not noticed, and trust and tokens cannot be kept"
	if dir == "" {
		return Check{
			Name: checkState, Verdict: Warning, Detail: "there is none, since neither HOME nor XDG_STATE_HOME is set: " + forgets,
			Fix: "Set XDG_STATE_HOME to a folder that only you can use.",
		}
	}
	err := safefile.MakeFolder(dir)
	if err == nil {
		err = tryWriting(dir)
	}
	if err != nil {
		return Check{
			Name: checkState, Verdict: Warning, Detail: fmt.Sprintf("%s cannot be written: %v: %s", dir, plainCause(err), forgets),
			Fix: "Make the folder yours to write, or set XDG_STATE_HOME to another one.",
		}
	}
	return Check{Name: checkState, Verdict: Fine, Detail: dir + " can be written"}
}

// AuditLog checks whether events can be recorded, if the configuration has them recorded.
func AuditLog(cfg *config.Config, stateDir string) []Check {
	if cfg == nil || !cfg.Audit.On {
		return nil
	}
	options := app.AuditOptions(cfg.Audit, stateDir, "")
	err := audit.Probe(options.Folder)
	if err == nil {
		return []Check{{Name: checkAudit, Verdict: Fine, Detail: options.Folder + " can be written"}}
	}
	check := Check{
		Name: checkAudit, Verdict: Warning, Detail: fmt.Sprintf("%s cannot be written: %v: events are not recorded", options.Folder, plainCause(err)),
		Fix: "Make room on the disk or the folder yours to write, or change audit.folder. For its state: mcp-workbench audit",
	}
	if cfg.Audit.Required {
		check.Verdict = Failed
		check.Detail += ", and calls are refused, because audit.required is true"
	}
	return []Check{check}
}

// StoredFiles checks that this version knows the formats of all stored files.
func StoredFiles(folders map[stored.Place]string) (checks []Check) {
	found, _ := stored.Find(folders) // a folder that cannot be read is another check's
	for _, file := range found {
		if file.Newer != nil {
			check := failed(checkStored, file.Newer)
			check.Verdict = Warning
			checks = append(checks, check)
		}
	}
	return checks
}

// Clients reports which clients have the workbench. None is fine: it may be served over HTTP, or not be connected yet.
func Clients(found []clients.FileState) Check {
	var having, without []string
	next := ""
	for _, s := range found {
		switch {
		case len(s.Self) > 0:
			having = appendNew(having, s.Client.Title)
		case s.Problem != nil:
			without = appendNew(without, s.Client.Title+" (its file cannot be read)")
		case s.Client.Retired == "":
			without = appendNew(without, s.Client.Title)
			if next == "" {
				next = "To connect one: mcp-workbench connect " + s.Client.ID
			}
		}
	}
	switch {
	case len(having) > 0:
		return Check{Name: checkClient, Verdict: Fine, Detail: "the workbench is connected to " + strings.Join(having, ", ")}
	case len(without) > 0:
		return Check{Name: checkClient, Verdict: Skipped, Detail: "none has the workbench yet, of " + strings.Join(without, ", "), Fix: next}
	}
	return Check{Name: checkClient, Verdict: Skipped, Detail: "no MCP client was found on this machine", Fix: "To list the known clients: mcp-workbench connect"}
}

func appendNew(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

func tryWriting(dir string) error {
	file, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// plainCause drops the operation and the path.
func plainCause(err error) error {
	if inner, ok := errors.AsType[*os.PathError](err); ok {
		return inner.Err
	}
	return err
}

// Setup checks the configuration as serving would load it. The configuration is nil if it cannot be
// used.
func Setup(s *loader.Loaded) (*config.Config, []Check) {
	var checks []Check
	if s.Untrusted != nil {
		checks = append(checks, Untrusted(s.Untrusted.Refusal())...)
	}
	for _, err := range s.Broken {
		checks = append(checks, Unusable(err)...)
	}
	if s.IsEmpty() {
		return nil, checks
	}
	own := Configuration(s.Config, s.Places)
	checks = append(checks, own...)
	if !NewReport(own, nil).OK { // serving would refuse it as well
		return nil, checks
	}
	return s.Config, checks
}
