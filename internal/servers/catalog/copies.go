package catalog

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Copies caches what each server offered last in files, so that it is known before the server starts. It is safe for
// concurrent use, and blocks on the disk. Errors with files are logged, and stop nothing.
type Copies struct {
	store store // of tools
	lists store // of the other lists
	log   *slog.Logger

	mu    sync.Mutex
	files map[string]Hash // hash of each file's content, by path, once known; zero if writing failed
}

const (
	copiesSuffix = ".tools"
	// maxCopy bounds a cached file, in bytes. Ten thousand tools of a kilobyte fit; beyond it, nothing of the server is
	// cached.
	maxCopy = 16 << 20
	// copyFrame is room for what encloses the tools in a file.
	copyFrame = 100
)

// NewCopies returns a cache in a folder, which is created when first needed. Without a folder nothing is cached.
func NewCopies(folder string, log *slog.Logger) *Copies {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Copies{
		store: store{folder: folder, suffix: copiesSuffix, kind: stored.Tools, maxFile: maxCopy, maxAll: maxStoredBytes},
		lists: store{folder: folder, suffix: listsSuffix, kind: stored.Lists, maxFile: maxCopy, maxAll: maxStoredBytes},
		log:   log, files: make(map[string]Hash),
	}
}

// Load returns the cached snapshot of a server, or nil. A damaged file is ignored. The content is checked and cleaned
// like a new listing.
func (c *Copies) Load(server string, key Hash, filter toolbox.Filter) *Snapshot {
	if c.store.folder == "" {
		return nil
	}
	data, _, err := safefile.Read(c.store.path(key), maxCopy)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var listing Listing
	if err == nil {
		err = c.store.kind.Check(c.store.path(key), data)
	}
	if err == nil {
		listing, err = decodeCopy(data)
	}
	if err != nil {
		c.log.Warn("could not read what the server offered before; its tools are unknown until it starts", "server", server, "reason", err)
		return nil
	}
	c.store.touch(key)
	c.recordContent(c.store, key, sha256.Sum256(data))
	snapshot := NewSnapshot(server, listing, filter)
	snapshot.Stored = true
	return snapshot
}

// Save caches a snapshot of a server if it changed. Every string passes through mask first.
func (c *Copies) Save(server string, key Hash, snapshot *Snapshot, mask func(string) string) {
	if c.store.folder == "" {
		return
	}
	data, err := encodeCopy(snapshot, mask)
	c.writeIfChanged(c.store, server, key, data, err)
}

// writeIfChanged replaces the file of a server if its content changed; err is why there is no content.
func (c *Copies) writeIfChanged(st store, server string, key Hash, data []byte, err error) {
	was, known := c.contentOf(st, key)
	if err == nil {
		content := Hash(sha256.Sum256(data))
		if known && was == content {
			return
		}
		if err = st.replaceFile(key, data); err == nil {
			c.recordContent(st, key, content)
			st.prune()
			return
		}
	}
	if !stored.IsNewer(err) {
		_ = os.Remove(st.path(key)) // a stale file is worse than none
	}
	c.recordContent(st, key, Hash{})
	if known && was == (Hash{}) {
		return // logged at the first failure
	}
	c.log.Warn("could not cache what the server offers; the next run does not know it until the server starts", "server", server, "reason", err)
}

func (c *Copies) contentOf(st store, key Hash) (content Hash, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	content, ok = c.files[st.path(key)]
	return content, ok
}

func (c *Copies) recordContent(st store, key, content Hash) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[st.path(key)] = content
}

// encodeCopy returns the content of a file.
func encodeCopy(snapshot *Snapshot, mask func(string) string) ([]byte, error) {
	body := strconv.AppendInt([]byte(`{"version":`), int64(stored.Tools.Format), 10)
	body = wire.AppendMember(body, "serverVersion", mask(snapshot.ServerVersion))
	body = wire.AppendMember(body, "instructions", mask(snapshot.rawInstructions))
	if !snapshot.Capabilities.IsAbsent() {
		body = append(body, `,"capabilities":`...)
		body = wire.AppendEdited(body, snapshot.Capabilities, masking(nil, snapshot.Capabilities, mask, 0)...)
	}
	if snapshot.ListedFor != "" {
		body = wire.AppendMember(body, "listedFor", snapshot.ListedFor)
	}
	body = append(body, `,"tools":[`...)
	for i, tool := range snapshot.Tools {
		if i > 0 {
			body = append(body, ",\n"...)
		}
		definition := wire.AppendEdited(nil, tool.source, masking(nil, tool.source, mask, 0)...)
		if name, _ := wire.Raw(definition).Member("name").Text(); name != tool.Name {
			return nil, fmt.Errorf("the name of tool number %d holds a secret", i+1)
		}
		if body = append(body, definition...); len(body) > maxCopy-copyFrame {
			return nil, fmt.Errorf("it is longer than %d bytes", maxCopy)
		}
	}
	return sealed(append(body, "]}\n"...), mask)
}

// sealed returns the content of a file: one line with the hash of the body, and the body.
func sealed(body []byte, mask func(string) string) ([]byte, error) {
	if mask(string(body)) != string(body) { // in a key, or nested too deeply
		return nil, errors.New("a secret in it cannot be masked")
	}
	return append([]byte(Hash(sha256.Sum256(body)).String()+"\n"), body...), nil
}

// unsealed checks the content of a file and parses its body.
func unsealed(data []byte, version int) (root wire.Payload, err error) {
	line, body, _ := bytes.Cut(data, []byte("\n"))
	var sum Hash
	if !parseHash(string(line), &sum) || sum != sha256.Sum256(body) {
		return root, errors.New("the file is damaged: its content is not what was written")
	}
	if root, err = wire.ParseValue(body); err != nil {
		return root, fmt.Errorf("the file is damaged: %w", err)
	}
	if found := string(root.Member("version").Bytes()); found != strconv.Itoa(version) {
		return root, fmt.Errorf("the file has version %.20s, not %d", found, version)
	}
	return root, nil
}

// masking appends the edits that mask the strings of a value.
func masking(edits []wire.Edit, value wire.Payload, mask func(string) string, depth int) []wire.Edit {
	if depth > maxCleanDepth {
		return edits
	}
	if text, ok := value.Text(); ok {
		if masked := mask(text); masked != text {
			edits = append(edits, wire.Edit{Part: value, With: wire.AppendString(nil, masked)})
		}
		return edits
	}
	for element := range value.Elements() {
		edits = masking(edits, element, mask, depth+1)
	}
	for _, member := range value.Members() {
		edits = masking(edits, member, mask, depth+1)
	}
	return edits
}

func decodeCopy(data []byte) (listing Listing, err error) {
	root, err := unsealed(data, stored.Tools.Format)
	if err != nil {
		return listing, err
	}
	listing.ServerVersion, _ = root.Member("serverVersion").Text()
	listing.Instructions, _ = root.Member("instructions").Text()
	listing.ListedFor, _ = root.Member("listedFor").Text()
	listing.Capabilities = root.Member("capabilities")
	for tool := range root.Member("tools").Elements() {
		listing.Definitions = append(listing.Definitions, tool)
	}
	return listing, nil
}
