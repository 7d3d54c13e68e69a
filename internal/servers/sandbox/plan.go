package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Program is what runs in a sandbox.
type Program struct {
	Path  string   // of the executable, absolute
	Args  []string // with the name
	Env   []string // NAME=value
	Dir   string   // absolute
	Own   bool     // the folder was configured for it
	Temp  string   // a folder that only it uses, for temporary files
	Cache string   // a folder that only it uses, for what it downloads; it is kept
}

// Plan is a policy made concrete for a program. The launcher gets it as JSON.
type Plan struct {
	Path  string   `json:"path"`
	Args  []string `json:"args"`
	Dir   string   `json:"-"` // where it runs
	Env   []string `json:"env"`
	Read  []string `json:"read,omitempty"`
	Write []string `json:"write,omitempty"`

	ReadAll    bool  `json:"readAll,omitempty"`
	Network    bool  `json:"network,omitempty"`
	Memory     int64 `json:"memory,omitempty"`
	BestEffort bool  `json:"bestEffort,omitempty"`

	LandlockVersion int `json:"landlockVersion,omitempty"`

	Settings []string `json:"-"` // see Policy
}

// NewPlan returns the plan for a program. It reads the file system only.
func NewPlan(policy Policy, program Program) (*Plan, error) {
	plan := &Plan{
		Path: program.Path, Args: program.Args, Dir: program.Dir, ReadAll: policy.readsAll(), Network: policy.Network, Memory: policy.Memory,
		BestEffort: policy.BestEffort, LandlockVersion: policy.LandlockVersion, Settings: policy.Settings,
	}
	read, write, err := files(&policy, program.Dir)
	if err != nil {
		return nil, err
	}
	own, err := realPaths("", []string{program.Temp, program.Cache}, "")
	if err != nil {
		return nil, err
	}
	plan.Write = outermost(slices.Concat(own, write))
	if err := checkLinks(&policy, program.Dir, plan.Write); err != nil {
		return nil, err
	}
	env := newEnvironment(program.Env, plan.Write)
	env.set("TMPDIR", own[0])
	env.set("TMP", own[0])
	env.set("TEMP", own[0])
	applyPresets(env, own[1], policy.Network)
	plan.Env = env.entries
	if !policy.readsAll() {
		if program.Own && policy.Bound.readsAll() {
			if link := linkWithin(program.Dir, plan.Write); link != "" {
				return nil, failure("Name what the link is to lead to.", "'cwd' is %s, which the link %s is part of, and the server could let that link lead anywhere: it is in a folder that the server can change", program.Dir, link)
			}
			read = append(read, program.Dir)
		}
		read = slices.Concat(read, existing(systemPaths()), programPaths(program, env))
		plan.Read = outermost(read)
	}
	return plan, nil
}

// readsAll reports whether all files can be read.
func (p *Policy) readsAll() bool { return p == nil || p.ReadAll && p.Bound.readsAll() }

// files returns the paths of a policy without symbolic links.
func files(policy *Policy, dir string) (read, write []string, err error) {
	write, err = realPaths("write", policy.Write, dir)
	if err != nil {
		return nil, nil, err
	}
	read, err = realPaths("read", policy.Read, dir)
	if err != nil || policy.Bound == nil {
		return read, write, err
	}
	// The bound is compared by what paths lead to: a link in a project can lead anywhere.
	boundRead, boundWrite, err := files(policy.Bound, dir)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case policy.ReadAll:
		read = slices.Concat(boundRead, boundWrite)
	case !policy.Bound.readsAll():
		read = common(slices.Concat(read, write), slices.Concat(boundRead, boundWrite))
	default:
		read = slices.Concat(read, write)
	}
	return read, common(write, boundWrite), nil
}

// common returns what is within paths of both lists.
func common(a, b []string) (both []string) {
	for _, path := range a {
		if isWithinAny(path, b) {
			both = append(both, path)
		}
	}
	for _, path := range b {
		if isWithinAny(path, a) {
			both = append(both, path)
		}
	}
	return both
}

// Writes reports whether the plan lets a program write to a path.
func (p *Plan) Writes(path string) bool { return isWithinAny(path, p.Write) }

// Reads reports whether the plan lets a program read a path.
func (p *Plan) Reads(path string) bool {
	return p.ReadAll && !isWithin(path, "/dev") || isWithinAny(path, p.Read) || p.Writes(path)
}

// realPaths returns paths of the configuration without symbolic links. A path that does not exist is an error: nothing can
// be allowed for it.
func realPaths(key string, paths []string, dir string) ([]string, error) {
	var found []string
	for _, path := range paths {
		if path == Cwd {
			path = dir
		}
		resolved, err := filepath.EvalSymlinks(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, failure("Create it, or correct 'sandbox."+key+"'.", "'sandbox.%s' names %s, which does not exist", key, path)
		case err != nil:
			return nil, failure("Correct 'sandbox."+key+"'.", "'sandbox.%s' names %s, which cannot be used: %v", key, path, err)
		}
		found = append(found, resolved)
	}
	return found, nil
}

// outermost returns paths without those that are within another one.
func outermost(paths []string) []string {
	var kept []string
	for _, path := range paths {
		if isWithinAny(path, kept) {
			continue
		}
		kept = slices.DeleteFunc(kept, func(other string) bool { return isWithin(other, path) })
		kept = append(kept, path)
	}
	return kept
}

func isWithinAny(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return isWithin(path, folder) })
}

func isWithin(path, folder string) bool {
	return path == folder || folder == "/" || strings.HasPrefix(path, folder+"/")
}

// existing returns the paths that exist, without symbolic links.
func existing(paths []string) []string {
	var found []string
	for _, path := range paths {
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			found = append(found, resolved)
		}
	}
	return found
}

// environment is an environment that is changed.
type environment struct {
	entries []string
	write   []string // paths that may be written to
}

func newEnvironment(entries, write []string) *environment {
	return &environment{entries: slices.Clone(entries), write: write}
}

func (e *environment) get(name string) string {
	for _, entry := range slices.Backward(e.entries) { // the last one counts
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

func (e *environment) set(name, value string) {
	e.entries = slices.DeleteFunc(e.entries, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
	e.entries = append(e.entries, name+"="+value)
}

// setFolder names a folder that the program writes to, unless it has one that it may write to.
func (e *environment) setFolder(name, folder string) {
	if have := e.get(name); have != "" && filepath.IsAbs(have) && isWithinAny(filepath.Clean(have), e.write) {
		return
	}
	e.set(name, folder)
}

// home returns the home folder of the program.
func (e *environment) home() string {
	if home := e.get("HOME"); filepath.IsAbs(home) {
		return filepath.Clean(home)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}
