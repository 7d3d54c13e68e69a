// Package keyring keeps secrets in the system's keyring: the Secret Service on Linux, the Keychain on macOS, the Credential
// Manager on Windows. Each request to it is bounded in time, since it may wait for a person.
package keyring

import (
	"errors"
	"fmt"
	"os"
	"time"

	system "github.com/zalando/go-keyring"
)

const (
	// Service is the service under which all entries are.
	Service = "mcp-workbench"
	// LoginsEntry is the entry with the key that logins are encrypted with. It is no secret of a configuration.
	LoginsEntry = "logins"

	checkedEntry = " "              // no secret can have this name
	answerTime   = 10 * time.Second // for an answer of the keyring about a secret; then an error

	// MaxSecret is the size of a secret in the keyring; a larger one is refused.
	MaxSecret = 64 << 10
)

var (
	// ErrNotFound means that the keyring works and has no such entry.
	ErrNotFound = system.ErrNotFound
	// ErrTooBig means that this system's keyring does not take so much.
	ErrTooBig = system.ErrSetDataTooBig
	// ErrSlow means that the keyring has not answered in time.
	ErrSlow = fmt.Errorf("it has not answered within %v; it may be waiting for you to unlock it", answerTime)
	// ErrReserved means that an entry is used for something else.
	ErrReserved = errors.New("the entry is used for the key of the logins")
)

// asking holds a token while the keyring is asked: each question may ask the user to unlock it. A question that is given up
// cannot be cancelled, and keeps the token until it is answered.
var asking = make(chan struct{}, 1)

// Get returns the secret of an entry.
func Get(name string) (string, error) {
	return ask(name, func() (string, error) { return system.Get(Service, name) })
}

// Check reports why the keyring cannot be used, as far as a question tells: one that is locked may ask for its password.
func Check() error {
	_, err := ask(Service, func() (string, error) { return system.Get(Service, checkedEntry) })
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// Has reports whether there is an entry.
func Has(name string) (bool, error) {
	_, err := Get(name)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// set creates or replaces an entry.
func set(name, value string) error {
	_, err := ask(name, func() (string, error) { return "", system.Set(Service, name, value) })
	return err
}

// remove removes an entry.
func remove(name string) error {
	_, err := ask(name, func() (string, error) { return "", system.Delete(Service, name) })
	return err
}

type answer struct {
	text string
	err  error
}

// ask asks the keyring about an entry.
func ask(name string, question func() (string, error)) (string, error) {
	if name == LoginsEntry {
		return "", ErrReserved
	}
	if err := Absence(os.Getenv); err != nil {
		return "", err
	}
	timer := time.NewTimer(answerTime)
	defer timer.Stop()
	select {
	case asking <- struct{}{}:
	case <-timer.C:
		return "", ErrSlow
	}
	answered := make(chan answer, 1)
	go func() { // ends with the answer, for which nobody may wait any more
		defer func() {
			if recover() != nil { // the library does, if the bus goes away while it waits
				answered <- answer{err: errors.New("the connection to it was lost")}
			}
			<-asking
		}()
		text, err := question()
		answered <- answer{text, err}
	}()
	select {
	case got := <-answered:
		return got.text, got.err
	case <-timer.C:
		return "", ErrSlow
	}
}
