// The official TypeScript client, which speaks the older era, in front of a server of either
// era that asks it something. It prints one JSON line, which eras_test.go checks.
//
// usage: node eras.mjs BINARY CONFIG MODE [ADDRESS]

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, CreateMessageRequestSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [binary, config, , address] = process.argv.slice(2);

const say = (step, facts = {}) => console.log(JSON.stringify({ step, ...facts }));
const within = { timeout: 20_000 };

const client = new Client({ name: "e2e-eras", version: "1" }, { capabilities: { sampling: {}, elicitation: {} } });
const transport = address ? new StreamableHTTPClientTransport(new URL(address)) : new StdioClientTransport({
  command: binary, args: ["--config", config], env: { ...process.env },
});
client.setRequestHandler(CreateMessageRequestSchema, () => (
  { model: "ours", role: "assistant", content: { type: "text", text: "said" } }));
client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { name: "Ada" } }));

try {
  await client.connect(transport, within);
  say("opened", { pid: transport.pid });
  await client.callTool({ name: "open_toolbox", arguments: { toolbox: "tools" } }, CallToolResultSchema, within);
  const result = await client.callTool(
    { name: "use_tool", arguments: { tool: { toolbox: "tools", server: "asker", name: "ask" }, arguments: {} } },
    CallToolResultSchema, within);
  say("asked", { text: result.content.map((block) => block.text).join(" ") });
  if (address) await transport.terminateSession();
  await client.close();
  say("closed");
} catch (error) {
  console.error(error);
  process.exitCode = 1;
  await transport.close();
}
