// Package clients runs the workbench below real clients from npm, as their users have
// them: connected by 'mcp-workbench connect', in a home folder of their own, with a
// stand-in for the model. Clients are pinned, one folder each in npm; 'make clients' runs
// them, since they are a few hundred megabytes each.
package clients
