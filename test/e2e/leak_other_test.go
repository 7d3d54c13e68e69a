//go:build !linux

package e2e

import "strconv"

// Elsewhere there is no process table that can be read without help: nothing is checked.

func marked(string) []process { return nil }

func below(int) []process { return nil }

func exists(process) bool { return false }

func describe(p process) string { return strconv.Itoa(p.pid) }

func end(process) {}
