package toolbox

// Code names a kind of error for scripts and for docs/errors.md, which explains each. It
// never changes.
type Code string

// The kinds of errors.
const (
	AddSourceUnclear     Code = "add-source-unclear"
	AmbiguousName        Code = "ambiguous-name"
	AnswerNeeded         Code = "answer-needed"
	ClientAmbiguous      Code = "client-ambiguous"
	ClientFileBroken     Code = "client-file-broken"
	ClientFileRefused    Code = "client-file-refused"
	ClientFileUnknown    Code = "client-file-unknown"
	ClientNameTaken      Code = "client-name-taken"
	ClientNotConnected   Code = "client-not-connected"
	ClientRetired        Code = "client-retired"
	ClientUnknown        Code = "client-unknown"
	ClientWithoutProject Code = "client-without-project"
	ConfigBusy           Code = "config-busy"
	ConfigNotEditable    Code = "config-not-editable"
	ConfigNotFound       Code = "config-not-found"
	Declined             Code = "declined"
	FileChanged          Code = "file-changed"
	FileNotWritten       Code = "file-not-written"
	NeedsClient          Code = "needs-client"
	NeedsTerminal        Code = "needs-terminal"
	NotRunning           Code = "not-running"
	NotTrusted           Code = "not-trusted"
	NothingConfigured    Code = "nothing-configured"
	NothingToUndo        Code = "nothing-to-undo"
	PlaceUnknown         Code = "place-unknown"
	RecordingExists      Code = "recording-exists"
	RecordingInvalid     Code = "recording-invalid"
	ReferenceAmbiguous   Code = "reference-ambiguous"
	ReferenceNotFound    Code = "reference-not-found"
	ReplayMismatch       Code = "replay-mismatch"
	RestartFailed        Code = "restart-failed"
	ServerExists         Code = "server-exists"
	ServerNotFound       Code = "server-not-found"
	SeveralRunning       Code = "several-running"
	SnippetUnknown       Code = "snippet-unknown"
	ToolboxNotFound      Code = "toolbox-not-found"
	ToolboxUnclear       Code = "toolbox-unclear"
)
