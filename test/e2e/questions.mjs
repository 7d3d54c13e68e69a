// The official TypeScript client in front of the workbench, as one that can be asked: for a
// sample, by a form, for its roots. It also reads resources and prompts. Each step prints
// one JSON line, which questions_test.go checks.
//
// usage: node questions.mjs BINARY CONFIG MODE [ADDRESS]

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CallToolResultSchema, CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";

const [binary, config, , address] = process.argv.slice(2);

const say = (step, facts = {}) => console.log(JSON.stringify({ step, ...facts }));
const within = { timeout: 20_000 };

const client = new Client({ name: "e2e-questions", version: "1" },
  { capabilities: { sampling: {}, elicitation: {}, roots: { listChanged: true } } });
const transport = address ? new StreamableHTTPClientTransport(new URL(address)) : new StdioClientTransport({
  command: binary, args: ["--config", config], env: { ...process.env },
});

const asked = [];
client.setRequestHandler(CreateMessageRequestSchema, (request) => {
  asked.push("sample: " + request.params.messages[0].content.text);
  return { model: "ours", role: "assistant", content: { type: "text", text: "a sample of ours" } };
});
client.setRequestHandler(ElicitRequestSchema, (request) => {
  asked.push("form: " + Object.keys(request.params.requestedSchema.properties).length);
  return { action: "decline" };
});
client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///ours", name: "ours" }] }));

const use = (name, args) => client.callTool(
  { name: "use_tool", arguments: { tool: { toolbox: "all", server: "everything", name }, arguments: args } },
  CallToolResultSchema, within);
const text = (result) => result.content.map((block) => block.text).join(" ");

try {
  await client.connect(transport, within);
  await client.callTool({ name: "open_toolbox", arguments: { toolbox: "all" } }, CallToolResultSchema, within);
  say("opened", { pid: transport.pid });
  say("sampling", { text: text(await use("trigger-sampling-request", { prompt: "say it", maxTokens: 10 })) });
  say("elicitation", { text: text(await use("trigger-elicitation-request", {})) });
  say("roots", { text: text(await use("get-roots-list", {})) });
  say("asked", { servers: asked });
  const { resources } = await client.listResources(undefined, within);
  const read = await client.readResource({ uri: resources[0].uri }, within);
  say("resource", { text: read.contents[0].uri === resources[0].uri ? "the one that was listed" : read.contents[0].uri });
  const { prompts } = await client.listPrompts(undefined, within);
  say("prompts", { tools: prompts.map((prompt) => prompt.name) });
  const prompt = await client.getPrompt({ name: "simple-prompt" }, within);
  say("prompt", { text: prompt.messages[0].content.text });
  const completed = await client.complete(
    { ref: { type: "ref/prompt", name: "completable-prompt" }, argument: { name: "department", value: "E" } }, within);
  say("completion", { tools: completed.completion.values });
  if (address) await transport.terminateSession();
  await client.close();
  say("closed");
} catch (error) {
  console.error(error);
  process.exitCode = 1;
  await transport.close();
}
