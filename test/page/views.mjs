// Every view and action of the page, in one session: node views.mjs BENCH.json
import { readFileSync, writeFileSync } from "node:fs";
import { assert, bench, check, client, equal, open, run, serve, text, ui } from "./driver.mjs";

const menu = (page, name) => page.getByRole("navigation", { name: "Views" }).getByRole("link", { name });
const go = async (page, name) => {
  await menu(page, name).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
};
const row = (page, text) => page.getByRole("row").filter({ hasText: text }).first();
const details = (page) => page.locator("section.detail");

const viewNames = ["Servers", "Calls", "Tools", "Toolboxes", "Changes", "Questions", "Clients", "Logins", "Recordings"];
const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

/** audit has axe-core look at every view by all its rules, with something open where there is something. */
async function audit(page) {
  const found = [];
  for (const [colorScheme, width] of [["light", 1280], ["dark", 1280], ["light", 360], ["dark", 360]]) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme });
    for (const name of viewNames) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await go(page, name);
      const rows = page.getByRole("grid").getByRole("row");
      if (await rows.count() > 1) await rows.nth(1).click();
      await page.setViewportSize({ width, height: 800 });
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run());
      for (const one of violations) found.push(`${name}, ${colorScheme}, ${width} px: ${one.id}: ${one.nodes.map((node) => node.target + " " + node.failureSummary).join("; ")}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (wide > 0) found.push(`${name}, ${width} px: ${wide} px too wide`);
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: "light" });
  assert(found.length === 0, found.join("\n"));
}

/** picture writes a screenshot of what is shown, light and dark, if they are wanted. */
async function picture(page, name) {
  if (!bench.screenshots) return;
  for (const notice of await page.getByRole("button", { name: "Close the notice" }).all()) await notice.click();
  for (const colorScheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: `${bench.screenshots}/${name}-${colorScheme}.png` });
  }
}

/** screenshots has those of the views that were not taken on the way. */
async function screenshots(page) {
  if (!bench.screenshots) return;
  const shown = { Servers: "helpers/everything", Calls: "echo", Clients: "ada", Tools: "get-sum", Toolboxes: "", Logins: "cloud/tickets", Recordings: "helpers/everything" };
  for (const [name, open] of Object.entries(shown)) {
    await go(page, name);
    if (open) await row(page, open).click();
    await page.locator(".loading").first().waitFor({ state: "detached" });
    if (name === "Recordings") await page.getByRole("slider").first().waitFor(); // drawn after it was loaded
    await picture(page, name.toLowerCase());
  }
}

await run(async () => {
  const ada = await client("ada", bench.config);
  for (const toolbox of ["files", "helpers", "shop"]) await ada.open(toolbox);
  const page_ = await ui();
  const page = await open(page_.first);

  await check("the link opens the page once", async () => {
    await menu(page, "Servers").waitFor();
    assert(!page.url().includes("once="), `the code is still in the address: ${page.url()}`);
    const again = await open(page_.first);
    await again.getByText(/was used already|used before|cannot be used/i).first().waitFor();
    equal(await again.getByRole("navigation").count(), 0, "the menu of a page without a session");
    await again.context().close();
    const other = await open(await page_.link());
    await menu(other, "Servers").waitFor();
    await other.context().close();
  });

  await check("servers: state, steps of the start, processes, stderr", async () => {
    await go(page, "Servers");
    await row(page, "files/filesystem").getByText("ready").waitFor();
    await row(page, "shop/broken").getByText("failed").waitFor();
    await row(page, "notes/memory").getByText("idle").waitFor();
    await row(page, "helpers/everything").click();
    const open = details(page);
    await open.getByRole("tab", { name: "Start" }).click();
    for (const step of ["command", "start", "handshake", "tools"]) await open.getByText(new RegExp(`^${step} `)).first().waitFor();
    await open.getByRole("tab", { name: "Processes" }).click();
    await open.getByRole("row").filter({ hasText: "node" }).getByText(/MB/).first().waitFor();
    await open.getByRole("tab", { name: "Output" }).click();
    await open.getByText(/Starting default \(STDIO\) server/).first().waitFor(); // what the server writes to stderr
    await open.getByText("The same in a terminal").click();
    await open.getByText("mcp-workbench restart helpers/everything").first().waitFor();
  });

  await check("servers: restart", async () => {
    const before = await row(page, "helpers/everything").innerText();
    await details(page).getByRole("button", { name: "Restart" }).click();
    const dialog = page.getByRole("dialog");
    if (await dialog.isVisible()) await dialog.getByRole("button", { name: "Restart" }).click();
    await page.getByText("helpers/everything is started again").first().waitFor();
    assert(before.includes("ready"), before);
    await row(page, "helpers/everything").getByText("ready").waitFor();
    await page.keyboard.press("Escape");
  });

  await check("servers: filter, keys", async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("orders");
    await row(page, "shop/orders").waitFor();
    await row(page, "files/filesystem").waitFor({ state: "detached" });
    equal(await page.getByRole("grid").getByRole("row").count(), 2, "the number of rows, with the header,");
    await page.keyboard.press("Enter");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await details(page).getByRole("heading", { name: "shop/orders" }).waitFor();
    await page.keyboard.press("Escape");
    await details(page).waitFor({ state: "detached" });
    await page.keyboard.press("/");
    await page.keyboard.press("Escape");
    for (const [keys, title] of [["g c", "Calls"], ["g t", "Tools"], ["g b", "Toolboxes"], ["g d", "Changes"], ["g q", "Questions"], ["g l", "Clients"], ["g o", "Logins"], ["g r", "Recordings"], ["g s", "Servers"]]) {
      await page.locator("body").press("Escape");
      for (const key of keys.split(" ")) await page.keyboard.press(key);
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
    }
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("Ctrl").first().waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("recordings");
    await page.getByRole("dialog").getByText("Recordings").first().waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Recordings" }).waitFor();
  });

  await check("calls: live, with where the time went", async () => {
    await go(page, "Calls");
    await ada.use("helpers", "everything", "echo", { message: "canary-value" });
    const echo = row(page, "echo");
    await echo.getByText("ok", { exact: true }).waitFor();
    await echo.click();
    await details(page).getByText("message: string").first().waitFor();
    for (const part of ["server", "workbench"]) await details(page).getByText(part, { exact: false }).first().waitFor();
    equal((await page.content()).includes("canary-value"), false, "that a value is shown");
    await page.keyboard.press("Escape");
    await ada.use("helpers", "everything", "get-sum", { a: "no number", b: 1 });
    await row(page, "get-sum").getByText(/error/i).first().waitFor();
    await go(page, "Servers");
    await row(page, "helpers/everything").getByRole("img", { name: /at most [1-9]\d* in the last minute/ }).waitFor();
    await go(page, "Calls");
  });

  await check("calls: cancel one that runs", async () => {
    const ended = ada.use("shop", "orders", "export", {});
    const running = row(page, "export");
    await running.getByRole("button", { name: /Cancel/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/mcp-workbench cancel/).waitFor();
    for (const said of ["shop/orders", "ada", "is not undone"]) await dialog.getByText(said).waitFor();
    await dialog.getByRole("button", { name: "Cancel the call" }).click();
    const answer = await ended;
    assert(answer.isError && /person cancelled/i.test(text(answer)), `the client got ${JSON.stringify(answer)}`);
    await row(page, "export").getByText("cancelled", { exact: true }).waitFor();
  });

  await check("clients", async () => {
    await go(page, "Clients");
    await row(page, "ada").click();
    await details(page).getByText("files", { exact: true }).first().waitFor();
    await page.keyboard.press("Escape");
  });

  await check("tools: the search of find_tools, with its reasons", async () => {
    await go(page, "Tools");
    await row(page, "read_text_file").waitFor();
    await page.getByRole("searchbox").fill("add two numbers");
    const best = page.getByRole("grid").getByRole("row").nth(1);
    await best.getByText("get-sum").waitFor();
    const found = await ada.call("find_tools", { query: "add two numbers" });
    assert(text(found).indexOf('"name":"get-sum"') > 0 && text(found).split('"name":"')[1].startsWith("get-sum"), `find_tools has another order: ${text(found).slice(0, 300)}`);
    await best.click();
    await details(page).getByRole("tab", { name: "Why found" }).click();
    await details(page).getByRole("row").filter({ hasText: "numbers" }).first().waitFor();
    await details(page).getByRole("tab", { name: "Definition" }).click();
    await details(page).getByText("inputSchema").first().waitFor();
  });

  const openTool = async (words, name, ofWorkbench) => {
    await go(page, "Tools");
    if (ofWorkbench) await page.getByRole("combobox", { name: "Workbench" }).selectOption(await page.getByRole("option", { name: ofWorkbench }).getAttribute("value"));
    await page.locator("input[type=search]:placeholder-shown").waitFor(); // the menu empties the search
    await page.getByRole("searchbox").fill(words);
    await page.getByRole("row").filter({ has: page.getByRole("gridcell", { name, exact: true }) }).first().click();
    await details(page).getByRole("heading", { name, exact: true }).waitFor();
    await details(page).getByRole("tab", { name: "Try" }).click();
    return details(page);
  };

  await check("tools: try one that reads, with the form and the JSON beside it", async () => {
    const checked = page.waitForResponse(/\/api\/check/);
    const open = await openTool("read_text_file", "read_text_file");
    await (await checked).finished();
    equal(await open.getByText("is missing").count(), 0, "what is missing before anything was typed");
    await open.getByLabel("head", { exact: true }).fill("3");
    await open.getByText("Parameter 'path' is missing").waitFor();
    await open.getByLabel("head", { exact: true }).fill("");
    await open.getByLabel("path", { exact: true }).fill(`${bench.folder}/files/hello.txt`);
    assert((await open.getByLabel("As JSON").inputValue()).includes("hello.txt"), "the JSON does not follow the form");
    await open.getByText(`mcp-workbench call files/filesystem/read_text_file path=${bench.folder}/files/hello.txt`).waitFor();
    await open.getByRole("button", { name: "Call", exact: true }).click();
    await open.getByText("Hello from a file.").first().waitFor();
    await open.getByLabel("As JSON").fill('{"path": 7}');
    await open.getByText("Parameter 'path' takes a text, not a number").waitFor(); // what is wrong with it
  });

  await check("tools: a form with nested values, alternatives, enums and files; it asks first", async () => {
    const open = await openTool("place an order", "place");
    await open.getByRole("button", { name: "Add a value" }).click();
    await open.getByLabel("sku").fill("mug");
    await open.getByLabel("One of").selectOption({ label: "Invoice" });
    await open.getByLabel("email").fill("ada@example.com");
    await open.getByLabel("speed").selectOption("fast");
    await open.getByLabel("gift").selectOption("true");
    await open.getByLabel("photo").setInputFiles({ name: "photo.png", mimeType: "image/png", buffer: Buffer.from([1, 2, 3]) });
    const wanted = { items: [{ sku: "mug" }], pay: { email: "ada@example.com" }, speed: "fast", gift: true, photo: "AQID" };
    await open.getByText("4 characters of base64").waitFor();
    equal(JSON.parse(await open.getByLabel("As JSON").inputValue()), wanted, "the JSON of the form");
    await open.getByRole("button", { name: "Call…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("mcp-workbench call shop/orders/place").waitFor();
    await dialog.getByRole("button", { name: "Call", exact: true }).click();
    await open.getByText('"sku":"mug"').first().waitFor(); // the server answers with the arguments
  });

  await check("tools: progress, and cancelling a call that is tried", async () => {
    const open = await openTool("exports all orders", "export");
    await open.getByRole("button", { name: "Call…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Call", exact: true }).click();
    await open.getByText("1 of 3").waitFor();
    await open.getByRole("button", { name: "Cancel the call" }).click();
    await open.getByText("cancelled", { exact: true }).waitFor();
  });

  await check("tools: a hostile server's tool, called", async () => {
    const open = await openTool("script window broken", bench.hostileTool);
    await open.getByRole("tab", { name: "Definition" }).click();
    await open.getByText("onerror=").first().waitFor();
    await open.getByRole("tab", { name: "Try" }).click();
    await open.getByRole("button", { name: "Call…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Call", exact: true }).click();
    await open.getByText("javascript:window.broken=1").first().waitFor();
    equal(await open.locator("a[href^=javascript], img[src=x], script").count(), 0, "what was made of its texts");
    await go(page, "Servers");
    await row(page, "shop/hostile").click();
    await details(page).getByText("<script>window.broken=1</script>").first().waitFor(); // its stderr
    await page.keyboard.press("Escape");
    await go(page, "Calls");
    await row(page, "<img src=x").waitFor();
    equal(await page.evaluate(() => window.broken), undefined, "what the hostile server did");
  });

  await check("toolboxes: what they cost, and what each client was shown", async () => {
    await go(page, "Toolboxes");
    await page.getByText("Small helpers, and all that MCP can do").first().waitFor();
    const client_ = page.getByRole("row").filter({ hasText: "ada" }).first();
    await client_.getByText(/files/).waitFor();
    assert(/\d/.test(await client_.innerText()), "no number of tokens");
  });

  await check("changes: a diff that draws what is invisible, and accepting it", async () => {
    const drifting = ada.use("shop", "drifting", "convert", { amount: 1 });
    await new Promise((resolve) => setImmediate(resolve));
    writeFileSync(bench.change, "");
    await drifting;
    await menu(page, "Changes").getByText("1").waitFor();
    await go(page, "Changes");
    await row(page, "convert").click();
    const open = details(page);
    await open.getByText("⟨U+200B⟩").first().waitFor();
    await open.getByText("⟨U+202E⟩").first().waitFor();
    await open.getByText(/audit address/).first().waitFor();
    await open.getByText("mcp-workbench changes --accept shop/drifting/convert").first().waitFor();
    await picture(page, "changes");
    await open.getByRole("button", { name: "Accept…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Accept" }).click();
    await page.getByText("Nothing has changed").waitFor();
    const again = await ada.open("shop");
    assert(!JSON.stringify(again).includes("Definition of tool 'convert'"), "the client is still warned");
  });

  await check("questions: approval of a call, where the policy names the page", async () => {
    const refund = ada.use("shop", "orders", "refund", { order: 1001, reason: "<b>broken</b>" });
    await menu(page, "Questions").getByText("1").waitFor();
    await go(page, "Questions");
    const card = page.getByRole("region").filter({ hasText: "shop/orders/refund" });
    await card.getByText("money leaves the shop").waitFor();
    await card.getByText("<b>broken</b>").waitFor();
    await card.getByText("the policy does not name the terminal").waitFor();
    await picture(page, "questions");
    await card.getByRole("button", { name: /once/i }).click();
    const answer = await refund;
    assert(!answer.isError && text(answer).includes("1001"), JSON.stringify(answer));
    const second = ada.use("shop", "orders", "refund", { order: 1002 });
    await page.getByRole("region").filter({ hasText: "1002" }).getByRole("button", { name: "Refuse" }).click();
    const refused = await second;
    assert(refused.isError && /a person said no/.test(text(refused)), JSON.stringify(refused));
  });

  await check("questions: one of a server, for a client that cannot be asked", async () => {
    const asked = ada.use("shop", "orders", "ask_size");
    const card = page.getByRole("region").filter({ hasText: "Which size shall be reserved?" });
    await card.getByLabel("Size").selectOption("M");
    await card.getByText("Default: No").waitFor();
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 });
      const over = await card.locator("dt").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
      equal(over, [], `what reaches into the field beside it at ${width} px`);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    const [sent] = await Promise.all([page.waitForRequest(/\/answer\?/), card.getByRole("button", { name: /send|accept|answer/i }).click()]);
    equal(sent.postDataJSON(), { action: "accept", content: { size: "M" } }, "what was sent of fields that nobody touched");
    const answer = await asked;
    assert(!answer.isError, JSON.stringify(answer));
    await page.getByText("Nothing waits for you").waitFor();
  });

  await check("logins: a server that needs one", async () => {
    await ada.open("cloud").catch(() => {});
    await go(page, "Logins");
    await row(page, "cloud/tickets").getByText("login needed").waitFor();
    await row(page, "cloud/tickets").click();
    await details(page).getByRole("code").getByText("mcp-workbench login cloud/tickets").waitFor();
    await page.keyboard.press("Escape");
  });

  await check("recordings: record, scrub, try again, save as one file", async () => {
    await go(page, "Recordings");
    await page.getByRole("combobox", { name: /Record/ }).selectOption({ label: "helpers/everything" });
    await page.getByText("mcp-workbench record --running").first().waitFor();
    await page.getByRole("button", { name: "Record", exact: true }).click();
    await page.getByRole("button", { name: /Stop/ }).first().waitFor();
    await ada.use("helpers", "everything", "echo", { message: "recorded </script> message" });
    await page.getByRole("button", { name: /Stop/ }).first().click();
    await page.getByRole("grid").getByRole("row").filter({ hasText: "helpers/everything" }).filter({ hasText: "stopped" }).first().click();
    await page.getByText("tools/call").first().waitFor();
    const slider = page.getByRole("slider").first();
    await slider.focus();
    await page.keyboard.press("End");
    await page.getByText("The recording ended: it was stopped").first().waitFor();
    await page.getByText("tools/call", { exact: true }).first().click();
    await page.getByText("recorded </script> message").first().waitFor();
    await page.getByRole("button", { name: /play/i }).first().click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as HTML" }).click()]);
    const saved = `${bench.folder}/recording.html`;
    await download.saveAs(saved);
    const file = await open(`file://${saved}`);
    await file.getByText("tools/call").first().waitFor();
    equal(file.problems, [], "problems of the saved file");
    await file.context().close();
    const [lines] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as JSONL" }).click()]);
    await lines.saveAs(`${bench.folder}/recording.jsonl`);
    assert(readFileSync(`${bench.folder}/recording.jsonl`, "utf8").includes('"method":"tools/call"'), "the saved lines have no call");
  });

  await check("recordings: try a call of one again", async () => {
    await page.getByText("tools/call").first().click();
    await page.getByRole("link", { name: "Try again…" }).first().click();
    await page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
    await details(page).getByLabel("As JSON").waitFor();
    assert((await details(page).getByLabel("As JSON").inputValue()).includes("recorded"), "the recorded arguments are not in the form");
  });

  await check("recordings: the newest stays first", async () => {
    await go(page, "Recordings");
    await page.getByRole("combobox", { name: /Record/ }).selectOption({ label: "shop/orders" });
    await page.getByRole("button", { name: "Record", exact: true }).click();
    await page.getByRole("button", { name: /Stop/ }).first().click();
    await row(page, "shop/orders").getByText("stopped").waitFor();
    const first = await page.getByRole("grid").getByRole("row").nth(1).textContent();
    assert(first.includes("shop/orders"), `the first is ${first}`);
  });

  await check("another workbench appears, and goes away", async () => {
    const bob = await client("bob", bench.config2);
    await go(page, "Servers");
    await row(page, "more/clock").waitFor();
    await go(page, "Clients");
    await row(page, "bob").waitFor();
    await bob.open("more");
    const open = await openTool("tells the time", "now", /other\.json/); // of a file that commands do not find by themselves
    await open.getByText(`mcp-workbench --config ${bench.config2} call more/clock/now`).waitFor();
    await go(page, "Clients");
    await bob.close();
    await row(page, "bob").waitFor({ state: "detached" });
  });

  await check("the page of 'serve --ui', for a token", async () => {
    const [base, token] = await serve(bench.config2);
    const other = await open(`${base}/ui/`);
    await other.getByLabel("Token").fill("wrong");
    await other.keyboard.press("Enter");
    await other.getByText("does not know this token").first().waitFor();
    await other.getByLabel("Token").fill(token);
    await other.keyboard.press("Enter");
    await row(other, "more/clock").waitFor();
    equal(await row(other, "helpers/everything").count(), 0, "the servers of other workbenches");
    equal([await other.context().cookies(), await other.evaluate(() => localStorage.length)], [[], 0], "what the browser keeps");
    await other.context().close();
  });

  await check("accessibility: axe finds nothing, in light and dark, wide and at 360 px", () => audit(page));
  await check("screenshots", () => screenshots(page));
  await check("no exception, and nothing that the policy refused", async () => equal(page.problems, [], "what went wrong on the page"));

  await check("the page ends with its program", async () => {
    const { code, signal } = await page_.end();
    equal([code, signal], [0, null], "how 'ui' ended");
    await page.getByText(/connection is lost|reconnecting/i).first().waitFor();
  });
});
