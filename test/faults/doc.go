// Package faults holds one test for each thing that a server, a client, the configuration
// or the machine may do wrong, against the real program: what must happen then, and how
// soon. The tests are for Linux, where processes, memory and descriptors can be counted.
package faults
