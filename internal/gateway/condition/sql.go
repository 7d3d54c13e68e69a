package condition

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// writes returns why a text is not one SQL statement that only reads, in whatever dialect. What is not understood writes.
func writes(text string) string {
	for _, hashComments := range []bool{false, true} {
		tokens, err := scanSQL(text, hashComments)
		if err == nil {
			err = readsOnly(tokens)
		}
		if err != nil {
			return err.Error()
		}
	}
	return ""
}

var (
	errSQLEmpty      = errors.New("it is empty")
	errSQLStatements = errors.New("it is more than one statement")
	errSQLUnknown    = errors.New("it is not a query that is understood")
	errSQLFile       = errors.New("it may read a file")
)

// readsOnly reports why a statement may do more than read.
func readsOnly(tokens []sqlToken) error {
	if last := len(tokens) - 1; last >= 0 && tokens[last].is(";") {
		tokens = tokens[:last]
	}
	if len(tokens) == 0 {
		return errSQLEmpty
	}
	if slices.ContainsFunc(tokens, func(t sqlToken) bool { return t.is(";") }) {
		return errSQLStatements
	}
	switch {
	case tokens[0].isWord("SHOW"):
		return showReads(tokens[1:])
	case tokens[0].isWord("EXPLAIN", "DESCRIBE", "DESC"):
		return explainReads(tokens[1:])
	}
	return queryReads(tokens)
}

// showReads judges what follows SHOW.
func showReads(tokens []sqlToken) error {
	if len(tokens) > 0 && tokens[0].isWord("CREATE") {
		tokens = tokens[1:]
	}
	if len(tokens) == 0 {
		return errSQLUnknown
	}
	for i, token := range tokens {
		if err := writingWord(tokens, i); err != nil && (i > 0 || !token.isWord("PROCEDURE")) {
			return err
		}
		if token.is("(") || token.isWord("SELECT", "WITH") {
			return errSQLUnknown
		}
	}
	return nil
}

var explainOptions = words(`ANALYZE ANALYSE VERBOSE EXTENDED PARTITIONS QUERY PLAN FORMAT JSON TREE TRADITIONAL TEXT YAML XML FORMATTED COST
	CODEGEN LOGICAL BUFFERS COSTS SETTINGS GENERIC_PLAN WAL TIMING SUMMARY MEMORY SERIALIZE ON OFF TRUE FALSE NONE TABLE`)

// explainReads judges what follows EXPLAIN or DESCRIBE: options and a query, or the name of a table.
func explainReads(tokens []sqlToken) error {
	start := 0
	for depth := 0; start < len(tokens); start++ {
		token := tokens[start]
		switch {
		case token.is("(") && depth == 0 && start+1 < len(tokens) && explainOptions[tokens[start+1].text]:
			depth++
			continue
		case token.is(")") && depth > 0:
			depth--
			continue
		case token.is("=") || token.is(",") && depth > 0 || token.kind == sqlWord && explainOptions[token.text]:
			continue
		}
		if depth > 0 {
			return errSQLUnknown
		}
		break
	}
	query := tokens[start:]
	if len(query) == 0 {
		return errSQLUnknown
	}
	if query[0].is("(") || query[0].isWord("SELECT", "WITH", "VALUES") {
		return queryReads(query)
	}
	if slices.ContainsFunc(tokens[:start], func(t sqlToken) bool { return !t.isWord("EXTENDED", "FORMATTED", "TABLE") }) {
		return errSQLUnknown
	}
	for i, token := range query {
		if err := writingWord(query, i); err != nil {
			return err
		}
		if token.kind != sqlWord && token.kind != sqlQuoted && !token.is(".") || len(query) > 6 {
			return errSQLUnknown
		}
	}
	return nil
}

// writingWord returns an error for a word that may write, wherever it stands.
func writingWord(tokens []sqlToken, at int) error {
	token := tokens[at]
	var next sqlToken
	if at+1 < len(tokens) {
		next = tokens[at+1]
	}
	isWriting := false
	switch {
	case token.kind != sqlWord:
	case token.isWord("REPLACE", "TRUNCATE"):
		isWriting = !next.is("(") // else a function
	case token.isWord("FOR"):
		isWriting = next.kind != sqlNumber && !next.isWord("SYSTEM_TIME", "JSON", "XML")
	case token.isWord("NEXT", "PREVIOUS"):
		isWriting = next.isWord("VALUE")
	case token.isWord("ENABLE", "DISABLE"):
		isWriting = next.isWord("TRIGGER")
	default:
		isWriting = writingWords[token.text]
	}
	if !isWriting {
		return nil
	}
	return fmt.Errorf("%s may write or lock", token.text)
}

// sqlLevel is what is known about the query between two parentheses.
type sqlLevel struct {
	withTables bool // in the list of tables that WITH defines
	isFrom     bool // in the list of tables that are read
	isCall     bool // the arguments of a function, where FROM has another meaning
}

// queryReads judges a query: SELECT, VALUES, TABLE, also after WITH.
func queryReads(tokens []sqlToken) error {
	q := sqlQuery{tokens: tokens, levels: []sqlLevel{{}}}
	for q.at = 0; q.at < len(tokens); q.at++ {
		if err := q.step(); err != nil {
			return err
		}
	}
	if len(q.levels) != 1 || q.levels[0].withTables {
		return errSQLUnknown
	}
	return nil
}

// sqlQuery is a walk over the tokens of a query.
type sqlQuery struct {
	tokens []sqlToken
	at     int
	levels []sqlLevel
	hasMet bool // the first word of the query
}

// token returns the token at some distance; the zero one if there is none.
func (q *sqlQuery) token(distance int) sqlToken {
	if i := q.at + distance; i >= 0 && i < len(q.tokens) {
		return q.tokens[i]
	}
	return sqlToken{}
}

func (q *sqlQuery) step() error {
	token, before := q.token(0), q.token(-1)
	level := &q.levels[len(q.levels)-1]
	if err := writingWord(q.tokens, q.at); err != nil {
		return err
	}
	if !q.hasMet && !token.is("(") {
		q.hasMet = true
		if !token.isWord("SELECT", "WITH", "VALUES", "TABLE") {
			return errSQLUnknown
		}
	}
	isStart := before.kind == 0 || before.is("(")
	switch {
	case token.is("("):
		return q.open(level)
	case token.is(")"):
		if q.levels = q.levels[:len(q.levels)-1]; len(q.levels) == 0 || level.withTables {
			return errSQLUnknown
		}
		return nil
	case token.isWord("WITH") && isStart:
		level.withTables = true
		return nil
	case level.withTables:
		return q.withTable(level)
	case token.kind == sqlWord && before.is(">") && q.token(-2).is(">") && q.token(-3).is("-"):
		return errSQLStatements // as in Snowflake; elsewhere ->> takes a part of JSON
	case token.isWord("SELECT") && !isStart && !before.isWord("UNION", "EXCEPT", "INTERSECT", "MINUS", "ALL", "DISTINCT"):
		return errSQLStatements
	}
	return q.source(level)
}

// withTable judges a token in the list of tables that WITH defines, outside of parentheses. The query follows the list.
func (q *sqlQuery) withTable(level *sqlLevel) error {
	token, before := q.token(0), q.token(-1)
	switch {
	case before.is(")") && token.isWord("SELECT", "VALUES", "TABLE"):
		level.withTables = false
	case before.isWord("WITH", "RECURSIVE") || before.is(","):
		if token.kind != sqlWord && token.kind != sqlQuoted {
			return errSQLUnknown
		}
	case token.isWord("AS", "NOT", "MATERIALIZED"), token.is(",") && before.is(")"):
	default:
		return errSQLUnknown
	}
	return nil
}

// source judges whether a token names a file to read.
func (q *sqlQuery) source(level *sqlLevel) error {
	token, before := q.token(0), q.token(-1)
	switch {
	case level.isCall, token.isWord("FROM") && before.isWord("DISTINCT") && q.token(-2).isWord("IS", "NOT"),
		before.isWord("FROM") && q.token(-2).isWord("DISTINCT") && q.token(-3).isWord("IS", "NOT"):
		return nil
	case before.is("."):
		if token.kind == sqlQuoted && strings.ContainsAny(token.text, `/\`) {
			return errSQLFile // parquet.`/path`
		}
		return nil
	case token.isWord("FROM"):
		level.isFrom = true
	case token.isWord("SELECT", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "FETCH", "WINDOW", "UNION", "EXCEPT", "INTERSECT", "QUALIFY"):
		level.isFrom = false
	}
	isTable := before.isWord("TABLE", "FROM", "JOIN", "LATERAL", "ONLY", "APPLY") || level.isFrom && (before.is(",") || before.is("("))
	if isTable && (token.kind == sqlString || token.is("@") || token.kind == sqlQuoted && isFileName(token.text)) {
		return errSQLFile
	}
	return nil
}

// isFileName reports whether some databases read a name in quotes as that of a file.
func isFileName(name string) bool {
	name = strings.ToLower(name)
	return strings.ContainsAny(name, `/\:*?`) || slices.ContainsFunc(fileEndings, func(end string) bool { return strings.HasSuffix(name, end) })
}

// open judges what stands before a parenthesis: a function must be known to only read.
func (q *sqlQuery) open(level *sqlLevel) error {
	before, earlier := q.token(-1), q.token(-2)
	inner := sqlLevel{isFrom: level.isFrom && (before.is(",") || before.is("(") || before.isWord("FROM", "JOIN"))}
	q.levels = append(q.levels, inner)
	isName := before.kind == sqlWord || before.kind == sqlQuoted
	switch {
	case level.withTables:
		return q.openWithTable(before)
	case before.is("]"), before.is(")"):
		return errSQLUnknown // [name](…) calls a function
	case !isName || before.kind == sqlWord && sqlBeforeParenthesis[before.text] && !earlier.is("."):
		return nil
	case earlier.isWord("AS") && !q.token(-3).is("."):
		return nil // a type, or the columns of an alias
	case before.kind == sqlWord && readingFunctions[before.text] && !earlier.is("."):
		q.levels[len(q.levels)-1].isCall = !q.token(1).isWord("SELECT", "WITH", "FROM", "TABLE", "VALUES")
		return nil
	case before.kind == sqlWord:
		return fmt.Errorf("the function %s is not known to only read", show(strings.ToLower(before.text)))
	}
	return errSQLUnknown
}

// openWithTable judges a parenthesis in the list of tables that WITH defines: a query, or names of columns.
func (q *sqlQuery) openWithTable(before sqlToken) error {
	if before.isWord("AS", "MATERIALIZED") {
		if !q.token(1).is("(") && !q.token(1).isWord("SELECT", "WITH", "VALUES", "TABLE") {
			return errSQLUnknown
		}
		return nil
	}
	if before.is(")") { // the query after the list
		q.levels[len(q.levels)-2].withTables = false
		return nil
	}
	for i := 1; !q.token(i).is(")"); i++ {
		if token := q.token(i); token.kind != sqlWord && token.kind != sqlQuoted && !token.is(",") {
			return errSQLUnknown
		}
	}
	return nil
}
