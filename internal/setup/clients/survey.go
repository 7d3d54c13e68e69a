package clients

import "path/filepath"

// FileState is the state of one file of a client on this machine.
type FileState struct {
	Client  *Client
	File    string
	Exists  bool
	Servers int      // without the workbench
	Self    []string // entries that start the workbench
	Problem error    // why the file could not be read
}

// Survey returns the clients installed on a machine, in the order of All: one standing for each file that a client may
// use.
func Survey(m Machine) []FileState {
	var found []FileState
	for _, client := range All() {
		for _, file := range client.Files(m) {
			s := FileState{Client: client, File: file, Exists: m.Exists(file)}
			if !s.Exists && (client.Retired != "" || !m.HasClient(file)) {
				continue
			}
			var sources []Source
			sources, s.Problem = client.ReadFile(m, file)
			for _, source := range sources {
				s.Servers += len(source.Servers) + len(source.Skipped)
				s.Self = append(s.Self, source.Self...)
			}
			found = append(found, s)
		}
	}
	return found
}

// HasClient reports whether the client of a file is installed: the file, or a folder of the client's own for it,
// exists.
func (m Machine) HasClient(file string) bool {
	folder := filepath.Dir(file)
	return m.Exists(file) || folder != m.Home() && m.Exists(folder)
}
