package diff

import "strings"

// This file holds what the fake sends: legal, and as unusual as can be. In replies, PARAMS
// stands for the params of the request as they arrived.

const initialized = `{"protocolVersion":VERSION,"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},` +
	`"prompts":{"listChanged":true},"completions":{},"logging":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}},` +
	`"serverInfo":{"name":"fake","version":"1","icons":[]},"instructions":"Be k\u0069nd."}`

const (
	taskCreated = `{"task":{"taskId":"t\u00e2sk-1","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00Z","ttl":60000,"pollInterval":5,"zzz":1.0},` +
		`"_meta":{"io.modelcontextprotocol/model-immediate-response":"w\u0061it"},"params":PARAMS}`
	taskStatus      = `{"taskId":"t\u00e2sk-1","status":"working","statusMessage":"h\u0061lf","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00Z","ttl":60000.0,"zzz":[ ]}`
	resourceUpdated = `{ "uri":"file:\/\/\/a%20b","title":"\u00e9","_meta":{"n":1.0} }`
)

// The last page of tools, and what is behind its key once there is a tool more.
const (
	lastTools = "tools/list p\u00e2ge 2"
	lateTools = " and late ones"
)

func init() {
	replies[lastTools+lateTools] = strings.Replace(replies[lastTools], `"tools" : [ `, `"tools" : [ {"name":"late","inputSchema":{"type":"object"}},`, 1)
}

// problems are errors, by method and what is asked for.
var problems = map[string]string{
	"tools/call rejects":       `{"message":"no \u0073uch thing","code":-32602,"data":{"z":1,"a":[9007199254740993,1.0]},"zzz":null}`,
	"tools/call url":           `{"code":-32042,"message":"needs a URL","data":{"elicitations":[{"mode":"url","elicitationId":"e\u002d1","url":"https:\/\/example.com\/x","message":"m"}],"k":1.0}}`,
	"tools/call vendor":        `{"code":-31999,"message":"","data":null}`,
	"resources/read gone://x":  `{"code":-32002,"message":"Resource not found","data":{"uri":"gone:\/\/x"}}`,
	"prompts/get missing":      `{"code":-32602,"message":"Unknown prompt","data":[1.0]}`,
	"tasks/get no such task":   `{"code":-32602,"message":"Failed to retrieve task: Task not found"}`,
	"vendor/refused ":          `{"code":4711,"message":"\u006eo","data":{"big":123456789012345678901234567890}}`,
	"tasks/cancel no such one": `{"code":-32602,"message":"not found"}`,
}

// replies are results, by method and what is asked for.
var replies = map[string]string{
	"ping ": `{}`,

	"tools/list ": `{"tools":[` +
		`{"name":"echo","inputSchema":{"type":"object","zzz":9007199254740993},"icons":[{"src":"data:,x","mimeType":"image\/png","sizes":["48x48"],"theme":"dark"}],"title":"\u00c9cho"},` +
		`{"name":"progress","inputSchema":{"type":"object"}},{"name":"hang","inputSchema":{"type":"object"}},{"name":"ask","inputSchema":{"type":"object"}},` +
		`{"name":"ask_two","inputSchema":{"type":"object"}},{"name":"take_back","inputSchema":{"type":"object"}},{"name":"notes","inputSchema":{"type":"object"}},` +
		`{"name":"log","inputSchema":{"type":"object"}},{"name":"heard","inputSchema":{"type":"object"}},{"name":"told","inputSchema":{"type":"object"}},{"name":"cancelled","inputSchema":{"type":"object"}}],"nextCursor":"p\u00e2ge 2","_meta":{"a":1}}`,
	"tools/list pâge 2": `{ "nextCursor":null, "tools" : [ {"inputSchema" : { "type":"object" , "$schema":"https:\/\/json-schema.org\/draft\/2020-12\/schema"}, "name":"text","annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false,"title":"T","future":1.0}},` +
		`{"name":"image","inputSchema":{"type":"object"}},{"name":"audio","inputSchema":{"type":"object"}},{"name":"links","inputSchema":{"type":"object"}},` +
		`{"name":"embedded","inputSchema":{"type":"object"}},{"name":"unknown","inputSchema":{"type":"object"}},{"name":"bare","inputSchema":{"type":"object"}},` +
		`{"name":"structured","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"integer","const":9007199254740993}}}},` +
		`{"name":"error","inputSchema":{"type":"object"}},{"name":"rejects","inputSchema":{"type":"object"}},{"name":"url","inputSchema":{"type":"object"}},{"name":"vendor","inputSchema":{"type":"object"}},` +
		`{"name":"app","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui:\/\/app\/view.html","visibility":["model","app"]},"ui/resourceUri":"ui://app/view.html"}},` +
		`{"name":"long","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}`,

	"tools/call text":     `{"content":[{"type":"text","text":"\u00e9é \/ \ud83d\ude00 \ud800","annotations":{"audience":["user","assistant"],"priority":0.50,"lastModified":"2025-01-12T15:00:58Z","future":1},"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}]}`,
	"tools/call image":    `{"_meta":{},"content":[{"mimeType":"image\/png","data":"iVBORw0KGgo=","type":"image"}],"isError":false}`,
	"tools/call audio":    `{"content":[ { "type" : "audio" , "data" : "UklGRg==" , "mimeType" : "audio/wav" } ] }`,
	"tools/call links":    `{"content":[{"type":"resource_link","uri":"file:\/\/\/a%20b","name":"a b","size":12.0,"icons":[],"zzz":{}},{"type":"resource_link","uri":"ui:\/\/app\/view.html","name":"v"}]}`,
	"tools/call embedded": `{"content":[{"type":"resource","resource":{"uri":"file:///a%20b","mimeType":"text/plain","text":"x","_meta":{"n":1.0}}},{"type":"resource","resource":{"uri":"x:y","blob":"AA=="}}]}`,
	"tools/call unknown":  `{"content":[{"type":"hologram","depth":9007199254740993},{},null,7],"future":{"a":[],"b":{ }},"content2":[],"isError":null}`,
	"tools/call bare":     `{}`,
	"tools/call structured": `{"structuredContent":{"n":9007199254740993,"huge":123456789012345678901234567890,"one":1.0,"exp":1E+400,"neg":-0,"z":1,"a":{"k":1,"k":2}},` +
		`"content":[{"type":"text","text":"{\"n\":9007199254740993}"}]}`,
	"tools/call error": `{"content":[{"type":"text","text":"it \u0062roke"}],"isError":true,"_meta":{"retry":1.0}}`,
	"tools/call app":   `{"content":[{"type":"text","text":"shown"}],"_meta":{"ui":{"resourceUri":"ui:\/\/app\/view.html"}},"structuredContent":{"rows":[1.0]}}`,
	"tools/call long":  `{"content":[]}`,

	"resources/list ":              `{"resources":[{"uri":"file:\/\/\/a%20b","name":"a b","title":"\u00e9","size":9007199254740993,"annotations":{"priority":1.0},"icons":[],"_meta":{"x":1.0},"zzz":null}],"nextCursor":"2","zzz":1}`,
	"resources/list 2":             `{"resources":[ {"name":"view" , "uri":"ui://app/view.html","mimeType":"text/html;profile=mcp-app"}, {"uri":"blob:x","name":"b"},{"uri":"gone://x","name":"gone"} ]}`,
	"resources/read file:///a%20b": `{"contents":[{"text":"l\u00efne\n","uri":"file:\/\/\/a%20b","mimeType":"text\/plain","_meta":{"n":1.0},"zzz":[ ]},{"uri":"file:\/\/\/a%20b#2","text":""}],"_meta":{"t":1e0},"params":PARAMS}`,
	"resources/read blob:x":        `{ "contents" : [ { "blob" : "AAECAw==" , "uri" : "blob:x" } ] , "params":PARAMS }`,
	"resources/read ui://app/view.html": `{"contents":[{"uri":"ui:\/\/app\/view.html","mimeType":"text/html;profile=mcp-app","text":"<!doctype html><script>\"<\/script>\"<\/script>",` +
		`"_meta":{"ui":{"csp":{"connectDomains":["https:\/\/example.com"]},"prefersBorder":true}}}]}`,
	"resources/read item://7/x%2Fy": `{"contents":[{"uri":"item:\/\/7\/x%2Fy","text":"7"}],"params":PARAMS}`,

	"resources/templates/list ":  `{"resourceTemplates":[{"uriTemplate":"item:\/\/{id}\/{+rest}","name":"item","annotations":{"priority":0.10},"icons":[],"zzz":1.0}],"nextCursor":"2"}`,
	"resources/templates/list 2": `{"resourceTemplates":[ {"name":"other","uriTemplate":"other://{?q*}"} ]}`,

	"prompts/list ":        `{"prompts":[{"name":"gr\u00fc\u00dfe","title":"T","arguments":[{"name":"who","required":true,"zzz":1.0},{"name":"how"}],"icons":[],"_meta":{"a":1.0}}],"nextCursor":"2"}`,
	"prompts/list 2":       `{"prompts":[ {"arguments":[ ],"name":"pictures" },{"name":"missing"} ],"_meta":{}}`,
	"prompts/get grüße":    `{"description":"\u00e9","messages":[{"role":"user","content":{"type":"text","text":"\u0068ello"},"zzz":1.0},{"role":"assistant","content":{"type":"resource_link","uri":"file:\/\/\/a%20b","name":"a"}}],"params":PARAMS,"_meta":{"n":1.0}}`,
	"prompts/get pictures": `{ "messages":[ {"content" : {"type":"image","data":"AA==","mimeType":"image/png"},"role":"user"},{"role":"user","content":{"type":"resource","resource":{"uri":"ui:\/\/app\/view.html","text":""}}} ] }`,

	"tasks/get tâsk-1":    `{"taskId":"t\u00e2sk-1","status":"completed","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:50:00Z","ttl":null,"zzz":1.0,"params":PARAMS}`,
	"tasks/result tâsk-1": `{"content":[{"type":"text","text":"t\u0061sk done"}],"structuredContent":{"n":1.0},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t\u00e2sk-1"}}}`,
	"tasks/cancel tâsk-1": `{"taskId":"t\u00e2sk-1","status":"cancelled","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:50:00Z","ttl":1.0}`,
	"tasks/list ":         `{"tasks":[{"taskId":"t\u00e2sk-1","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00Z","ttl":60000.0}]}`,
}
