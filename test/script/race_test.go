//go:build unix && race

package script_test

const raceEnabled = true
