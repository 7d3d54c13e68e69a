// Package rig is what the fault tests and the torture program share: a workbench under
// test, a client that checks every line it is sent, and servers that misbehave on command.
// It speaks raw bytes and uses nothing of the product, so that a bug there cannot hide here.
package rig
