package config

import "time"

// Bounds of audit.keep.
const (
	minAuditKeep = 24 * time.Hour        // shortest value of audit.keep; a shorter one is an error
	maxAuditKeep = 3660 * 24 * time.Hour // longest value of audit.keep; a longer one is an error
)

// Audit is how calls and decisions are recorded.
type Audit struct {
	On       bool
	Folder   string        // absolute; "": in the state folder
	Required bool          // calls that cannot be recorded are refused
	Keep     time.Duration // how long files are kept; 0: for ever
}

var auditKey = key{
	name: "audit", kinds: []kind{kindBoolean, kindObject}, members: &auditObject, example: `{"required": true}`, fallback: "false",
	description: "Records calls, refusals, approvals, logins, changed definitions, tokens and reloads in a log that shows later changes: true, or an object with settings. A project's file can set it only where you have no file of your own. Changes take effect at the next start.",
}

var auditObject = object{isStrict: true, keys: []key{
	{
		name: "folder", kinds: []kind{kindString}, nonEmpty: true, example: `"~/audit"`,
		description: "The folder of the log, relative to the configuration file's folder; a leading ~/ is the home folder. The default is the folder 'audit' in the state folder. All your workbenches can use the same.",
	},
	{
		name: "required", kinds: []kind{kindBoolean}, fallback: "false",
		description: "true: a call runs only after it was recorded on disk, and is refused if it cannot be.",
	},
	{
		name: "keep", kinds: []kind{kindString}, check: checkAuditKeep, pattern: `^([0-9]+d)?([0-9]+(\.[0-9]*)?(s|m|h))*$|\$\{`, example: `"90d"`,
		description: "Removes files of the log after this time, from \"1d\" to \"3660d\". The default is that none is removed.",
	},
}}

func (b *builder) audit(n *node) Audit {
	switch {
	case n == nil:
		return Audit{}
	case n.kind != kindObject:
		return Audit{On: n.isTrue()}
	}
	keep, _ := parseDays(n.get("keep").string()) // checked before
	return Audit{On: true, Folder: b.file(n.get("folder"), rootPlace.member("audit").member("folder")), Required: n.get("required").isTrue(), Keep: keep}
}

func checkAuditKeep(text string) string {
	if keep, ok := parseDays(text); !ok || keep < minAuditKeep || keep > maxAuditKeep {
		return `must be a time from "1d" to "3660d", such as "90d"`
	}
	return ""
}
