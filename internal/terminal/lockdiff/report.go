package lockdiff

import "github.com/mcp-workbench/mcp-workbench/internal/setup/config"

// Report is what Update did, for scripts.
type Report struct {
	Locks []ReportedLock `json:"locks"`
}

// ReportedLock is the lock of one configuration file.
type ReportedLock struct {
	File     string   `json:"file"`
	Written  bool     `json:"written"`
	Enforced bool     `json:"enforced"` // by "locked": true; otherwise it is just a record
	Servers  int      `json:"servers"`  // that are approved
	Tools    int      `json:"tools"`
	Changes  []Change `json:"changes"`
}

// Change is a difference between a lock and what servers offer.
type Change struct {
	Change string `json:"change"` // added, accepted, removed, version; new or changed, which have to be accepted; or failed
	Ref    string `json:"ref"`
	Detail string `json:"detail,omitempty"` // of version and failed
}

func (l *lockFile) report(file config.File) ReportedLock {
	reported := ReportedLock{File: file.LockPath(), Written: l.written, Enforced: file.Locked, Servers: len(l.after.Servers), Changes: append([]Change{}, l.changes...)}
	for _, server := range l.after.Servers {
		reported.Tools += len(server.Tools)
	}
	return reported
}
