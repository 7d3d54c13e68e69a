package clients

import "path/filepath"

// Standing is how one file of a client on this machine stands.
type Standing struct {
	Client  *Client
	File    string
	Exists  bool
	Servers int      // those that are not the workbench
	Self    []string // entries that are the workbench
	Problem error    // why the file could not be read
}

// Survey tells of every client that is on a machine, in the order of All: one standing for
// each file that it may use.
func Survey(m Machine) []Standing {
	var found []Standing
	for _, client := range All() {
		for _, file := range client.Files(m) {
			s := Standing{Client: client, File: file, Exists: m.Exists(file)}
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

// HasClient reports that the client of a file is there: it has the file, or a folder of its
// own for it.
func (m Machine) HasClient(file string) bool {
	folder := filepath.Dir(file)
	return m.Exists(file) || folder != m.Home() && m.Exists(folder)
}
