// A dual-era server of the TypeScript SDK 2.x, which names only revision 2026-07-28 and serves
// initialize all the same. Its tools ask the client, each by the means of one era.
//
// usage: node dual.mjs stdio
//        PORT=… node dual.mjs sessions     (legacy clients have sessions)
//        PORT=… node dual.mjs stateless    (nobody has)

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createMcpHandler, inputRequired, acceptedContent, isLegacyRequest, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import * as z from "zod";

const name = z.object({ name: z.string() });

function make({ era }) {
  const server = new McpServer({ name: "dual", version: "1" });
  const say = (text) => ({ content: [{ type: "text", text: `${era} ${text}` }] });
  server.registerTool("request", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    const form = { type: "object", properties: { name: { type: "string" } } };
    const who = await mcpReq.elicitInput({ message: "Who are you?", requestedSchema: form });
    const said = await mcpReq.requestSampling({ messages: [{ role: "user", content: { type: "text", text: "Say it" } }], maxTokens: 5 });
    return say(`${who.content.name} ${said.content.text}`);
  });
  server.registerTool("input", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    const who = acceptedContent(mcpReq.inputResponses, "who", name);
    if (who) return say(who.name);
    return inputRequired({ inputRequests: { who: inputRequired.elicit({ message: "Who are you?", requestedSchema: name }) } });
  });
  return server;
}

const mode = process.argv[2];
if (mode === "stdio") {
  serveStdio(make);
} else {
  const modern = toNodeHandler(createMcpHandler(make, { legacy: mode === "sessions" ? "reject" : "stateless" }));
  const sessions = new Map();
  createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const text = Buffer.concat(parts).toString();
    const body = text ? JSON.parse(text) : undefined;
    if (mode !== "sessions" || !(await isLegacyRequest(await toWebRequest(request, body), body))) {
      await modern(request, response, body);
      return;
    }
    let session = sessions.get(request.headers["mcp-session-id"]);
    if (!session) {
      session = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (id) => sessions.set(id, session) });
      await make({ era: "legacy" }).connect(session);
    }
    await session.handleRequest(request, response, body);
  }).listen(Number(process.env.PORT), "127.0.0.1");
}
