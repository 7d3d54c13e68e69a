// Package passage takes what is no tool to the servers that have it: resources, prompts,
// completion, log levels, tasks, and whatever else MCP may know.
package passage
