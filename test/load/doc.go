// Package load serves many clients over HTTP with one workbench and checks every answer:
// that it is the caller's own, that nothing is missing, and that memory stays bounded. It also serves
// healthy clients among hostile ones.
package load
