// Package wire handles one JSON-RPC message as raw bytes: it reads a frame
// within limits, validates it once, finds its parts, splices them into other
// messages and writes those, without ever decoding and re-encoding a payload.
//
// A message that came from outside goes through Parse exactly once. What Parse
// accepted is trusted from then on: lookups in it skip over values at the speed
// of a byte search, and forwarding wraps a range of the very buffer that the
// message was read into (see Payload.Wrap).
package wire
