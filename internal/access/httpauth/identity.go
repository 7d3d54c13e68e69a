package httpauth

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/identity"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Kind is how the sender of a request is known.
type Kind int

// The kinds of identities.
const (
	Anonymous     Kind = iota // nothing is required
	ByToken                   // by a token of the workbench
	ByPerson                  // by a token of the identity provider
	ByCertificate             // by the certificate of a TLS connection
)

// Identity is the sender of a request.
type Identity struct {
	Kind Kind
	// Name is that of the token or certificate, or the subject of the person; "" if nothing is required. It holds nothing that
	// cannot be seen.
	Name string
	// ID is unique and never reused: of the token, the person or the certificate's name; "" if nothing is required. All tokens
	// of one person have the same.
	ID        string
	Display   string // how the identity provider calls the person, for people to read; others may be called the same
	Issuer    string // of the person's tokens
	Subject   string // of the person, as Name
	Toolboxes []string
	Rights    []Right

	Credential string    // the ID of the token or certificate that the request came with
	Expires    time.Time // of the person's token, or of the certificate; zero: Gate.Watch knows
}

// Caller returns who the sender is to the rules of the policy.
func (i Identity) Caller() string {
	switch i.Kind {
	case ByToken:
		return config.CallerToken + i.Name
	case ByPerson:
		return config.CallerPerson + i.Name
	case ByCertificate:
		return config.CallerCertificate + i.Name
	}
	return config.CallerHTTP
}

// certificatePrefix begins the IDs of certificates, as identity.PersonPrefix those of people. The ID of a token has none.
const certificatePrefix = "certificate "

// rightsOfPeople are those of everybody without a token of the workbench.
var rightsOfPeople = []Right{Calls}

// ofPerson returns the identity of a person. It is on the way of every call, and takes over what the verifier made once.
func ofPerson(person *identity.Person) Identity {
	return Identity{
		Kind: ByPerson, Name: person.Subject, Subject: person.Subject, Issuer: person.Issuer, ID: person.ID, Display: person.Name,
		Toolboxes: person.Toolboxes, Rights: rightsOfPeople, Credential: person.Credential, Expires: person.Expires,
	}
}

// certificateID returns the ID of those who have a certificate with a name.
func certificateID(name string) string { return certificatePrefix + hashOf(name) }

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// sorted returns a sorted copy; nil stays nil.
func sorted(names []string) []string {
	if names == nil {
		return nil
	}
	names = append([]string{}, names...)
	slices.Sort(names)
	return names
}
