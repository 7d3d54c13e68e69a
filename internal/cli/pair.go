package cli

import (
	"errors"
	"os"
)

// pairEnd is one end of a connection within this process.
type pairEnd struct{ in, out *os.File }

// socketPair makes both ends of a connection.
func socketPair() (a, b *pairEnd, err error) {
	fromB, toA, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	fromA, toB, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, fromB.Close(), toA.Close())
	}
	return &pairEnd{fromB, toB}, &pairEnd{fromA, toA}, nil
}

func (p *pairEnd) Read(data []byte) (int, error)  { return p.in.Read(data) }
func (p *pairEnd) Write(data []byte) (int, error) { return p.out.Write(data) }

// CloseWrite implements relay.Conn.
func (p *pairEnd) CloseWrite() error { return p.out.Close() }

// Close closes both directions.
func (p *pairEnd) Close() error { return errors.Join(p.out.Close(), p.in.Close()) }
