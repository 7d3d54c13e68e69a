// The official TypeScript client in front of the workbench. Each step prints one JSON
// line, which typescript_test.go checks; an error ends the script with exit code 1.
//
// usage: node client.mjs BINARY CONFIG proxy|dynamic [ADDRESS]
//
// With an address the client uses a workbench that listens there over HTTP.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [binary, config, mode, address] = process.argv.slice(2);

const say = (step, facts = {}) => console.log(JSON.stringify({ step, ...facts }));
const within = { timeout: 20_000 };

const client = new Client({ name: "e2e-typescript", version: "1" });
const transport = address ? new StreamableHTTPClientTransport(new URL(address)) : new StdioClientTransport({
  command: binary,
  args: ["--config", config],
  // Without this the transport passes on a few variables only, and not the test's mark.
  env: { ...process.env },
});

const call = (name, args, options = {}) =>
  client.callTool({ name, arguments: args }, CallToolResultSchema, { ...within, ...options });
const use = (server, name, args, options) =>
  call("use_tool", { tool: { toolbox: "all", server, name }, arguments: args }, options);

const names = async () => (await client.listTools(undefined, within)).tools.map((tool) => tool.name);

async function open() {
  const result = await call("open_toolbox", { toolbox: "all" });
  const answer = JSON.parse(result.content[0].text);
  // The process tree is complete now: the test notes it, to see later that it is gone.
  say("opened", {
    pid: transport.pid,
    connected: answer.servers_connected,
    servers: [...new Set(answer.tools.map((tool) => tool.server))],
  });
}

// watch runs a call and returns what onprogress was told, and what arrived on the wire.
// They differ: this client drops the progress that comes in one read with the result,
// also when it talks to a server directly.
async function watch(start) {
  const told = [];
  arrived.length = 0;
  const result = await start({ onprogress: (progress) => told.push(progress.progress) });
  return { told, arrived: [...arrived], text: result.content[0].text };
}

const arrived = [];
function listen() {
  const deliver = transport.onmessage;
  transport.onmessage = (message, extra) => {
    arrived.push(message.method ? message.params?.progress : "result");
    deliver(message, extra);
  };
}

// abortInFlight aborts a call once it is known to run.
async function abortInFlight(start) {
  const abort = new AbortController();
  const slow = { duration: 20, steps: 200 };
  try {
    await start(slow, { signal: abort.signal, onprogress: () => abort.abort("enough") });
    say("aborted", { error: null });
  } catch (error) {
    say("aborted", { error: String(error) });
  }
}

async function proxy() {
  say("listed", { tools: await names() });
  await open();
  const sum = await use("everything", "get-sum", { a: 2, b: 40 });
  say("sum", { text: sum.content[0].text });
  await use("memory", "create_entities", {
    entities: [{ name: "Ada", entityType: "person", observations: ["é 😀"] }],
  });
  const found = await use("memory", "search_nodes", { query: "ada" });
  say("found", { structured: found.structuredContent });

  say("progress", await watch((options) =>
    use("everything", "trigger-long-running-operation", { duration: 0.3, steps: 3 }, options)));

  await abortInFlight((args, options) => use("everything", "trigger-long-running-operation", args, options));
  const after = await use("everything", "echo", { message: "after the abort" });
  say("after", { text: after.content[0].text });
}

async function dynamic() {
  let changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
  say("listed", { tools: await names() });
  await open();
  // Over HTTP the notice has a stream of its own, and so no order with the answer.
  for (let left = 2000; address && !changes && left; left--) await new Promise((resolve) => setTimeout(resolve, 10));
  say("changed", { changes, tools: await names() });
  // The client checks structured content against the output schema that was listed.
  const native = await call("all__everything__get-structured-content", { location: "Chicago" });
  say("native", { structured: native.structuredContent });
  say("progress", await watch((options) =>
    call("all__everything__trigger-long-running-operation", { duration: 0.3, steps: 3 }, options)));
  const graph = await call("all__memory__read_graph", {});
  say("graph", { structured: graph.structuredContent });
  await abortInFlight((args, options) => call("all__everything__trigger-long-running-operation", args, options));
  const missing = await call("all__everything__nothing", {});
  say("missing", { isError: missing.isError, text: missing.content[0].text });
}

try {
  await client.connect(transport, within);
  listen();
  say("connected", { server: client.getServerVersion(), instructions: client.getInstructions() });
  await (mode === "dynamic" ? dynamic() : proxy());
  if (address) await transport.terminateSession();
  await client.close();
  say("closed");
} catch (error) {
  console.error(error);
  process.exitCode = 1;
  await transport.close();
}
