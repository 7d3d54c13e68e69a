package front

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
)

// spillBuffer stores messages that clients over HTTP have not read yet. Servers are shared by
// clients, so nobody waits for a slow client: messages beyond the limit of memory are written to
// files, and those beyond the limit of files are refused.
type spillBuffer struct {
	memory, disk int64 // limits in bytes

	mu       sync.Mutex
	inMemory int64
	inFiles  int64
	used     map[account]*spillUsage
}

// spillUsage is what is stored for one account.
type spillUsage struct{ inMemory, inFiles int64 }

// spillShare is the part of one account.
type spillShare struct {
	*spillBuffer
	account account
}

func (s *spillBuffer) of(account account) *spillShare { return &spillShare{s, account} }

// Limits for all clients together.
const (
	spillMemory = 48 << 20
	spillDisk   = 2 << 30
	// spillAccount is the part of one account, as a divisor.
	spillAccount = 4
	// fairMemory and fairDisk are reserved for each account: a call that ran must not lose its
	// response because other clients do not read theirs.
	fairMemory = 256 << 10
	fairDisk   = 64 << 20
	// smallestFile is the smallest message that is written to a file, since each file needs a
	// descriptor. For smaller ones the limit of memory is half as much again.
	smallestFile = 64 << 10
	// messageOverhead is about what storing a message costs beyond its bytes.
	messageOverhead = 256
)

var errSpillFull = errors.New("too much waits for clients that do not read")

// spilledMessage is a stored message. Free it once.
type spilledMessage struct {
	share *spillShare // nil if it is not counted
	bytes []byte
	file  *os.File // instead of bytes
	size  int64
}

func newSpillBuffer() *spillBuffer { return &spillBuffer{memory: spillMemory, disk: spillDisk} }

// store stores a message. The first one of an account is always stored, whatever its size.
func (s *spillShare) store(message []byte) (spilledMessage, error) {
	h := spilledMessage{share: s, bytes: message, size: int64(len(message))}
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

// reserve reserves memory or disk for a message; both are zero if there is no room.
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

// tidy removes an account for which nothing is stored. Called with mu held.
func (s *spillShare) tidy(own *spillUsage) {
	if own.inMemory == 0 && own.inFiles == 0 {
		delete(s.used, s.account)
	}
}

// unaccounted is a small message that is not counted.
func unaccounted(message []byte) spilledMessage {
	return spilledMessage{bytes: message, size: int64(len(message))}
}

// spill writes a message to a file that nobody else can open.
func spill(message []byte) (*os.File, error) {
	file, err := os.CreateTemp("", "mcp-workbench-*")
	if err != nil {
		return nil, err
	}
	// Without a name the file is deleted with its descriptor, even if the process is killed. Where
	// the system refuses that, free removes it.
	_ = os.Remove(file.Name())
	if _, err := file.Write(message); err != nil {
		file.Close()
		_ = os.Remove(file.Name())
		return nil, err
	}
	return file, nil
}

// reader reads the message from its beginning. There may be several readers at once.
func (h *spilledMessage) reader() io.Reader {
	if h.file != nil {
		return io.NewSectionReader(h.file, 0, h.size)
	}
	return bytes.NewReader(h.bytes)
}

func (h *spilledMessage) free() {
	if h.share == nil {
		return
	}
	if h.file == nil {
		h.share.free(h.size+messageOverhead, 0)
		return
	}
	h.file.Close()
	_ = os.Remove(h.file.Name())
	h.share.free(0, h.size)
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
