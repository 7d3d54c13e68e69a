package httpauth

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

const maxFile = 1 << 20 // size of the token file; a larger one is an error

// tokenFile is the content of the file. Absent toolboxes mean all, so that an empty list must stay an empty list when
// it is written.
type tokenFile struct {
	Version int          `json:"version"` // of the format; 0 in files from before there was one
	Tokens  []tokenEntry `json:"tokens"`
}

type tokenEntry struct {
	Name      string    `json:"name"`
	SHA256    string    `json:"sha256"`
	Toolboxes []string  `json:"toolboxes,omitzero"`
	For       []Right   `json:"for,omitempty"` // absent: calls
	Created   time.Time `json:"created"`
	Expires   time.Time `json:"expires,omitzero"`
}

// readTokens reads the file, provided that no other user can have read or changed it. Without a file it returns no
// tokens and no info. The info of an existing file is also returned with an error.
func readTokens(path string) ([]Token, fs.FileInfo, error) {
	data, info, err := safefile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, info, unusable(path, errors.Unwrap(err).Error(), "") // the message names the path already
	}
	if reason, remedy := exposed(path, info); reason != "" {
		return nil, info, unusable(path, reason, remedy)
	}
	if err := stored.Tokens.Check(path, data); err != nil {
		return nil, info, err
	}
	tokens, err := decodeTokens(data)
	if err != nil {
		return nil, info, unusable(path, err.Error(), "")
	}
	return tokens, info, nil
}

// exposed returns how another user may have read or changed the file, and what to do.
func exposed(path string, info fs.FileInfo) (reason, remedy string) {
	if reason := safefile.AccessProblem(info, safefile.ReadOrChange); reason != "" {
		return "it " + reason, "If nobody else used it: " + safefile.PrivateCommand(path, false)
	}
	folder, err := safefile.Stat(filepath.Dir(path))
	if err != nil {
		return "its folder cannot be examined", ""
	}
	if reason := safefile.AccessProblem(folder, safefile.Change); reason != "" {
		return "its folder " + reason, "If nobody else used it: " + safefile.PrivateCommand(filepath.Dir(path), true)
	}
	return "", ""
}

// decodeTokens is strict: an unknown restriction must not be ignored.
func decodeTokens(data []byte) ([]Token, error) {
	var file tokenFile
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return nil, errors.New("it is not a valid JSON file of tokens")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the tokens")
	}
	if len(file.Tokens) > maxTokens {
		return nil, fmt.Errorf("it holds more than %d tokens", maxTokens)
	}
	tokens := make([]Token, len(file.Tokens))
	for i, entry := range file.Tokens {
		rights, wrong := checkRights(entry.For)
		tokens[i] = Token{Name: entry.Name, Toolboxes: entry.Toolboxes, Rights: rights, Created: entry.Created, Expires: entry.Expires}
		digest, err := hex.DecodeString(entry.SHA256)
		isDouble := slices.ContainsFunc(tokens[:i], func(t Token) bool { return t.Name == entry.Name })
		switch {
		case checkName(entry.Name) != "":
			return nil, fmt.Errorf("the name of token %d %s", i+1, checkName(entry.Name))
		case isDouble:
			return nil, fmt.Errorf("the name of token %d is taken", i+1)
		case err != nil || len(digest) != sha256.Size:
			return nil, fmt.Errorf("the 'sha256' of token '%s' is not a hash", entry.Name)
		case wrong != nil:
			return nil, fmt.Errorf("the 'for' of token '%s' contains an unknown right", entry.Name)
		}
		copy(tokens[i].digest[:], digest)
	}
	return tokens, nil
}

func encodeTokens(tokens []Token) ([]byte, error) {
	file := tokenFile{Version: stored.Tokens.Format, Tokens: make([]tokenEntry, len(tokens))}
	for i, t := range tokens {
		file.Tokens[i] = tokenEntry{
			Name: t.Name, SHA256: hex.EncodeToString(t.digest[:]), Toolboxes: t.Toolboxes, For: t.Rights, Created: t.Created, Expires: t.Expires,
		}
	}
	data, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return nil, err
	}
	if len(data) >= maxFile {
		return nil, &toolbox.Error{
			Code:    toolbox.TokensTooMany,
			Message: fmt.Sprintf("The tokens would take more than %d KiB together", maxFile>>10),
			Hint:    "Remove those that nobody uses: mcp-workbench token list, then mcp-workbench token remove NAME",
		}
	}
	return append(data, '\n'), nil
}

func unusable(path, reason, remedy string) error {
	if remedy == "" {
		remedy = "Repair the file, or remove it and make new tokens: mcp-workbench token add NAME"
	} else {
		remedy += ". Otherwise remove the file and make new tokens: mcp-workbench token add NAME"
	}
	return &toolbox.Error{Code: toolbox.TokensUnusable, Message: fmt.Sprintf("The tokens in %s cannot be used: %s", path, reason), Hint: remedy}
}
