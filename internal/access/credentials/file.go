package credentials

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

const (
	maxFile = 1 << 20 // size of the file of a login; a larger one is neither written nor read
)

// content is a credential without the methods that hide it.
type content Credential

// plainFile is the content of a file that is not sealed.
type plainFile struct {
	Format int `json:"format"`
	content
}

// fileHead is what a file shows of a login, sealed or not.
type fileHead struct {
	Format int `json:"format"`
	Key
	Generation uint64      `json:"generation"`
	Sealed     *sealedPart `json:"sealed,omitempty"`
}

// encode returns the content of a login's file, sealed if the store is.
func (s *Store) encode(name string, c *Credential) ([]byte, error) {
	data, err := encodeJSON(plainFile{stored.Logins.Format, content(*c)})
	if err != nil || !c.isText() {
		return nil, fmt.Errorf("the login %s cannot be written as JSON", c.Key) // the reason may show a part of it
	}
	if s.keys.isOn() {
		sealed, err := s.seal(name, c, data)
		if err != nil {
			return nil, err
		}
		if data, err = encodeJSON(fileHead{stored.Logins.Format, c.Key, c.Generation, sealed}); err != nil {
			return nil, err
		}
	}
	if len(data) > maxFile {
		return nil, &toolbox.Error{
			Code:    toolbox.LoginsUnusable,
			Message: fmt.Sprintf("The login %s would take more than %d KiB", c.Key, maxFile>>10),
		}
	}
	return data, nil
}

func encodeJSON(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return text.Bytes(), err
}

// decode returns the login of a file. What it is called has to fit what it contains, so that a file cannot stand in for
// another.
func (s *Store) decode(name string, data []byte) (*Credential, error) {
	path := filepath.Join(s.folder, name)
	if newer := stored.Logins.Check(path, data); newer != nil {
		shown, _ := errors.AsType[*toolbox.Error](newer) // Check returns no other
		return nil, &BrokenError{path, shown}
	}
	var head fileHead
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, broken(path, "it is not valid JSON of a login")
	}
	if reason := head.problem(name); reason != "" {
		return nil, broken(path, reason)
	}
	if head.Sealed != nil {
		var err error
		if data, err = s.unseal(name, head); err != nil {
			return nil, err
		}
	}
	c, err := decodePlain(data, head)
	if err != nil {
		return nil, broken(path, err.Error())
	}
	return c, nil
}

func (h *fileHead) problem(name string) string {
	switch {
	case h.Format != stored.Logins.Format || h.Generation == 0:
		return "it is not the file of a login"
	case nameOf(h.Key) != name:
		return "it is the file of another login"
	}
	return ""
}

// decodePlain decodes a login that must be the one that the head of its file shows.
func decodePlain(data []byte, head fileHead) (*Credential, error) {
	var file plainFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, errors.New("it is not valid JSON of a login")
	}
	if file.Format != head.Format || file.Key != head.Key || file.Generation != head.Generation {
		return nil, errors.New("its parts do not fit together")
	}
	c := Credential(file.content)
	return &c, nil
}
