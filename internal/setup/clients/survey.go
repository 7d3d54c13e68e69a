package clients

import (
	"path/filepath"
	"slices"
)

// FileState is the state of one file of a client on this machine.
type FileState struct {
	Client  *Client
	File    string
	Exists  bool
	Program string   // path of the client's program in PATH, or ""
	Servers int      // without the workbench
	Self    []string // entries that start the workbench
	Problem error    // why the file could not be read

	// Taken are the servers that connect took out, and that are missing since; FindTaken finds them.
	Taken        []Taken
	TakenProblem error // why that is unknown
}

// Survey returns the clients installed on a machine, in the order of All: one standing for each file that a client may
// use.
func Survey(m Machine) []FileState {
	var found []FileState
	for _, client := range All() {
		for _, file := range client.Files(m) {
			s := m.stateOf(client, file)
			if !s.Exists && (client.Retired != "" || !client.IsInstalled(m, file)) {
				continue
			}
			found = append(found, s)
		}
	}
	return found
}

func (m Machine) stateOf(client *Client, file string) FileState {
	s := FileState{Client: client, File: file, Exists: m.Exists(file), Program: client.program(m)}
	var sources []Source
	sources, s.Problem = client.ReadFile(m, file)
	for _, source := range sources {
		s.Servers += len(source.Servers) + len(source.Skipped)
		s.Self = append(s.Self, source.Self...)
	}
	return s
}

// SurveyChanged returns further files that have been changed and exist: those of projects, and those that a person named.
// Records that cannot be read name no file.
func SurveyChanged(m Machine, store Backups, known []FileState) []FileState {
	var found []FileState
	for _, client := range All() {
		for b, err := range store.latestFirst(client.ID) {
			if err != nil {
				break
			}
			isKnown := slices.ContainsFunc(slices.Concat(known, found), func(s FileState) bool { return s.Client == client && s.File == b.File })
			if !isKnown && m.Exists(b.File) {
				found = append(found, m.stateOf(client, b.File))
			}
		}
	}
	return found
}

// FindTaken finds the servers that were taken out of the files and are missing there.
func FindTaken(store Backups, states []FileState) {
	for i := range states {
		state := &states[i]
		if state.Problem == nil {
			state.Taken, state.TakenProblem = state.Client.TakenOut(store, state.File)
		}
	}
}

// IsInstalled reports whether the client is on a machine: its file, a folder of the client's own for it, or one of its
// programs exists.
func (c *Client) IsInstalled(m Machine, file string) bool {
	folder := filepath.Dir(file)
	return m.Exists(file) || folder != m.Home() && m.Exists(folder) || c.program(m) != ""
}

// program returns the path of the client's program; "" if PATH has none. A daemon is not a client: that of ZFS is called
// zed, too.
func (c *Client) program(m Machine) string {
	if m.Find == nil {
		return ""
	}
	for _, name := range c.programs {
		if found := m.Find(name); found != "" && filepath.Base(filepath.Dir(found)) != "sbin" {
			return found
		}
	}
	return ""
}
