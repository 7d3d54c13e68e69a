package arguments

import (
	"encoding/json"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Limits of a form. A server may send any schema, including a recursive one.
const (
	maxFields    = 2000     // of a form, further ones are a part of a value in JSON
	maxFormDepth = 12       // levels of a form; what is deeper is a value in JSON
	maxFormBytes = 4 << 20  // of the values and descriptions in a form
	maxFormWork  = 64 << 20 // bytes of the schema that are read, counted each time
	maxFormText  = 4 << 10  // bytes of a description
	maxValues    = 1000     // of a choice; one of more is a value in JSON
)

// The types of fields.
const (
	FieldText     = "text"
	FieldNumber   = "number"
	FieldInteger  = "integer"
	FieldBoolean  = "boolean"
	FieldConstant = "constant" // the only value is Values[0]
	FieldChoice   = "choice"   // one of Values
	FieldObject   = "object"   // Fields, those of one of Alternatives if there are any, and members that are Items by their own names
	FieldList     = "list"     // of Items
	FieldMap      = "map"      // an object of any names; its values are Items
	FieldOneOf    = "oneOf"    // what one of Alternatives says
	FieldFile     = "file"     // a string with the content of a file
	FieldJSON     = "json"     // any JSON: what a form cannot express
)

// Field is a part of a form, and describes one value. Names and texts come from servers.
type Field struct {
	Name        string `json:"name,omitempty"` // of the member; "" for other values
	Path        string `json:"path"`           // a JSON Pointer; "-" is an element of a list, and "*" a value of a map
	Type        string `json:"type"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
	Nullable    bool   `json:"nullable,omitempty"` // null is a value, too

	Default json.RawMessage   `json:"default,omitempty"`
	Values  []json.RawMessage `json:"values,omitempty"`
	Labels  []string          `json:"labels,omitempty"` // of Values, if they have any

	Format    string          `json:"format,omitempty"`    // of a text, such as "date" or "uri"
	Secret    bool            `json:"secret,omitempty"`    // a text that is not shown while it is typed
	Base64    bool            `json:"base64,omitempty"`    // how the content of a file is encoded
	MediaType string          `json:"mediaType,omitempty"` // of a file
	Pattern   string          `json:"pattern,omitempty"`
	Minimum   json.RawMessage `json:"minimum,omitempty"`
	Maximum   json.RawMessage `json:"maximum,omitempty"`
	MinLength json.RawMessage `json:"minLength,omitempty"` // of a text
	MaxLength json.RawMessage `json:"maxLength,omitempty"`
	MinItems  json.RawMessage `json:"minItems,omitempty"`
	MaxItems  json.RawMessage `json:"maxItems,omitempty"`

	Fields       []Field `json:"fields,omitempty"`
	Items        *Field  `json:"items,omitempty"`
	Alternatives []Field `json:"alternatives,omitempty"` // each has a Title
	Note         string  `json:"note,omitempty"`         // why it is a value in JSON
}

// Form returns a form for the arguments of a tool. It never fails: what a form cannot express is a field for JSON.
func Form(inputSchema wire.Payload) Field {
	b := &formBuilder{root: inputSchema, fields: maxFields, bytes: maxFormBytes, work: maxFormWork}
	if raw := inputSchema.Bytes(); len(raw) > 0 {
		b.above = []*byte{&raw[0]}
	}
	form := b.field(inputSchema, "", 0)
	if form.Type == FieldJSON && form.Note == "" {
		form.Type = FieldObject // without named parameters
	}
	form.Required = true
	return form
}

// formBuilder makes one form.
type formBuilder struct {
	root                wire.Payload
	fields, bytes, work int     // that are left
	above               []*byte // the targets of references that the field at hand is in
}

// field returns the field of a schema.
func (b *formBuilder) field(s wire.Payload, path string, depth int) (f Field) {
	b.fields--
	if b.fields < 0 || depth > maxFormDepth {
		return Field{Path: path, Type: FieldJSON, Note: "The schema is too large or too deep for a form"}
	}
	before := len(b.above)
	defer func() { b.above = b.above[:before] }()
	n, note := b.node(s)
	if note != "" {
		f = Field{Type: FieldJSON, Note: note}
	} else {
		f = b.shape(n, path, depth)
	}
	f.Path = path
	b.describe(&f, n)
	return f
}

// describe fills in what all types of fields have. What a schema says about an alternative is more than the alternative itself says.
func (b *formBuilder) describe(f *Field, n *node) {
	for _, text := range []struct {
		key  string
		into *string
	}{{"title", &f.Title}, {"description", &f.Description}} {
		if value := b.text(n.keys[text.key]); value != "" {
			*text.into = value
		}
	}
	if value := n.keys["default"]; !value.IsAbsent() && b.take(value) {
		f.Default = value.Bytes()
	}
}

// text returns a text, cut if it is long.
func (b *formBuilder) text(value wire.Payload) string {
	if len(value.Bytes()) > 8*maxFormText { // decoding it is not worth it
		return ""
	}
	text, _ := value.Text()
	text = cutText(text)
	if b.bytes -= len(text); b.bytes < 0 {
		return ""
	}
	return text
}

// take reports whether there is room for a value of the schema.
func (b *formBuilder) take(value wire.Payload) bool {
	b.bytes -= len(value.Bytes())
	return b.bytes >= 0
}
