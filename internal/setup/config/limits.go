package config

// ServerLimits are what a server may use.
type ServerLimits struct {
	Memory int64 // of all its processes together, in bytes; 0: any
}

// Bounds of keys of limits.
const (
	minServerMemory = 1 << 20 // lowest value of limits.memory, in bytes; a lower one is an error
	maxServerMemory = 1 << 40 // highest value of limits.memory, in bytes; a higher one is an error
)

var serverLimitsObject = object{isStrict: true, keys: []key{
	{
		name: "memory", kinds: []kind{kindInteger, kindString}, check: checkServerMemory, pattern: sizePattern, example: `"512MiB"`,
		description: "The resident memory of all its processes together, in bytes or with a unit such as \"512MiB\"; from 1MiB to 1024GiB. It is looked at every second (Linux). A server that uses more is stopped, with its calls, and started again by the next one.",
	},
}}

func serverLimits(n *node) (limits ServerLimits) {
	if memory := n.get("memory"); memory != nil {
		limits.Memory, _ = parseBytes(memory.text) // checked before
	}
	return limits
}

func checkServerMemory(text string) string {
	if size, ok := parseBytes(text); !ok || size < minServerMemory || size > maxServerMemory {
		return `must be a number of bytes or a size such as "512MiB", from 1MiB to 1024GiB`
	}
	return ""
}
