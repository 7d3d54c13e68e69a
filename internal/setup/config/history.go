package config

import (
	"strconv"
	"strings"
	"time"
)

// Bounds of history.keep.
const (
	minHistoryKeep = time.Hour            // shortest value of history.keep; a shorter one is an error
	maxHistoryKeep = 366 * 24 * time.Hour // longest value of history.keep; a longer one is an error
)

// History is what is kept of the calls of workbenches that have ended.
type History struct {
	Keep time.Duration // how long; 0: nothing is written
}

var historyKey = key{
	name: "history", kinds: []kind{kindObject}, members: &historyObject, example: `{"keep": "7d"}`,
	description: "What 'mcp-workbench history' shows of workbenches that have ended. The calls of a running workbench are always there, in memory.",
}

var historyObject = object{keys: []key{
	{
		name: "keep", kinds: []kind{kindString}, check: checkKeep, pattern: `^([0-9]+d)?([0-9]+(\.[0-9]*)?(s|m|h))*$|\$\{`, example: `"7d"`,
		description: "Writes each call to a file that only you can read, and removes it after this time, from \"1h\" to \"366d\". A record has names, times, sizes and the shape of the arguments, never a value. The default is that nothing is written.",
	},
}}

func history(n *node) History {
	if n == nil || n.kind != kindObject {
		return History{}
	}
	keep, _ := parseDays(n.get("keep").string())
	return History{Keep: keep}
}

func checkKeep(text string) string {
	if keep, ok := parseDays(text); !ok || keep < minHistoryKeep || keep > maxHistoryKeep {
		return `must be a time from "1h" to "366d", such as "7d" or "12h"`
	}
	return ""
}

// parseDays parses a duration that may begin with a number of days.
func parseDays(text string) (time.Duration, bool) {
	number, rest, hasDays := strings.Cut(text, "d")
	if !hasDays {
		d, err := time.ParseDuration(text)
		return d, err == nil
	}
	days, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return 0, false
	}
	all := time.Duration(days) * 24 * time.Hour
	if rest == "" {
		return all, true
	}
	d, err := time.ParseDuration(rest)
	return all + d, err == nil && d >= 0
}
