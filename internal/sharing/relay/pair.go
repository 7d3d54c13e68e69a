package relay

import (
	"errors"
	"os"
)

// PairEnd is one end of a connection within this process.
type PairEnd struct{ in, out *os.File }

// NewPair returns both ends of a connection within this process.
func NewPair() (a, b *PairEnd, err error) {
	fromB, toA, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	fromA, toB, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, fromB.Close(), toA.Close())
	}
	return &PairEnd{fromB, toB}, &PairEnd{fromA, toA}, nil
}

// Read implements Conn.
func (p *PairEnd) Read(data []byte) (int, error) { return p.in.Read(data) }

// Write implements Conn.
func (p *PairEnd) Write(data []byte) (int, error) { return p.out.Write(data) }

// CloseWrite implements Conn.
func (p *PairEnd) CloseWrite() error { return p.out.Close() }

// Close closes both directions.
func (p *PairEnd) Close() error { return errors.Join(p.out.Close(), p.in.Close()) }
