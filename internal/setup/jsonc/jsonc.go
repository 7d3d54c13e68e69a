// Package jsonc edits single values of a JSON file with comments and keeps the rest of the file byte for byte.
package jsonc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// Set sets the member at path to a value, in the layout of the file. Missing objects are created,
// and new members come last. Blank text counts as an empty object. An equal value changes nothing.
func Set(source []byte, path []string, value []byte) ([]byte, error) {
	return set(source, path, value, &addition{}, math.MaxInt)
}

// SetFirst is Set for a member that comes before all others if it is new.
func SetFirst(source []byte, path []string, value []byte) ([]byte, error) {
	return set(source, path, value, &addition{}, 0)
}

// Restore adds the member at path from an earlier text to one that lacks it: with its comments, and after index others
// or at the end. Objects created on the way come last.
func Restore(source, earlier []byte, path []string, index int) ([]byte, error) {
	d, err := parse(earlier)
	if err != nil {
		return nil, err
	}
	held, depth, err := d.walk(path)
	if err != nil || depth < len(path) || depth == 0 {
		return source, err
	}
	return set(source, path, d.text[held.StartOffset:held.EndOffset], d.commentsOf(path), index)
}

func set(source []byte, path []string, value []byte, with *addition, index int) ([]byte, error) {
	if len(bytes.TrimSpace(bytes.TrimPrefix(source, byteOrderMark))) == 0 {
		source = append(bytes.Clone(source[:len(source)-len(bytes.TrimPrefix(source, byteOrderMark))]), "{}\n"...)
	}
	d, err := parse(source)
	if err != nil {
		return nil, err
	}
	added, err := parse(value)
	if err != nil {
		return nil, fmt.Errorf("the new value of %s is not JSON: %w", Dotted(path), err)
	}
	if i := slices.IndexFunc(path, func(key string) bool { return !utf8.ValidString(key) }); i >= 0 {
		return nil, fmt.Errorf("the key %q is not valid UTF-8", path[i])
	}
	found, depth, err := d.walk(path)
	if err != nil {
		return nil, err
	}
	if depth < len(path) {
		wanted := added.root
		for i := len(path) - 1; i > depth; i-- {
			wanted = hujson.Value{Value: &hujson.Object{Members: []hujson.ObjectMember{member(path[i], wanted)}}}
		}
		object := found.Value.(*hujson.Object) // walk would have failed otherwise
		if index = min(index, len(object.Members)); depth < len(path)-1 {
			index, with = len(object.Members), &addition{}
		}
		with.ObjectMember = member(path[depth], wanted)
		d.insert(found, object, index, with)
		object.Members = slices.Insert(object.Members, index, member(path[depth], wanted))
		return d.finish()
	}
	if equal(found, &added.root) {
		return source, nil
	}
	d.replace(found, &added.root)
	found.Value = added.root.Value
	return d.finish()
}

// Remove removes the member at path with its comma and its comments: those on its line and directly
// above. A missing member is not an error.
func Remove(source []byte, path []string) ([]byte, error) {
	if len(path) == 0 {
		return nil, errors.New("the whole file cannot be removed")
	}
	d, err := parse(source)
	if err != nil {
		return nil, err
	}
	found, depth, err := d.walk(path[:len(path)-1])
	if err != nil || depth < len(path)-1 {
		return source, err
	}
	object, isObject := found.Value.(*hujson.Object)
	if !isObject {
		return nil, &ShapeError{Path: path[:len(path)-1]}
	}
	index, err := find(object, path)
	if err != nil || index < 0 {
		return source, err
	}
	d.remove(found, object, index)
	object.Members = slices.Delete(object.Members, index, index+1)
	return d.finish()
}

// ShapeError is the error for a value on the path that is not an object.
type ShapeError struct{ Path []string }

func (e *ShapeError) Error() string { return Dotted(e.Path) + " is not an object" }

// SyntaxError is the position at which a file is not valid JSON. It quotes nothing, since the text may be a secret.
type SyntaxError struct{ Line, Column int }

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at line %d, column %d", e.Line, e.Column)
}

// Dotted formats a path for people.
func Dotted(path []string) string {
	if len(path) == 0 {
		return "the file's top level"
	}
	return strings.Join(path, ".")
}

// Encode formats a value as JSON for a file that people read: <, > and & stay unescaped.
func Encode(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSpace(out.Bytes()), err
}

func member(key string, value hujson.Value) hujson.ObjectMember {
	return hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(key)}, Value: value}
}

// find returns the index of the last key of path in an object, or -1.
func find(object *hujson.Object, path []string) (int, error) {
	index := -1
	for i := range object.Members {
		if object.Members[i].Name.Value.(hujson.Literal).String() != path[len(path)-1] {
			continue
		}
		if index >= 0 {
			return -1, fmt.Errorf("%s is there twice; remove one of them", Dotted(path))
		}
		index = i
	}
	return index, nil
}

// equal compares two values regardless of layout and comments.
func equal(a, b *hujson.Value) bool {
	switch first := a.Value.(type) {
	case *hujson.Object:
		second, ok := b.Value.(*hujson.Object)
		return ok && slices.EqualFunc(first.Members, second.Members, func(x, y hujson.ObjectMember) bool {
			return equal(&x.Name, &y.Name) && equal(&x.Value, &y.Value)
		})
	case *hujson.Array:
		second, ok := b.Value.(*hujson.Array)
		return ok && slices.EqualFunc(first.Elements, second.Elements, func(x, y hujson.Value) bool { return equal(&x, &y) })
	case hujson.Literal:
		second, ok := b.Value.(hujson.Literal)
		return ok && bytes.Equal(first, second)
	}
	return false
}
