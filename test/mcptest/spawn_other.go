//go:build !unix

package mcptest

import "errors"

func spawn(string) (int, error) { return 0, errors.ErrUnsupported }
