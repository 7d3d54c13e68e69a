// Package identity verifies the access tokens of people who sign in at an identity provider, and describes the workbench to
// clients as a resource of that provider.
package identity

import "time"

// Person is who sent a request, by a token of the identity provider.
type Person struct {
	Issuer, Subject string   // together who the person is
	Name            string   // for people to read only: the provider may change it, and others may choose the same
	Toolboxes       []string // that the person may use, without repetition; nil: all; empty: none
	Scopes          []string // of the token
	Client          string   // the client id that the token was issued to; may be ""

	Credential string    // identifies the token, without being usable as one
	Expires    time.Time // of the token
}
