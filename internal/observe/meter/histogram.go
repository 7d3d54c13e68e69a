package meter

import (
	"math/bits"
	"time"
)

// Buckets are a quarter of an octave wide, from 16 µs to 18 minutes, so that the middle of a bucket is
// off by an eighth at most.
const (
	minExponent = 4 // of the first bucket but one, in microseconds
	octaves     = 26
	perOctave   = 4
	buckets     = octaves*perOctave + 1
)

// histogram counts durations by bucket. The first bucket has those below 16 µs, the last one all that are too long.
type histogram [buckets]uint32

func bucketOf(took time.Duration) int {
	us := uint64(max(took.Microseconds(), 0))
	exponent := bits.Len64(us) - 1
	if exponent < minExponent {
		return 0
	}
	quarter := int(us>>(exponent-2)) & (perOctave - 1)
	return min((exponent-minExponent)*perOctave+quarter+1, buckets-1)
}

// lowerBound is the shortest duration of a bucket, and the upper bound of the one before.
func lowerBound(bucket int) time.Duration {
	if bucket == 0 {
		return 0
	}
	exponent, quarter := (bucket-1)/perOctave+minExponent, (bucket-1)%perOctave
	return time.Duration(perOctave+quarter) << (exponent - 2) * time.Microsecond
}

func (h *histogram) add(other *histogram) {
	for i, n := range other {
		h[i] += n
	}
}

// quantile returns the duration that a share of the requests did not exceed: the middle of its bucket. It is 0 without
// requests.
func (h *histogram) quantile(share float64) time.Duration {
	total := 0.0
	for _, n := range h {
		total += float64(n)
	}
	before := 0.0
	for i, n := range h {
		if before += float64(n); n > 0 && before >= share*total {
			return (lowerBound(i) + lowerBound(i+1)) / 2
		}
	}
	return 0
}
