package tty

import (
	"errors"
	"os"
)

// Controlling is the terminal that a program was started from, whatever its input and output are: a program without one
// runs where no person sees what it writes.
type Controlling struct {
	*Screen
	files []*os.File
}

// ErrNoTerminal is returned where there is no controlling terminal, or where another program has it.
var ErrNoTerminal = errors.New("there is no controlling terminal")

// OpenControlling opens the controlling terminal. Close must be called.
func OpenControlling(getenv func(string) string) (*Controlling, error) {
	in, out, err := openControlling()
	if err != nil {
		return nil, errors.Join(ErrNoTerminal, err)
	}
	opened := &Controlling{New(out, in, getenv), []*os.File{in, out}}
	if !opened.IsInteractive() {
		opened.Close()
		return nil, ErrNoTerminal
	}
	return opened, nil
}

// Files returns the keyboard and the screen. They are open until Close.
func (c *Controlling) Files() (in, out *os.File) { return c.files[0], c.files[1] }

// Close closes the terminal. A read that nobody waits for ends with the program.
func (c *Controlling) Close() {
	for _, file := range c.files {
		_ = file.Close() // nothing is lost
	}
}
