package toolbox

// Error is an error meant for a person: what happened, and what to do next.
// The cause is for the log and for errors.Is, never shown by itself.
type Error struct {
	Code    Code // what kind of error it is; may be empty
	Message string
	Hint    string // what to do next; may be empty
	Cause   error
}

// Error returns the message, with the hint after it.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "\n" + e.Hint
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
