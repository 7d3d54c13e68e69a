// A client of the TypeScript SDK 2.x that looks at everything and calls one tool. It prints one JSON
// line, which the tests read.
//
// usage: node client.mjs stdio COMMAND [ARG…]  |  node client.mjs http ADDRESS TOKEN

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [kind, first, ...rest] = process.argv.slice(2);
const transport = kind === "stdio"
  ? new StdioClientTransport({ command: first, args: rest, env: { ...process.env } })
  : new StreamableHTTPClientTransport(new URL(first), { requestInit: { headers: { Authorization: `Bearer ${rest[0]}` } } });
const client = new Client(
  { name: "sdk-2", version: "1" },
  { capabilities: { roots: {} }, versionNegotiation: { mode: "auto" } },
);

await client.connect(transport);
const { tools } = await client.listTools();
const { prompts } = await client.listPrompts();
const { resources } = await client.listResources();
await client.callTool({ name: "open_toolbox", arguments: { toolbox: "math" } });
const result = await client.callTool({
  name: "use_tool",
  arguments: { tool: { toolbox: "math", server: "calculator", name: "add" }, arguments: { a: 20, b: 22 } },
});
console.log(JSON.stringify({
  tools: tools.map((tool) => tool.name), prompts: prompts.length, resources: resources.length,
  text: result.content[0].text,
}));
await client.close();
