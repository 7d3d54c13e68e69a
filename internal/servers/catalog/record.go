package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Record is the entry of a lock or a baseline for a definition or for instructions: a hash to compare, and the content
// to show a diff. In JSON it is {"sha256":"…","definition":{…}}; for instructions it has "text" in place of the
// definition, and is null if there are none. Version 1 had only hashes, "sha256:…", of definitions as version 1 cleaned
// them. They are kept until a comparison finds them equal.
type Record struct {
	Hash  Hash
	First bool // the hash is from version 1
	// Content is the definition or the text, in JSON, with secrets masked and hidden text escaped; nil if it is not
	// stored.
	Content []byte
}

const (
	hashPrefix    = "sha256:"
	hashKey       = "sha256"
	definitionKey = "definition"
	textKey       = "text"
)

// noInstructions is the hash of missing instructions.
var noInstructions = Hash(sha256.Sum256(nil))

// Record returns the record of the tool.
func (t Tool) Record(mask func(string) string) Record {
	return Record{Hash: t.Hash(), Content: maskedContent(t.source, mask)}
}

// InstructionsRecord returns the record of the server's instructions.
func (s *Snapshot) InstructionsRecord(mask func(string) string) *Record {
	if s.rawInstructions == "" {
		return &Record{Hash: noInstructions}
	}
	return &Record{Hash: s.instructionsHash(), Content: maskedContent(wire.Raw(wire.AppendString(nil, s.rawInstructions)), mask)}
}

// HasInstructions reports whether the server has instructions, approved or not.
func (s *Snapshot) HasInstructions() bool { return s.rawInstructions != "" }

func (s *Snapshot) instructionsHash() Hash { return sha256.Sum256([]byte(s.rawInstructions)) }

// maskedContent returns a value with secrets masked, for storage; nil if a secret cannot be masked.
func maskedContent(value wire.Payload, mask func(string) string) []byte {
	masked := wire.AppendEdited(nil, value, masking(nil, value, mask, 0)...)
	if mask(string(masked)) != string(masked) { // in a key, or nested too deeply
		return nil
	}
	return hidden.AppendEscaped(nil, masked)
}

// IsOf reports whether the record matches the current definition of the tool.
func (r Record) IsOf(tool Tool) bool {
	if r.First {
		return r.Hash == firstHash(tool.source)
	}
	return r.Hash == tool.Hash()
}

// append encodes the record; key is the member for the content.
func (r Record) append(dst []byte, key string) []byte {
	if key == textKey && r.Hash == noInstructions {
		return append(dst, "null"...)
	}
	if r.First {
		return fmt.Appendf(dst, `"%s%s"`, hashPrefix, r.Hash)
	}
	dst = fmt.Appendf(dst, `{"%s":"%s"`, hashKey, r.Hash)
	if r.Content != nil {
		dst = append(fmt.Appendf(dst, `,"%s":`, key), r.Content...)
	}
	return append(dst, '}')
}

// kinds are the JSON types of the content, by key.
var kinds = map[string]string{definitionKey: "object", textKey: "string"}

var errNoHash = errors.New("has no hash")

// parseRecord parses a record strictly; key is the member for the content.
func parseRecord(value wire.Payload, key string) (r Record, err error) {
	if text, ok := value.Text(); ok {
		digits, ok := strings.CutPrefix(text, hashPrefix)
		if r.First = true; !ok || !parseHash(digits, &r.Hash) {
			return r, errNoHash
		}
		return r, nil
	}
	if key == textKey && value.Kind() == "null" {
		return Record{Hash: noInstructions}, nil
	}
	if value.Kind() != "object" {
		return r, errNoHash
	}
	hashed := false
	err = eachMember(value, "it", func(name string, member wire.Payload) error {
		text, _ := member.Text()
		switch {
		case name == hashKey && parseHash(text, &r.Hash):
			hashed = true
		case name == key && member.Kind() == kinds[key]:
			var words bytes.Buffer
			if err := json.Compact(&words, member.Bytes()); err != nil {
				return err
			}
			r.Content = words.Bytes()
		default:
			return fmt.Errorf("has a wrong '%s'", name)
		}
		return nil
	})
	if err == nil && !hashed {
		err = errNoHash
	}
	return r, err
}
