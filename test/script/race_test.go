//go:build unix && race

package script

const raceEnabled = true
