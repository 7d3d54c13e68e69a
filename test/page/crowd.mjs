// What the page costs a browser when a thousand servers change all the time: node crowd.mjs BENCH.json. Each scene prints
// its figures.
import { assert, bench, check, open, run } from "./driver.mjs";

const seconds = Number(bench.seconds || 2);

await run(async () => {
  const page = await open(bench.link);
  await page.getByRole("row").filter({ hasText: "server0000" }).first().waitFor();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable");
  const metrics = async () => Object.fromEntries((await devtools.send("Performance.getMetrics")).metrics.map((one) => [one.name, one.value]));
  const heap = async () => {
    await devtools.send("HeapProfiler.collectGarbage");
    return (await metrics()).JSHeapUsedSize;
  };
  // The browser's own clock: nothing here waits for the page.
  const later = () => page.evaluate((ms) => new Promise((done) => setTimeout(done, ms)), seconds * 1000);
  async function scene(name, search = 0) {
    const before = await metrics();
    await later();
    const after = await metrics();
    const facts = {
      scene: name, nodes: await page.locator("*").count(), scriptSeconds: after.ScriptDuration - before.ScriptDuration,
      taskSeconds: after.TaskDuration - before.TaskDuration, seconds: after.Timestamp - before.Timestamp, heapBytes: await heap(), searchSeconds: search,
    };
    console.log(JSON.stringify({ figures: facts }));
  }
  const timed = async (step) => {
    const start = performance.now();
    await step();
    return (performance.now() - start) / 1000;
  };

  await scene("servers");
  const grid = page.getByRole("grid").first();
  await check("the last of a thousand servers", async () => {
    await grid.focus();
    await page.keyboard.press("End");
    await page.getByRole("row").filter({ hasText: "server0999" }).first().waitFor();
  });
  const filtered = await timed(async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("server0500");
    await page.getByRole("row").filter({ hasText: "server0500" }).first().waitFor();
  });
  await scene("filter", filtered);
  await page.goto(page.url().replace(/#.*/, "#/calls"));
  await page.getByRole("row").filter({ hasText: "work" }).first().waitFor();
  await scene("calls");
  await page.goto(page.url().replace(/#.*/, "#/tools"));
  await page.getByRole("row").filter({ hasText: "tool00000" }).first().waitFor();
  await check("the last of ten thousand tools", async () => {
    await page.getByRole("grid").first().focus();
    await page.keyboard.press("End");
    await page.getByRole("row").filter({ hasText: "tool09999" }).first().waitFor();
  });
  await scene("tools");
  await check("no exception", async () => assert(page.problems.length === 0, page.problems.join("\n")));
});
