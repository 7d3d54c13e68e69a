// What the scripts of this folder share: a client from npm that starts a workbench, the page of 'mcp-workbench ui' in
// Chromium, and checks, each of which prints one JSON line for page_test.go.
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { chromium } from "playwright-core";

export const bench = JSON.parse(readFileSync(process.argv[2], "utf8"));
const within = 20_000; // bounds each wait; nothing waits that long unless something is wrong

// A call of a check that failed may end later, with its workbench.
process.on("unhandledRejection", (error) => console.error(`not waited for: ${error}`));

const pages = []; // that were opened; with PAGE_DEBUG=FOLDER, a failed check leaves pictures of them
const ends = []; // what ends what was started, the last first
let current = "the start", failed = 0;

/** check does one step, and says whether it went well. Later steps go on all the same. */
export async function check(name, step) {
  current = name;
  try {
    await step();
    console.log(JSON.stringify({ check: name, ok: true }));
  } catch (error) {
    failed++;
    for (const [n, page] of pages.entries()) {
      if (process.env.PAGE_DEBUG && !page.isClosed()) await page.screenshot({ path: `${process.env.PAGE_DEBUG}/${failed}-${n}.png` });
    }
    console.log(JSON.stringify({ check: name, ok: false, why: String(error.stack ?? error).slice(0, 4000) }));
  }
}

export function equal(got, want, what = "") {
  if (JSON.stringify(got) !== JSON.stringify(want)) throw new Error(`${what} is ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
}

export function assert(holds, what) {
  if (!holds) throw new Error(what);
}

/** client starts a workbench as MCP clients do. It cannot be asked anything. */
export async function client(name, config, args = []) {
  const connected = new Client({ name, version: "1.0.0" }, { capabilities: {} });
  const transport = new StdioClientTransport({ command: bench.binary, args: ["--config", config, ...args], env: bench.environment, cwd: bench.folder, stderr: "ignore" });
  ends.push(() => connected.close());
  await connected.connect(transport, { timeout: within });
  const call = (tool, args, options) => connected.callTool({ name: tool, arguments: args }, CallToolResultSchema, { timeout: 120_000, ...options });
  return {
    name, pid: transport.pid, call, close: () => connected.close(),
    open: (toolbox) => call("open_toolbox", { toolbox }),
    use: (toolbox, server, tool, args = {}, options) => call("use_tool", { tool: { toolbox, server, name: tool }, arguments: args }, options),
  };
}

export const text = (result) => result.content.map((block) => block.text).join(" ");

/** ui runs 'mcp-workbench ui'; link prints another link. */
export async function ui(args = []) {
  const child = spawn(bench.binary, ["ui", "--no-open", ...args], { env: bench.environment, cwd: bench.folder, stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })));
  const end = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGINT");
    return ended;
  };
  ends.push(end);
  const next = async () => (await lines.next()).value;
  return {
    first: await next(), end,
    link: () => { child.stdin.write("\n"); return next(); },
  };
}

/** serve runs 'mcp-workbench serve --ui'. It returns the address, and a token for the page. */
export async function serve(config) {
  const options = { env: bench.environment, cwd: bench.folder };
  const token = execFileSync(bench.binary, ["token", "add", "page", "--for", "page"], { ...options, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  const child = spawn(bench.binary, ["--config", config, "serve", "--ui", "--listen", "127.0.0.1:0"], { ...options, stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  ends.push(() => { child.kill("SIGINT"); return ended; });
  for await (const line of createInterface({ input: child.stderr })) {
    const [base] = /http:[^ ]*(?=\/ui\/)/.exec(line) ?? [];
    if (base) {
      child.stderr.resume();
      return [base, token];
    }
  }
  throw new Error("'serve --ui' ended");
}

let browser;
/** open opens a page of its own: with a link, and what else a browser context has. */
export async function open(link, options = {}) {
  if (!browser) {
    browser = await chromium.launch({
      executablePath: bench.chromium,
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
    });
    ends.push(() => browser.close());
  }
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(within);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]).catch(() => {});
  const page = await context.newPage();
  pages.push(page);
  page.problems = []; // of the page: exceptions, and what its policy refused
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error") page.problems.push(`${message.text()} ${message.location().url}`); });
  await page.goto(link);
  return page;
}

/** run runs the steps of a script, and ends what they started. */
export async function run(steps) {
  const watchdog = setTimeout(() => {
    console.error(`it takes too long, in: ${current}`);
    process.exit(1);
  }, 280_000);
  try {
    await steps();
    console.log(JSON.stringify({ check: "end", ok: failed === 0, why: `${failed} checks failed` }));
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  } finally {
    clearTimeout(watchdog);
    for (const end of ends.reverse()) await end();
  }
}
