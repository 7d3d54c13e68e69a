package faults

import (
	"os"
	"testing"
)

// knownVariable makes the tests run that are known to fail.
const knownVariable = "FAULTS_KNOWN"

// known says why a row is not kept yet. It is meant to be empty.
var known = map[string]string{
	"39 answer without end, and usable again": "the server's session is kept for ever",
}

// skipKnown skips a row that is known to fail.
func skipKnown(t *testing.T, name string) {
	t.Helper()
	if reason := known[name]; reason != "" && os.Getenv(knownVariable) == "" {
		t.Skip("not kept yet: " + reason)
	}
}
