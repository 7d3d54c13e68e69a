package credentials

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	system "github.com/zalando/go-keyring"

	"github.com/mcp-workbench/mcp-workbench/internal/access/keyring"
	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

const (
	keyringLock = "keyring.lock"

	keyringTime     = 5 * time.Second  // for an answer of the system's keyring; then an error
	keyringPause    = 10 * time.Second // after a failure before the keyring is asked again: each time, it may ask the user to unlock it
	keyringLockWait = 20 * time.Second // for another process that creates the key in the keyring; then an error
)

// loginKeyring is the system's keyring, with the key that was read from it.
type loginKeyring struct {
	folder string

	mu      sync.Mutex
	known   *sealKey
	pending *keyringCall // under way; nil: none
	failed  *keyringCall // the last one, if it failed; nil: it did not
}

// keyringCall is a call to the keyring. Its results are valid once done is closed.
type keyringCall struct {
	begun time.Time
	done  chan struct{}
	ended time.Time
	text  string
	err   error
}

// errSlow means that the keyring has not answered in time.
var errSlow = fmt.Errorf("it has not answered within %v; it may be waiting for you to unlock it", keyringTime)

// find returns the key with an id, or another one if the keyring has another.
func (k *loginKeyring) find(id string) (sealKey, error) {
	if key := k.cached(); key != nil && key.id() == id {
		return *key, nil
	}
	key, err := k.get()
	if errors.Is(err, system.ErrNotFound) {
		return sealKey{}, &keyProblem{reason: "the system's keyring does not contain the key", remedy: "Restore the keyring from a backup.", cause: err}
	}
	return key, err
}

// ensure returns the key, which it creates if there is none and no login needs it.
func (k *loginKeyring) ensure() (sealKey, error) {
	if key := k.cached(); key != nil {
		return *key, nil
	}
	key, err := k.get()
	if !errors.Is(err, system.ErrNotFound) {
		return key, err
	}
	// Two keys that are created at once would replace each other.
	release, err := safefile.Lock(context.Background(), filepath.Join(k.folder, keyringLock), keyringLockWait)
	if err != nil {
		return sealKey{}, &keyProblem{reason: "the key for the system's keyring cannot be created: " + err.Error(), cause: err}
	}
	defer release()
	if key, err = k.get(); !errors.Is(err, system.ErrNotFound) {
		return key, err
	}
	if path := k.needed(); path != "" {
		return sealKey{}, &keyProblem{
			reason: fmt.Sprintf("the system's keyring does not contain the key, which %s is encrypted with", path),
			remedy: "Restore the keyring from a backup, or log out where you are logged in: mcp-workbench auth status", cause: err,
		}
	}
	_, _ = rand.Read(key[:]) // never fails: it would end the program
	text := base64.StdEncoding.EncodeToString(key[:])
	return k.ask(func() (string, error) {
		if err := system.Set(keyring.Service, keyring.LoginsEntry, text); err != nil {
			return "", err
		}
		return system.Get(keyring.Service, keyring.LoginsEntry) // what is there counts
	})
}

func (k *loginKeyring) cached() *sealKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known
}

// get reads the key from the keyring. If the keyring works and has none, the error is system.ErrNotFound.
func (k *loginKeyring) get() (sealKey, error) {
	return k.ask(func() (string, error) { return system.Get(keyring.Service, keyring.LoginsEntry) })
}

// ask gets the key with a request that returns the entry of the keyring.
func (k *loginKeyring) ask(request func() (string, error)) (sealKey, error) {
	text, err := k.call(request)
	if errors.Is(err, system.ErrNotFound) {
		return sealKey{}, err
	}
	if err != nil {
		return sealKey{}, unusableKeyring(err)
	}
	key, err := parseKey(text)
	if err != nil {
		return sealKey{}, &keyProblem{
			reason: fmt.Sprintf("the entry of service '%s' and user '%s' in the system's keyring is not a key: %v", keyring.Service, keyring.LoginsEntry, err),
			remedy: "Restore or remove that entry.",
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known = &key
	return key, nil
}

// call asks the keyring, which may wait for a person without end. While a call is under way no other is begun: its
// answer, which is the entry whatever was asked, counts for all. A call that does not end is given up, since it cannot be
// cancelled, and keeps its goroutine.
func (k *loginKeyring) call(request func() (string, error)) (string, error) {
	if err := keyring.Absence(os.Getenv); err != nil {
		return "", err
	}
	k.mu.Lock()
	call := k.pending
	if call == nil && k.failed != nil && time.Since(k.failed.ended) < keyringPause {
		call = k.failed
	}
	if call == nil {
		call = &keyringCall{begun: time.Now(), done: make(chan struct{})}
		k.pending = call
		go k.run(call, request)
	}
	k.mu.Unlock()
	select {
	case <-call.done: // also if it took too long for others
		return call.text, call.err
	default:
	}
	timer := time.NewTimer(keyringTime - time.Since(call.begun))
	defer timer.Stop()
	select {
	case <-call.done:
		return call.text, call.err
	case <-timer.C:
		return "", errSlow
	}
}

func (k *loginKeyring) run(call *keyringCall, request func() (string, error)) {
	defer func() {
		if recover() != nil { // the library does, if the bus goes away while it waits
			call.err = errors.New("the connection to it was lost")
		}
		k.mu.Lock()
		k.pending, k.failed, call.ended = nil, nil, time.Now()
		if call.err != nil && !errors.Is(call.err, system.ErrNotFound) {
			k.failed = call
		}
		k.mu.Unlock()
		close(call.done)
	}()
	call.text, call.err = request()
}

// needed returns the path of a login that is encrypted with a key from the keyring; "" if there is none.
func (k *loginKeyring) needed() string {
	paths, _ := filepath.Glob(filepath.Join(k.folder, "*"+suffix)) // fails for bad patterns only
	for _, path := range paths {
		data, _, err := safefile.Read(path, maxFile)
		var head fileHead
		if err != nil || json.Unmarshal(data, &head) != nil || head.Sealed == nil {
			continue
		}
		if head.Sealed.By == config.SealKeyring {
			return path
		}
	}
	return ""
}

func unusableKeyring(err error) *keyProblem {
	return &keyProblem{
		reason: "the system's keyring cannot be used: " + err.Error(),
		remedy: "Unlock it or start its service, and try again. On a machine without one, use a key file: " +
			`"credentials": {"seal": "file", "keyFile": "PATH"}`,
		cause: err,
	}
}
