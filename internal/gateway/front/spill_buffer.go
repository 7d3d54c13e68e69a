package front

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
)

// spillBuffer keeps messages for clients over HTTP that have not taken them yet. Servers are
// shared by clients, so that nobody may wait for a slow one: what does not fit into memory
// goes into files, and beyond that is refused.
type spillBuffer struct {
	memory, disk int64 // limits in bytes

	mu       sync.Mutex
	inMemory int64
	inFiles  int64
	used     map[account]*spillUsage
}

// spillUsage is what is kept for one account.
type spillUsage struct{ inMemory, inFiles int64 }

// spillShare is the part of a shelf that is for one account.
type spillShare struct {
	*spillBuffer
	account account
}

func (s *spillBuffer) of(account account) *spillShare { return &spillShare{s, account} }

// Limits of what waits for all clients together.
const (
	spillMemory = 48 << 20
	spillDisk   = 2 << 30
	// spillAccount is the part of these that one account may have, as a divisor.
	spillAccount = 4
	// fairMemory and fairDisk are what each account has, whatever others have taken: a call that ran
	// must not lose its answer because others do not read theirs.
	fairMemory = 256 << 10
	fairDisk   = 64 << 20
	// smallestFile is the least message that a file is made for, since each costs a
	// descriptor. Lesser ones may take half as much memory again.
	smallestFile = 64 << 10
	// messageOverhead is what keeping a message costs beyond its bytes, about.
	messageOverhead = 256
)

var errSpillFull = errors.New("too much waits for clients that do not read")

// spilledMessage is a message on the shelf. Free it once.
type spilledMessage struct {
	shelf *spillShare // nil if it is not accounted for
	bytes []byte
	file  *os.File // instead of bytes
	size  int64
}

func newSpillBuffer() *spillBuffer { return &spillBuffer{memory: spillMemory, disk: spillDisk} }

// put takes a message. The first of an account is let through however long it is.
func (s *spillShare) put(message []byte) (spilledMessage, error) {
	h := spilledMessage{shelf: s, bytes: message, size: int64(len(message))}
	memory, disk := s.reserve(h.size)
	switch {
	case memory > 0:
		return h, nil
	case disk == 0:
		return spilledMessage{}, errSpillFull
	}
	h.bytes = nil
	var err error
	if h.file, err = spill(message); err != nil {
		s.free(0, h.size)
		return spilledMessage{}, err
	}
	return h, nil
}

// reserve finds room for a message in memory or in a file; both are zero if there is none.
func (s *spillShare) reserve(size int64) (memory, disk int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used == nil {
		s.used = make(map[account]*spillUsage)
	}
	own := s.used[s.account]
	if own == nil {
		own = &spillUsage{}
		s.used[s.account] = own
	}
	needed := size + messageOverhead
	limit, share := s.memory, s.memory/spillAccount
	if size < smallestFile {
		limit, share = limit+limit/2, share+share/2
	}
	isFirst := own.inMemory+own.inFiles == 0
	fits := s.inMemory == 0 || s.inMemory+needed <= limit && (own.inMemory+needed <= share || isFirst) ||
		own.inMemory+needed <= min(fairMemory, share)
	spills := size >= smallestFile && (s.inFiles+size <= s.disk && own.inFiles+size <= s.disk/spillAccount ||
		own.inFiles+size <= min(fairDisk, s.disk/spillAccount) || isFirst && s.disk > 0)
	switch {
	case fits:
		own.inMemory += needed
		s.inMemory += needed
		return needed, 0
	case spills:
		own.inFiles += size
		s.inFiles += size
		return 0, size
	}
	s.tidy(own)
	return 0, 0
}

// tidy forgets an account for which nothing is kept. The caller holds mu.
func (s *spillShare) tidy(own *spillUsage) {
	if own.inMemory == 0 && own.inFiles == 0 {
		delete(s.used, s.account)
	}
}

// unaccounted holds a small message that must find room, outside of any shelf.
func unaccounted(message []byte) spilledMessage {
	return spilledMessage{bytes: message, size: int64(len(message))}
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
func (h *spilledMessage) reader() io.Reader {
	if h.file != nil {
		return io.NewSectionReader(h.file, 0, h.size)
	}
	return bytes.NewReader(h.bytes)
}

func (h *spilledMessage) free() {
	if h.shelf == nil {
		return
	}
	if h.file == nil {
		h.shelf.free(h.size+messageOverhead, 0)
		return
	}
	h.file.Close()
	_ = os.Remove(h.file.Name())
	h.shelf.free(0, h.size)
}

func (s *spillShare) free(memory, disk int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inMemory -= memory
	s.inFiles -= disk
	own := s.used[s.account]
	own.inMemory -= memory
	own.inFiles -= disk
	s.tidy(own)
}
