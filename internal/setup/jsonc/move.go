package jsonc

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// Rename gives the member at path another key, in its place. A missing member is not an error.
func Rename(source []byte, path []string, key string) ([]byte, error) {
	if len(path) == 0 || !utf8.ValidString(key) {
		return nil, fmt.Errorf("the key %q is not valid", key)
	}
	d, err := parse(source)
	if err != nil {
		return nil, err
	}
	above, depth, err := d.walk(path[:len(path)-1])
	if err != nil || depth < len(path)-1 {
		return source, err
	}
	object, isObject := above.Value.(*hujson.Object)
	if !isObject {
		return nil, &ShapeError{Path: path[:len(path)-1]}
	}
	index, err := find(object, path)
	if err != nil || index < 0 {
		return source, err
	}
	renamed := append(slices.Clone(path[:len(path)-1]), key)
	if taken, err := find(object, renamed); err != nil || taken >= 0 && taken != index {
		return nil, fmt.Errorf("%s is there already", Dotted(renamed))
	}
	d.replaceText(&object.Members[index].Name, key)
	return d.finish()
}

// Move moves the member at one path to the end of another object, with its text and its comments. Missing objects on
// the way are created. A missing member is not an error.
func Move(source []byte, from, to []string) ([]byte, error) {
	d, err := parse(source)
	if err != nil {
		return nil, err
	}
	held, depth, err := d.walk(from)
	if err != nil || depth < len(from) || depth == 0 || slices.Equal(from, to) {
		return source, err
	}
	if _, depth, err := d.walk(to); err != nil || depth == len(to) {
		return nil, fmt.Errorf("%s is there already", Dotted(to))
	}
	text := string(d.text[held.StartOffset:held.EndOffset])
	with := d.commentsOf(from)
	with.isMoved = true
	with.written = &writtenValue{text: text, indent: d.indent(held.StartOffset)}
	rest, err := Remove(source, from)
	if err != nil {
		return nil, err
	}
	return set(rest, to, []byte(text), with, math.MaxInt)
}

// MapStrings replaces strings, keys included, by what the function returns for them, in their places. The path of an
// element of an array has its index as a key; that of a key ends with the key itself.
func MapStrings(source []byte, replace func(path []string, isKey bool, text string) string) ([]byte, error) {
	d, err := parse(source)
	if err != nil {
		return nil, err
	}
	d.mapStrings(&d.root, nil, replace)
	if len(d.splices) == 0 {
		return source, nil
	}
	return d.finish()
}

func (d *document) mapStrings(value *hujson.Value, path []string, replace func([]string, bool, string) string) {
	apply := func(at *hujson.Value, path []string, isKey bool) {
		text := at.Value.(hujson.Literal).String()
		if replaced := replace(path, isKey, text); replaced != text {
			d.replaceText(at, replaced)
		}
	}
	switch composite := value.Value.(type) {
	case *hujson.Object:
		for i := range composite.Members {
			m := &composite.Members[i]
			below := append(slices.Clone(path), m.Name.Value.(hujson.Literal).String())
			d.mapStrings(&m.Value, below, replace)
			apply(&m.Name, below, true)
		}
	case *hujson.Array:
		for i := range composite.Elements {
			d.mapStrings(&composite.Elements[i], append(path, strconv.Itoa(i)), replace)
		}
	case hujson.Literal:
		if composite.Kind() == '"' {
			apply(value, path, false)
		}
	}
}

// replaceText replaces a string.
func (d *document) replaceText(at *hujson.Value, text string) {
	encoded, err := Encode(text)
	if err != nil {
		encoded = hujson.String(text)
	}
	d.splice(at.StartOffset, at.EndOffset, string(encoded))
	at.Value = hujson.Literal(encoded)
}
