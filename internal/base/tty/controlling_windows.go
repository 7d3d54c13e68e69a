package tty

import "os"

func openControlling() (in, out *os.File, err error) {
	if in, err = os.OpenFile("CONIN$", os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	if out, err = os.OpenFile("CONOUT$", os.O_RDWR, 0); err != nil {
		_ = in.Close() // nothing was read
		return nil, nil, err
	}
	return in, out, nil
}
