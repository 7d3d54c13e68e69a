// A hostile page in a real browser. Each attempt to reach the server at TARGET prints one
// JSON line, which browser_test.go checks: what the page could read, if anything.
//
// usage: node attack.mjs CHROMIUM PAGE TARGET [UI]

import { chromium } from "playwright-core";

const [executablePath, page_, target, uiJSON] = process.argv.slice(2);
const ui = uiJSON ? JSON.parse(uiJSON) : undefined; // the page of the workbench at TARGET: code, token and pid
const within = 15_000;

const browser = await chromium.launch({
  executablePath,
  args: [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP *.test 127.0.0.1",
    // Newer browsers keep pages from this machine by themselves. Not all are new.
    "--disable-features=LocalNetworkAccessChecks,PrivateNetworkAccessRespectPreflightResults",
  ],
});

// What runs in the page. Each function returns what the page can see of the answer.
const inPage = {
  fetch: async ({ url, init }) => {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(20_000) });
    if (response.type === "opaque") return { outcome: "opaque" };
    // A stream of events has no end, and its beginning is enough.
    const { value } = response.body ? await response.body.getReader().read() : {};
    return { outcome: "read", status: response.status, text: value ? new TextDecoder().decode(value) : "" };
  },
  beacon: async ({ url, body }) => {
    navigator.sendBeacon(url, new Blob([body], { type: "text/plain" }));
    await fetch(url, { mode: "no-cors", method: "HEAD" }).catch(() => {}); // sent after it, on the same way
    return { outcome: "opaque" };
  },
  events: ({ url }) => new Promise((resolve) => {
    const source = new EventSource(url);
    source.onopen = () => { source.close(); resolve({ outcome: "read", text: "open" }); };
    source.onerror = () => { source.close(); resolve({ outcome: "failed" }); };
  }),
  socket: ({ url }) => new Promise((resolve) => {
    const socket = new WebSocket(url.replace(/^http/, "ws"));
    socket.onopen = () => { socket.close(); resolve({ outcome: "read", text: "open" }); };
    socket.onerror = () => resolve({ outcome: "failed" });
  }),
  form: ({ url, body }) => new Promise((resolve) => {
    // The name and value of a field become "name=value", which can be made JSON.
    const [name, value] = [body.slice(0, -2) + ',"x":"', '"}'];
    const frame = Object.assign(document.createElement("iframe"), { name: "answer" });
    const form = Object.assign(document.createElement("form"), { action: url, method: "POST", enctype: "text/plain", target: "answer" });
    form.append(Object.assign(document.createElement("input"), { name, value }));
    document.body.append(frame, form);
    frame.onload = () => {
      let text;
      try {
        text = frame.contentDocument?.body?.innerText;
      } catch { /* of another origin: cannot be read */ }
      if (frame.contentWindow.location.href === "about:blank") return; // not yet
      resolve(text === undefined ? { outcome: "opaque" } : { outcome: "read", text });
    };
    form.submit();
    setTimeout(() => resolve({ outcome: "opaque" }), 1500); // an answer that is no page loads nothing
  }),
  frame: ({ url }) => new Promise((resolve) => {
    const frame = Object.assign(document.createElement("iframe"), { src: url });
    frame.onload = () => {
      let text = "";
      try {
        text = frame.contentDocument?.body?.innerText ?? "";
      } catch { /* of another origin: cannot be read */ }
      resolve({ outcome: text ? "read" : "opaque", text });
    };
    document.body.append(frame);
  }),
  script: ({ url }) => new Promise((resolve) => {
    const script = Object.assign(document.createElement("script"), { src: url });
    script.onload = () => resolve({ outcome: "opaque" });
    script.onerror = () => resolve({ outcome: "failed" });
    document.body.append(script);
  }),
};

// In a page that is allowed to read location of a foreign frame nothing would be left to
// test; the browser throws, which counts as unreadable.
const run = async (page, name, kind, argument) => {
  let result;
  try {
    result = await page.evaluate(inPage[kind], argument);
  } catch (error) {
    result = { outcome: "failed", text: String(error).split("\n")[0] };
  }
  console.log(JSON.stringify({ attack: name, ...result }));
};

const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
const initialize = JSON.stringify({
  jsonrpc: "2.0", id: 1, method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "page", version: "1" } },
});
const open = JSON.stringify({
  jsonrpc: "2.0", id: 1, method: "tools/call",
  params: { name: "open_toolbox", arguments: { toolbox: "dev" }, _meta: meta },
});
const json = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
const modern = { ...json, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "open_toolbox" };
const plain = { "Content-Type": "text/plain" };

// attacks of a page whose origin is another one.
async function foreign(page, url, label) {
  const cases = {
    "json": { headers: json, body: initialize },
    "modern json": { headers: modern, body: open },
    "text with cors": { headers: plain, body: initialize },
    "no-cors": { mode: "no-cors", headers: plain, body: initialize },
    "no-cors modern": { mode: "no-cors", headers: plain, body: open },
    "no-cors with credentials": { mode: "no-cors", credentials: "include", headers: plain, body: open },
  };
  for (const [name, init] of Object.entries(cases)) {
    await run(page, `${label} fetch ${name}`, "fetch", { url, init: { method: "POST", ...init } });
  }
  await run(page, `${label} get`, "fetch", { url, init: { headers: { Accept: "text/event-stream" } } });
  await run(page, `${label} delete`, "fetch", { url, init: { method: "DELETE" } });
  await run(page, `${label} beacon`, "beacon", { url, body: open });
  await run(page, `${label} events`, "events", { url });
  await run(page, `${label} socket`, "socket", { url });
  await run(page, `${label} script`, "script", { url });
  await run(page, `${label} form`, "form", { url, body: open });
}

// attacks on the page of the workbench. CODE stands for the code of its link: even a page that had one gets nothing.
async function ofPage(page, site, label) {
  const codes = JSON.stringify({ code: ui.code });
  await run(page, `${label} ui index`, "fetch", { url: site + "/ui/", init: {} });
  await run(page, `${label} ui module`, "script", { url: site + "/ui/assets/main.js" });
  await run(page, `${label} ui session`, "fetch", { url: site + "/ui/api/session", init: { method: "POST", headers: json, body: codes } });
  await run(page, `${label} ui session as text`, "fetch", { url: site + "/ui/api/session", init: { method: "POST", mode: "no-cors", headers: plain, body: codes } });
  await run(page, `${label} ui session by form`, "form", { url: site + "/ui/api/session", body: codes });
  for (const [name, init] of Object.entries({ "": {}, " with token": { headers: { Authorization: `Bearer ${ui.token}` } }, " with credentials": { mode: "no-cors", credentials: "include" } })) {
    await run(page, `${label} ui watch${name}`, "fetch", { url: site + "/ui/api/watch", init });
    await run(page, `${label} ui call${name}`, "fetch", { url: `${site}/ui/api/w/${ui.pid}/call?toolbox=dev&server=fake&tool=x`, init: { method: "POST", body: "{}", ...init } });
    await run(page, `${label} ui restart${name}`, "fetch", { url: `${site}/ui/api/w/${ui.pid}/restart?toolbox=dev&server=fake`, init: { method: "POST", ...init } });
  }
  await run(page, `${label} ui frame`, "frame", { url: site + "/ui/" });
}

// attacks of a page whose name now leads to this machine: to the browser it is the
// server's own page.
async function rebound(page, origin) {
  await page.route(origin + "/", (route) => route.fulfill({ contentType: "text/html", body: "<p>hello</p>" }));
  await page.goto(origin + "/");
  const url = origin + new URL(target).pathname;
  await run(page, "rebound fetch json", "fetch", { url, init: { method: "POST", headers: json, body: initialize } });
  await run(page, "rebound fetch modern json", "fetch", { url, init: { method: "POST", headers: modern, body: open } });
  await run(page, "rebound get", "fetch", { url, init: { headers: { Accept: "text/event-stream" } } });
  await run(page, "rebound delete", "fetch", { url, init: { method: "DELETE" } });
  await run(page, "rebound events", "events", { url });
  await run(page, "rebound socket", "socket", { url });
  if (ui) await ofPage(page, origin, "rebound");
}

const watchdog = setTimeout(() => {
  console.error("the browser takes too long");
  process.exit(1);
}, 170_000);
try {
  const context = await browser.newContext();
  context.setDefaultTimeout(within);
  const page = await context.newPage();
  await page.goto(page_);
  await foreign(page, target, "address");
  if (ui) await ofPage(page, new URL(target).origin, "address");
  await page.goto(page_);
  await foreign(page, target.replace("127.0.0.1", "localhost"), "localhost");
  const nowhere = await context.newPage();
  await nowhere.goto("data:text/html,<p>an origin that is null</p>");
  await foreign(nowhere, target, "null origin");
  if (ui) await ofPage(nowhere, new URL(target).origin, "null origin");
  const { port } = new URL(target);
  await rebound(await context.newPage(), `http://rebind.test:${port}`);
  console.log(JSON.stringify({ attack: "end" }));
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  clearTimeout(watchdog);
  await browser.close();
}
