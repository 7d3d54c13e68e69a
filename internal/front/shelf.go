package front

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
)

// shelf keeps messages for clients over HTTP that have not taken them yet. Servers are
// shared by clients, so that nobody may wait for a slow one: what does not fit into memory
// goes into files, and beyond that is refused.
type shelf struct {
	memory, disk int64 // limits in bytes

	mu       sync.Mutex
	inMemory int64
	inFiles  int64
}

// Limits of what waits for all clients together.
const (
	shelfMemory = 48 << 20
	shelfDisk   = 2 << 30
	// smallestFile is the least message that a file is made for, since each costs a
	// descriptor. Lesser ones may take half as much memory again.
	smallestFile = 64 << 10
	// heldOverhead is what keeping a message costs beyond its bytes, about.
	heldOverhead = 256
)

var errShelfFull = errors.New("too much waits for clients that do not read")

// held is a message on the shelf. Free it once.
type held struct {
	shelf *shelf // nil if it is not accounted for
	bytes []byte
	file  *os.File // instead of bytes
	size  int64
}

func newShelf() *shelf { return &shelf{memory: shelfMemory, disk: shelfDisk} }

// put takes a message. The first is let through however long it is.
func (s *shelf) put(message []byte) (held, error) {
	h := held{shelf: s, bytes: message, size: int64(len(message))}
	needed := h.size + heldOverhead
	s.mu.Lock()
	limit := s.memory
	if h.size < smallestFile {
		limit += s.memory / 2
	}
	fits := s.inMemory == 0 || s.inMemory+needed <= limit
	spills := !fits && h.size >= smallestFile && s.inFiles+h.size <= s.disk
	switch {
	case fits:
		s.inMemory += needed
	case spills:
		s.inFiles += h.size
	}
	s.mu.Unlock()
	switch {
	case fits:
		return h, nil
	case !spills:
		return held{}, errShelfFull
	}
	h.bytes = nil
	var err error
	if h.file, err = spill(message); err != nil {
		s.free(0, h.size)
		return held{}, err
	}
	return h, nil
}

// unaccounted holds a small message that must find room, outside of any shelf.
func unaccounted(message []byte) held {
	return held{bytes: message, size: int64(len(message))}
}

// spill writes a message to a file that nobody else can open.
func spill(message []byte) (*os.File, error) {
	file, err := os.CreateTemp("", "mcp-workbench-*")
	if err != nil {
		return nil, err
	}
	// Without its name it goes with the last descriptor, whatever happens to us. Where the
	// system refuses that, free removes it.
	_ = os.Remove(file.Name())
	if _, err := file.Write(message); err != nil {
		file.Close()
		_ = os.Remove(file.Name())
		return nil, err
	}
	return file, nil
}

// reader reads the message from its beginning. Several may read at once.
func (h *held) reader() io.Reader {
	if h.file != nil {
		return io.NewSectionReader(h.file, 0, h.size)
	}
	return bytes.NewReader(h.bytes)
}

func (h *held) free() {
	if h.shelf == nil {
		return
	}
	if h.file == nil {
		h.shelf.free(h.size+heldOverhead, 0)
		return
	}
	h.file.Close()
	_ = os.Remove(h.file.Name())
	h.shelf.free(0, h.size)
}

func (s *shelf) free(memory, disk int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inMemory -= memory
	s.inFiles -= disk
}
