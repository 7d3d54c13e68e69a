package condition

import (
	"strings"
	"testing"
)

var readingSQL = []string{
	"select 1", "SELECT 1;", " select * from t ; ", "SELECT 1; -- the end", "SELECT 1 /* why */ ;\n-- end\n", "(select 1)", "(select 1) union all (select 2)",
	"select a, b from t where c = 'it''s; delete from t' and \"d\" = `e`", "select 1 # a comment", "select [Order Details].[a b] from [Order Details]",
	"select '-- no comment', '/* none */' from t", "select 'a\\nb', 'c\\d' from t", "select E'\\t', N'x', X'00', date '2020-01-01', date'2020-01-01'",
	"with a as (select 1), b (x, y) as (select 1, 2) select * from a, b", "with recursive t(n) as (values (1) union all select n + 1 from t where n < 9) select n from t",
	"with a as not materialized (select 1) select * from a", "with a as (select 1) (select * from a)", "values (1, 'a'), (2, 'b')", "table t",
	"explain select 1", "explain analyze select * from t", "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT 1", "explain query plan select 1", "explain format=json select 1",
	"explain with a as (select 1) select * from a", "describe t", "desc s.t", "DESCRIBE TABLE t", "explain t", "describe `my table` col",
	"show tables", "SHOW CREATE TABLE t;", "show columns from t like 'a%'", "show server_version", "SHOW PROCEDURE STATUS",
	"select count(*), max(a), coalesce(b, 0), replace(c, 'a', 'b'), cast(d as decimal(10, 2)) from t group by e having count(*) > 1 order by 1 desc limit 5 offset 2",
	"select a::text, b->>'c', d #>> '{e}' from t", "select array['a', 'b'], arr[1] from t", "select * from t where a in (select b from u) and exists (select 1 from v)",
	"select row_number() over (partition by a order by b) from t", "select sum(a) filter (where b > 1) from t window w as (order by c)",
	"select t.a from t join u using (id) left join lateral (select 1) x on true", "select extract(year from d), substring(a from 1 for 2), trim(both 'x' from 'xax') from t",
	"select a is distinct from 'b', a is not distinct from 'c' from t", "select open, close, start, comment, user, date, status from prices", "select top (5) * from t with (nolock)",
	"select * from v$session", "select $1, ?, :name, @p from t", "select 1.5e-3, 0x1F, .5", "select größe from tabelle", "select case when a then 'b' else 'c' end from t",
	"select * from t fetch first 5 rows only", "select * from t for system_time as of '2020-01-01'", "select * from generate_series(1, 5) as g(n)", "select 5 - -3",
	"select * from `project.dataset.table`", `select "a.b" as "c.csv" from "s"."t"`, "select * from (values (1)) as t(a)",
}

var writingSQL = []string{
	"", " ", ";", "-- nothing", "/* */", "1", "foo", "'select 1'", "select 1;;", "select 1; select 2", "select 1 select 2", "; select 1",
	"insert into t values (1)", "update t set a = 1", "delete from t", "merge into t using u on 1=1", "replace into t values (1)", "truncate table t", "truncate t",
	"create table t (a int)", "drop table t", "alter table t add a int", "grant all on t to u", "begin", "commit", "set a = 1", "use d", "call p()", "exec p", "do $$ begin end $$",
	"pragma table_info(t)", "PRAGMA journal_mode=wal", "attach 'f' as a", "copy t to '/f'", "copy (select 1) to program 'x'", "load data infile 'f'", "vacuum", "analyze t", "lock table t", "listen x", "notify x", "handler t open", "reset all", "install x", "load 'x'", "import x", "kill 1", "shutdown",
	"select 1; delete from t", "select 1; delete from t; --", "select 1 delete from t", "select 1\ndrop table t", "select 1 exec sp", "select 1 waitfor delay '0:0:9'", "select 1;\u00a0delete from t", "select 1\u00a0delete from t", "select 1delete from t", "select 1e5delete from t", "select'a'delete from t",
	"select * into t from u", "select 1 into outfile '/f'", "select 1 into @a", "select @a := 1", "table t into outfile '/f'",
	"select * from t for update", "select * from t FOR SHARE", "select * from t for no key update", "select * from t for key share", "select * from t lock in share mode", "select * from t with (updlock)", "select * from t for\n/* x */ update",
	"with a as (delete from t returning *) select * from a", "with a as (insert into t values (1) returning 1) select 1", "with a as (update t set b = 1) select 1", "with a as (select 1) delete from t", "with a as (select 1) insert into t select * from a", "with a as (merge into t) select 1", "with a as (select 1) update t set b = 1", "with a as (select 1)", "with a", "with",
	"with f(x) as y select y", "with f('x') as (select 1) select 1", "with a as (call p()) select 1", "with function f return number is begin return 1; end; select f from dual",
	"explain delete from t", "explain analyze delete from t", "EXPLAIN (ANALYZE) UPDATE t SET a = 1", "explain analyze t", "explain", "explain analyze", "explain (analyze", "explain (delete from t) select 1", "explain plan for select 1 from dual", "explain execute x", "explain create table a as select 1", "describe", "explain format=json into @a select 1", "explain insert into t values (1)",
	"show", "show tables; drop table t", "show (select 1)", "show select 1",
	"select nextval('s')", "select setval('s', 1)", "select s.nextval from dual", "select next value for s", "select pg_read_file('/etc/passwd')", "select lo_import('/f')", "select load_extension('x')", "select load_file('/f')", "select writefile('f', 'x')", "select readfile('f')", "select dblink('c', 'delete from t')", "select * from dblink('c', 'delete from t') as (a int)", "select * from dblink('c', 'x') as t(a int)", "select pg_sleep(9)", "select my_function()", "select s.count(1)", `select "pg_read_file"('/f')`, "select [f](1)", "select `f`(1)", "select pg_read_file /* x */ ('/f')", "select xp_cmdshell('x')", "select * from openrowset(bulk 'f', single_clob) x", "select query_to_xml('delete from t', true, true, '')", "select set_config('a', 'b', false)", "select pg_terminate_backend(1)", "select get_lock('a', 1)", "select last_insert_id(5)", "select sleep(5)", "select distinct on (a) nextval('s') from t", "select (f)(1)",
	"select * from 'f.csv'", `select * from "f.csv"`, "select * from a, 'f.csv'", "select * from a join 'f.csv' on 1=1", "select * from a join b on a.x = b.x, 'f.csv'", "select * from ('f.csv')", "select * from \"/etc/passwd\"", "select * from parquet.`/f`", "select * from read_csv('f')", "select * from file('f')", "select * from url('http://x')", "from 'f.csv'", "from t", "select * from @stage", "table 'f.csv'",
	// Quotes and comments that dialects read differently.
	`select 'a\'; delete from t; --'`, `select 'a\' ; delete from t -- '`, `select "a\" , "`, `select 'a\\' from t`, `select E'\'' from t`, `select 'a\'' ; delete from t -- '`, "select '''a'", "select \"\"\"a\"", "select 'a", "select \"a", "select `a", "select [a", "select a]", "select [[a]] ' ] delete from t --'", "select [a'] , ' delete from t --]'", "select ['a]b']", "select [a]] from t", "select [a -- ] \n ]", "select [a /* ] */ ]",
	"select $$a$$", "select $t$ delete $t$", "select 1$$ a $$", "select $1$ a", "select $", "select q'[a'b]'", "select r'a'", "select u&'\\0041'", "select _utf8'a'", "select @'a'", "select @`a`", "select `;`", "select ` ' `",
	"select 1 /* /* */ delete from t */", "select 1 /* /* */ , ' */ delete from t -- '", "select 1 /*! delete */", "select /*!50000 1 */", "select 1 /*M! x */", "select /*+ set_var(x=1) */ 1", "select 1 /* a", "select 1 /*/ , 2", "select 1 --1", "select 1 --\u00a0x", "select 1 -- a\r delete from t", "select 1 -- a\u2028 delete from t", "select 1 -- a\u0085 x", "select 1 # a\r delete from t", "select 1 # ' \n delete from t -- '", "select 1 # delete from t", "select 1 // ' \n delete from t --'",
	"select 1 \\g", "select {fn now()}", "select 1 |> drop a", "select \x00 1", "select 'a\x00b'", "select 1 \x0c", "select “a”", "select 1；delete from t", "select (1", "select 1)", "select 1) (select 2", "se/**/lect 1 from t", "select 1 returning a",
	"select a from t procedure analyse()", "select * from final table (insert into t values (1))", "in\u017fert into t values (1)", "select * from t where a = 1 in\u017fert into t values (1)", "select 1 ->> undrop table t", "select 1 ->> put x", "select 1 add sensitivity classification to t.a with (label = 'a')", "select x.modify('delete /a') from t",
}

func TestSQL(t *testing.T) {
	for _, text := range readingSQL {
		if why := writes(text); why != "" {
			t.Errorf("%q writes: %s", text, why)
		}
	}
	for _, text := range writingSQL {
		if why := writes(text); why == "" {
			t.Errorf("%q only reads", text)
		}
	}
}

// FuzzSQL looks for a text that counts as reading although it has a word that writes where some dialect sees it.
func FuzzSQL(f *testing.F) {
	for _, seed := range append(readingSQL, writingSQL...) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if writes(text) != "" {
			return
		}
		for _, d := range sqlDialects {
			visible, ok := d.visible(text)
			if !ok {
				continue // an error there
			}
			upper := strings.ToUpper(visible)
			body := strings.TrimRight(upper, " \t\r\n")
			if strings.Contains(strings.TrimSuffix(body, ";"), ";") {
				t.Errorf("%q reads, and has two statements in %s: %q", text, d.name, visible)
			}
			isShow := strings.HasPrefix(strings.TrimLeft(body, " \t\r\n"), "SHOW")
			for _, word := range strings.FieldsFunc(upper, func(r rune) bool {
				return r != '_' && r != '$' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && r < 0x80
			}) {
				switch word {
				case "INSERT", "UPDATE", "DELETE", "MERGE", "DROP", "ALTER", "INTO", "EXEC", "EXECUTE", "CALL", "PRAGMA", "NEXTVAL", "LOAD_FILE", "COPY", "GRANT":
					t.Errorf("%q reads, and has %s in %s: %q", text, word, d.name, visible)
				case "CREATE":
					if !isShow {
						t.Errorf("%q reads, and has %s in %s: %q", text, word, d.name, visible)
					}
				}
			}
		}
	})
}

// sqlDialect says how a dialect hides text. It is written apart from the scanner, to disagree with it where it is wrong.
type sqlDialect struct {
	name                                                        string
	backslash, hash, nested, brackets, dollar, tightDash, backs bool
	slashes, triple, carriage                                   bool
}

var sqlDialects = []sqlDialect{
	{name: "MySQL", backslash: true, hash: true, tightDash: true, backs: true},
	{name: "MySQL without escapes", hash: true, tightDash: true, backs: true},
	{name: "PostgreSQL", nested: true, dollar: true, carriage: true},
	{name: "old PostgreSQL", nested: true, dollar: true, backslash: true, carriage: true},
	{name: "Transact-SQL", nested: true, brackets: true},
	{name: "SQLite", brackets: true, backs: true},
	{name: "BigQuery", backslash: true, hash: true, backs: true, triple: true},
	{name: "Snowflake", backslash: true, dollar: true, slashes: true},
	{name: "Oracle"},
}

// visible returns a text without what is inside of quotes and comments; false if they do not end.
func (d sqlDialect) visible(text string) (string, bool) {
	var out strings.Builder
	for i := 0; i < len(text); {
		rest := text[i:]
		length, ok := 0, true
		switch {
		case strings.HasPrefix(rest, "--") && (!d.tightDash || len(rest) == 2 || rest[2] <= ' '), d.hash && rest[0] == '#', d.slashes && strings.HasPrefix(rest, "//"):
			ends := "\n"
			if d.carriage {
				ends = "\r\n"
			}
			if length = strings.IndexAny(rest, ends); length < 0 {
				length = len(rest)
			}
		case strings.HasPrefix(rest, "/*!") && d.tightDash:
			length = 0 // is run
		case strings.HasPrefix(rest, "/*"):
			length, ok = d.comment(rest)
		case d.triple && (strings.HasPrefix(rest, "'''") || strings.HasPrefix(rest, `"""`)):
			end := strings.Index(rest[3:], rest[:3])
			length, ok = end+6, end >= 0
		case rest[0] == '\'' || rest[0] == '"' || rest[0] == '`' && d.backs:
			length, ok = quotedLength(rest, rest[0], d.backslash && rest[0] != '`', !d.triple)
		case rest[0] == '`':
			return "", false
		case rest[0] == '[' && d.brackets:
			length, ok = quotedLength(rest, ']', false, d.nested)
		case rest[0] == '$' && d.dollar && (i == 0 || !isNamePart(text[i-1])):
			if tag, _, found := strings.Cut(rest[1:], "$"); found && !strings.ContainsFunc(tag, func(r rune) bool { return r < 0x80 && !isNamePart(byte(r)) }) && (tag == "" || tag[0] > '9') {
				end := strings.Index(rest[len(tag)+2:], "$"+tag+"$")
				length, ok = end+2*(len(tag)+2), end >= 0
			}
		}
		if !ok {
			return "", false
		}
		if length == 0 {
			out.WriteByte(rest[0])
			i++
			continue
		}
		out.WriteByte(' ')
		i += length
	}
	return out.String(), true
}

func (d sqlDialect) comment(rest string) (int, bool) {
	depth := 1
	for i := 2; i+1 < len(rest); i++ {
		switch {
		case rest[i:i+2] == "*/":
			i++
			if depth--; depth == 0 {
				return i + 1, true
			}
		case rest[i:i+2] == "/*" && d.nested:
			i++
			depth++
		}
	}
	return 0, false
}

// quotedLength returns the length of quoted text. Its first byte is not looked at.
func quotedLength(rest string, quote byte, backslash, doubled bool) (int, bool) {
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == '\\' && backslash:
			i++
		case rest[i] == quote && doubled && i+1 < len(rest) && rest[i+1] == quote:
			i++
		case rest[i] == quote:
			return i + 1, true
		}
	}
	return 0, false
}

func isNamePart(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}
