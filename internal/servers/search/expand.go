package search

import "unicode/utf8"

// candidate is a term that matches a word of a query.
type candidate struct {
	term   int32
	weight float64
}

// expand returns the terms that match a word. A document's score for the word is that of the best of them.
func (f *finder) expand(w queryWord) []candidate {
	term, known := f.terms[w.stem]
	list := make([]candidate, 0, 16)
	if known {
		list = append(list, candidate{term, w.weight * f.rarity[term]})
	}
	if w.asks || f.room <= 0 {
		return list
	}
	add := func(other int32, weight float64) {
		// A rare synonym is no reason to trust a common word more.
		rarity := f.rarity[other]
		if known {
			rarity = min(rarity, f.rarity[term])
		}
		list = append(list, candidate{other, w.weight * weight * rarity})
	}
	trust := 1.0
	if !known {
		trust = strangerTrust
	}
	related := knownWords().related[w.stem]
	for _, r := range related {
		if other, ok := f.terms[r.stem]; ok {
			add(other, min(1, trust*r.weight))
		}
	}
	if known {
		return list
	}
	// A word of the lists is spelt right: "boot" is not a typo of "book".
	if len(related) == 0 && f.typos < maxTypos && utf8.RuneCountInString(w.text) >= minTypo {
		f.typos++
		for _, other := range f.nearest(w.text) {
			add(other, typoWeight)
		}
	}
	return list
}
