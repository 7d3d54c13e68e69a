// Package secret keeps values that must never be shown out of text that came from
// somewhere else: what a server printed, or said in an error.
package secret

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Mask stands where a secret stood.
const Mask = "[hidden]"

// Masker replaces known secrets in text. A nil Masker knows none.
type Masker struct {
	replacer *strings.Replacer
}

// NewMasker makes a masker of the given values, in the forms in which they may
// appear: as they are, inside a JSON string, and in a URL.
func NewMasker(values []string) *Masker {
	var forms []string
	for _, value := range values {
		if value == "" {
			continue
		}
		forms = append(forms, value, jsonForm(value), url.QueryEscape(value), url.PathEscape(value))
	}
	// Longest first: where one secret holds another, the whole of it has to go.
	slices.SortFunc(forms, func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b))
	})
	forms = slices.Compact(forms)
	if len(forms) == 0 {
		return nil
	}
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		pairs = append(pairs, form, Mask)
	}
	return &Masker{replacer: strings.NewReplacer(pairs...)}
}

// Mask returns the text with every secret in it replaced.
func (m *Masker) Mask(text string) string {
	if m == nil {
		return text
	}
	return m.replacer.Replace(text)
}

func jsonForm(value string) string {
	quoted, err := json.Marshal(value)
	if err != nil {
		return value
	}
	return string(quoted[1 : len(quoted)-1])
}
