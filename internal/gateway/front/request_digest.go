package front

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// digest identifies what a request is about, within one process; zero stands for none. It is made
// for every request of a client that can be asked something, so it has to be cheap. It cannot be
// forged, since its seed is secret.
type digest uint64

var digestSeed = maphash.MakeSeed()

// bind makes the digest of a request: the caller, the method, and the params, however they are
// written.
func bind(caller, method string, params wire.Payload) digest {
	d := joined(maphash.String(digestSeed, caller), maphash.String(digestSeed, method))
	d = joined(d, digestOfObject(params, 0, func(key []byte) bool {
		switch string(key) {
		case "_meta", protocol.InputResponses, protocol.RequestState:
			return true
		}
		return false
	}))
	return digest(max(d, 1))
}

// maxDigestDepth is how deep values may nest to be the same however they are written, since each level is read once more;
// what is deeper must be written in the same way.
const maxDigestDepth = 50

// digestOf ignores spaces, escapes and the order of members of a value at a depth.
func digestOf(value wire.Payload, depth int) uint64 {
	kind := value.Kind()
	if depth > maxDigestDepth {
		kind = ""
	}
	switch kind {
	case "object":
		return digestOfObject(value, depth, func([]byte) bool { return false })
	case "array":
		d := maphash.String(digestSeed, "[")
		for element := range value.Elements() {
			d = joined(d, digestOf(element, depth+1))
		}
		return d
	case "string":
		return joined(maphash.String(digestSeed, `"`), digestOfText(value))
	}
	return maphash.Bytes(digestSeed, value.Bytes())
}

// digestOfText copies the text only if it has escapes.
func digestOfText(value wire.Payload) uint64 {
	quoted := value.Bytes()
	if bytes.IndexByte(quoted, '\\') < 0 {
		return maphash.Bytes(digestSeed, quoted[1:len(quoted)-1])
	}
	text, _ := value.Text()
	return maphash.String(digestSeed, text)
}

func digestOfObject(object wire.Payload, depth int, skip func(key []byte) bool) uint64 {
	members := uint64(0) // their sum, which has no order
	for key, value := range object.Members() {
		if !skip(key) {
			members += joined(maphash.Bytes(digestSeed, key), digestOf(value, depth+1))
		}
	}
	return joined(maphash.String(digestSeed, "{"), members)
}

func joined(a, b uint64) uint64 {
	var both [16]byte
	binary.LittleEndian.PutUint64(both[:], a)
	binary.LittleEndian.PutUint64(both[8:], b)
	return maphash.Bytes(digestSeed, both[:])
}
