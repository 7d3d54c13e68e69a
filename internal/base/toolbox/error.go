package toolbox

// Error is an error for a person: what happened, and what to do next. Cause is for the log and for errors.Is; it is
// never shown by itself.
type Error struct {
	Code    Code // the kind of error; may be empty
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
