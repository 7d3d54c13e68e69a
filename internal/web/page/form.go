package page

import (
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/arguments"
)

// checked is what is wrong with arguments, and what is probably a mistake.
type checked struct {
	Problems []string `json:"problems"`
	Notes    []string `json:"notes"`
}

// form answers with the form of a tool, or of another schema such as that of a question.
func (p *Page) form(w http.ResponseWriter, r *http.Request) {
	if _, schema, ok := readSchema(w, r); ok {
		answer(w, http.StatusOK, arguments.Form(schema))
	}
}

// check checks arguments against the schema of a tool, as the command 'call' does.
func (p *Page) check(w http.ResponseWriter, r *http.Request) {
	body, schema, ok := readSchema(w, r)
	if !ok {
		return
	}
	given := body.Member("arguments")
	if given.Kind() != "object" {
		refuse(w, http.StatusBadRequest, "The arguments are not an object", "")
		return
	}
	result := checked{Problems: []string{}, Notes: []string{}}
	problems, notes := arguments.Check(given.Bytes(), schema)
	result.Problems, result.Notes = append(result.Problems, problems...), append(result.Notes, notes...)
	answer(w, http.StatusOK, result)
}

// readSchema returns the body of a request, and the schema in it: its "schema", or that of its "definition".
func readSchema(w http.ResponseWriter, r *http.Request) (body, schema wire.Payload, ok bool) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLong, ok := errors.AsType[*http.MaxBytesError](err); ok {
		refuse(w, http.StatusRequestEntityTooLarge, "The body of the request is longer than "+strconv.FormatInt(tooLong.Limit, 10)+" bytes", "")
		return body, schema, false
	}
	if err == nil {
		body, err = wire.ParseValue(data)
	}
	if err != nil || body.Kind() != "object" {
		refuse(w, http.StatusBadRequest, "The body of the request is not a JSON object", "")
		return body, schema, false
	}
	schema = body.Member("schema")
	if schema.IsAbsent() {
		schema = body.Member("definition").Member("inputSchema")
	}
	return body, schema, true
}
