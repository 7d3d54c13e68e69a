package search

import "github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"

// field is a part of a document.
type field uint8

const (
	inName field = iota
	inTitle
	inDescription
	inParameter
	inParameterText
	inChoice // a value of an enum
	inServer
	inServerText
	inToolbox
	inToolboxText
	fieldCount
)

// fieldWeights are the weights of a word in each field. They are round on purpose: the ranking hardly depends on them,
// and fine-tuned weights did not carry over to other queries.
var fieldWeights = [fieldCount]float64{
	inName: 3, inTitle: 2, inDescription: 2,
	inParameter: 0.7, inParameterText: 0.5, inChoice: 0.5,
	inServer: 2, inServerText: 0.7, inToolbox: 1, inToolboxText: 0.5,
}

// Limits of the text of one document, so that no server can make the index large.
const (
	maxFieldText   = 16 << 10 // bytes of one text
	maxSchemaText  = 32 << 10 // bytes of all texts of a schema
	maxSchemaDepth = 5        // levels of a schema that are indexed
)

// eachText calls visit for the texts of a document.
func (d *Document) eachText(visit func(in field, text string)) {
	visit(inName, d.Name)
	visit(inTitle, d.Title)
	visit(inDescription, d.Description)
	visit(inServer, d.Server)
	visit(inServerText, d.ServerDescription)
	visit(inToolbox, d.Toolbox)
	visit(inToolboxText, d.ToolboxDescription)
	reader := schemaReader{visit: visit, room: maxSchemaText}
	reader.properties(d.Schema, 0)
}

// schemaReader visits the names, descriptions and enum values in a schema.
type schemaReader struct {
	visit func(in field, text string)
	room  int // bytes that may still be read
}

func (r *schemaReader) text(in field, text string) {
	if r.room -= len(text); r.room >= 0 {
		r.visit(in, text)
	}
}

func (r *schemaReader) properties(schema wire.Payload, depth int) {
	for key, property := range schema.Member("properties").Members() {
		if r.room <= 0 {
			return
		}
		r.text(inParameter, string(key))
		r.property(property, depth)
	}
}

func (r *schemaReader) property(schema wire.Payload, depth int) {
	if depth == maxSchemaDepth {
		return
	}
	if text, ok := schema.Member("description").Text(); ok {
		r.text(inParameterText, text)
	}
	for value := range schema.Member("enum").Elements() {
		if r.room <= 0 {
			return
		}
		if text, ok := value.Text(); ok {
			r.text(inChoice, text)
		}
	}
	r.properties(schema, depth+1)
	r.property(schema.Member("items"), depth+1)
}
