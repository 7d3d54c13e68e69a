// Several clients of the official TypeScript SDK, each with a bridge of its own to the
// workbench that they share. Each step prints one JSON line, which shared_linux_test.go
// checks; after some it waits for a line of the test.
//
// usage: node shared.mjs BINARY CONFIG alike|asked|killed|folders [FOLDER…]

import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  CallToolResultSchema, CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

const [binary, config, plan, ...folders] = process.argv.slice(2);
const say = (step, facts = {}) => console.log(JSON.stringify({ step, ...facts }));
const within = { timeout: 25_000 };
const orders = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const order = () => orders.next();

// connect starts a bridge for one client. One that can be asked answers with its name.
async function connect(name, { roots, changes, folder } = {}) {
  const client = new Client({ name, version: "1" },
    { capabilities: roots ? { sampling: {}, elicitation: {}, roots: { listChanged: true } } : {} });
  const transport = new StdioClientTransport({ command: binary, args: ["--shared", "--config", config], env: { ...process.env }, cwd: folder });
  if (roots) {
    client.setRequestHandler(CreateMessageRequestSchema, (request) => ({
      model: "ours", role: "assistant",
      content: { type: "text", text: `${name} was asked: ${request.params.messages[0].content.text}` },
    }));
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { name } }));
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: roots }] }));
  }
  if (changes) client.setNotificationHandler(ToolListChangedNotificationSchema, changes);
  await client.connect(transport, within);
  const call = (tool, args, options) => client.callTool({ name: tool, arguments: args }, CallToolResultSchema, { ...within, ...options });
  const use = (server, tool, args, options) => call("use_tool", { tool: { toolbox: "all", server, name: tool }, arguments: args }, options);
  await call("open_toolbox", { toolbox: "all" });
  return { name, client, use, pid: transport.pid };
}

const text = (result) => result.content.map((block) => block.text).join(" ");
const each = (list, task) => Promise.all(list.map(task));
const echo = (c, message) => c.use("everything", "echo", { message }).then(text);
// A request that crosses the death of the workbench fails, and may be sent again.
const echoAgain = (c, message) => echo(c, message).catch((error) =>
  /may have been carried out/.test(error) ? echo(c, message) : Promise.reject(error));

// alike: five clients that declare nothing, in one folder.
async function alike() {
  const clients = await each([1, 2, 3, 4, 5], (n) => connect(`client ${n}`));
  say("opened", { pids: clients.map((c) => c.pid) });
  await order();
  const seen = await each(clients, async (c, i) => {
    const steps = i + 2, totals = new Set();
    let count = 0;
    const result = await c.use("everything", "trigger-long-running-operation", { duration: 0.5, steps },
      { onprogress: (progress) => { totals.add(progress.total); count++; } });
    return { steps, totals: [...totals], count, text: text(result) };
  });
  say("progress", { seen });
  say("echoes", { texts: await each(clients, (c) => echo(c, c.name)) });
  return clients;
}

// asked: clients that can be asked, two of them with the same roots.
async function asked() {
  const clients = [
    await connect("ada", { roots: "file:///one" }),
    await connect("bob", { roots: "file:///one" }),
    await connect("zoe", { roots: "file:///two" }),
  ];
  say("opened", { pids: clients.map((c) => c.pid) });
  await order();
  // The first time that the server asks for roots, it works for one client: those with other roots leave it.
  await clients[0].use("everything", "get-roots-list", {});
  say("roots", { texts: await each(clients, (c) => c.use("everything", "get-roots-list", {}).then(text)) });
  await order();
  const ask = (c) => c.use("everything", "trigger-sampling-request", { prompt: `for ${c.name}`, maxTokens: 10 }).then(text, String);
  // At once: of two in one session it cannot be told which is asked, and the server is
  // refused. Then each has a session of its own.
  say("at once", { texts: await each(clients, ask) });
  // The refusal may come with this round, if the first calls did not meet.
  say("again", { texts: await each(clients, async (c) => {
    const answer = await ask(c);
    return /none is known to be the one to ask/.test(answer) ? ask(c) : answer;
  }) });
  say("forms", { texts: await each(clients, (c) => c.use("everything", "trigger-elicitation-request", {}).then(text, String)) });
  return clients;
}

// folders: windows of one client in different folders, each of which is the root of one.
async function windows() {
  const clients = await each(folders, (folder, n) => connect(`window ${n + 1}`, { folder, roots: `file://${folder}` }));
  say("echoes", { pids: clients.map((c) => c.pid), texts: await each(clients, (c) => echo(c, c.name)) });
  await order();
  return clients;
}

// killed: the workbench is killed while one call is in flight.
async function killed() {
  let changes = 0;
  const clients = await each([1, 2, 3], (n) => connect(`client ${n}`, { changes: () => void changes++ }));
  const began = new Promise((resolve) => { clients[0].began = resolve; });
  const flying = clients[0].use("everything", "trigger-long-running-operation", { duration: 60, steps: 600 },
    { onprogress: () => clients[0].began() }).then(text, String);
  await began;
  say("opened", { pids: clients.map((c) => c.pid) });
  await order();
  say("flying", { text: await flying });
  say("echoes", { texts: await each(clients, (c) => echoAgain(c, c.name)) });
  say("changes", { changes });
  say("again", { pids: clients.map((c) => c.pid) });
  await order();
  return clients;
}

try {
  const clients = await { alike, asked, killed, folders: windows }[plan]();
  await each(clients, (c) => c.client.close());
  say("closed");
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
process.stdin.destroy();
