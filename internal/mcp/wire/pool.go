package wire

import (
	"math/bits"
	"sync"
)

// Buffers of large messages are pooled. A new buffer has to be cleared, and a few of them start the garbage collector;
// together that took longer than everything else that is done with such a message.
const (
	smallestPooled = 14 // as a power of two, as are the others
	largestPooled  = 22
	// poolMargin is what a buffer has beyond its power of two: each time that a message is
	// wrapped in it, it loses a little at its beginning.
	poolMargin = 4 << 10
)

// pools hold buffers by the power of two that they have room for.
var pools [largestPooled + 1]sync.Pool

// grab returns an empty buffer with room for n bytes. Its memory is not clear.
func grab(n int) []byte {
	power := max(bits.Len(uint(n-1)), smallestPooled)
	if n <= 1<<(smallestPooled-1) || power > largestPooled {
		return make([]byte, 0, n)
	}
	if found, ok := pools[power].Get().(*[]byte); ok {
		return (*found)[:0]
	}
	return make([]byte, 0, 1<<power+poolMargin)
}

// recycle takes a buffer back, of which nobody has a part any more. It need not have come
// from grab.
func recycle(buffer []byte) {
	if power := bits.Len(uint(cap(buffer))) - 1; power >= smallestPooled && power <= largestPooled {
		kept := buffer // whose address costs nothing where the buffer is too small
		pools[power].Put(&kept)
	}
}
