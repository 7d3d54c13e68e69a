// @ts-check
// The state of all workbenches. Lines of the watch change plain objects at once; signals, and with them the page, follow
// at most ten times a second, and not at all while the tab is hidden, because the browser then draws no frames.
import { batch, computed, signal } from './lib.js';
import { PerSecond } from './persecond.js';

/** @typedef {import('./types.js').WatchLine} WatchLine */
/** @typedef {import('./types.js').ServerRow} ServerRow */

const maxCalls = 2000;
const renderPause = 100; // ms
const rateSeconds = 60; // of the sparkline of a server
export const chartSeconds = 300;
const noCounts = { calls: 0, errors: 0, p50Seconds: 0, p95Seconds: 0, totalCalls: 0, totalErrors: 0, totalSeconds: 0 };

/** "connecting", "live", "reconnecting" or "stopped" */
export const connection = signal('connecting');
/** Why the server refuses the watch, such as too many tabs. @type {import('@preact/signals').Signal<import('./api.js').ApiError|null>} */
export const refusal = signal(null);
/** @type {import('@preact/signals').Signal<(import('./types.js').Workbench & {changes: number})[]>} */
export const workbenches = signal([]);
/** @type {import('@preact/signals').Signal<ServerRow[]>} all servers; the rows are changed in place, the list is new each time */
export const servers = signal([]);
/** Calls that ended, the newest first, and how many were left out. @type {import('@preact/signals').Signal<{list: any[], skipped: number, total: number}>} */
export const calls = signal({ list: [], skipped: 0, total: 0 });
/** @type {import('@preact/signals').Signal<{list: any[], more: number}>} */
export const running = signal({ list: [], more: 0 });
/** @type {import('@preact/signals').Signal<any[]>} */
export const questions = signal([]);
/** @type {import('@preact/signals').Signal<any[]>} */
export const clients = signal([]);
/** Recordings that run. @type {import('@preact/signals').Signal<any[]>} */
export const recordings = signal([]);
/** How many changed definitions wait, in all workbenches. */
export const changes = computed(() => workbenches.value.reduce((sum, one) => sum + one.changes, 0));
/** Whether all workbenches that run are known. */
export const isComplete = signal(false);
/** The time now in ms, once a second while the page is visible. */
export const now = signal(Date.now());
/** Calls and errors a second of all workbenches. */
export const rates = { calls: new PerSecond(chartSeconds), errors: new PerSecond(chartSeconds) };

/** What is known of one workbench. */
class Bench {
  /** @param {number} pid */
  constructor(pid) {
    this.pid = pid;
    /** @type {any} */
    this.state = { pid };
    /** @type {Map<string, ServerRow>} */
    this.servers = new Map();
    /** @type {any[]} */
    this.clients = [];
    /** @type {any[]} */
    this.questions = [];
    /** @type {any[]} */
    this.recordings = [];
    /** @type {{calls: any[], more?: number}} */
    this.running = { calls: [] };
    this.changes = 0;
    this.lastCall = 0; // the number of the newest call in the ring
    /** @type {any[]|null} calls that came while the former ones are read */
    this.waiting = null;
  }
}

/** @type {Map<number, Bench>} */
const benches = new Map();
/** @type {any[]} the oldest first */
let ring = [];
let skipped = 0, total = 0;

/** @type {Set<string>} */
const changed = new Set();
let isDue = false, renderedAt = 0;

/** @param {string[]} topics */
function touch(...topics) {
  for (const topic of topics) changed.add(topic);
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(publish);
}

/** @param {number} time */
function publish(time) {
  if (time - renderedAt < renderPause) {
    requestAnimationFrame(publish);
    return;
  }
  isDue = false;
  renderedAt = time;
  const all = [...benches.values()];
  /** @param {string} topic @param {() => void} update */
  const when = (topic, update) => { if (changed.has(topic)) update(); };
  batch(() => {
    when('state', () => { workbenches.value = all.map((one) => ({ ...one.state, changes: one.changes })); });
    when('servers', () => { servers.value = all.flatMap((one) => [...one.servers.values()]); });
    when('clients', () => { clients.value = all.flatMap((one) => one.clients); });
    when('questions', () => { questions.value = all.flatMap((one) => one.questions); });
    when('recordings', () => { recordings.value = all.flatMap((one) => one.recordings); });
    when('calls', () => { calls.value = { list: ring.slice(-maxCalls).reverse(), skipped, total }; });
    when('running', () => {
      running.value = { list: all.flatMap((one) => one.running.calls), more: all.reduce((sum, one) => sum + (one.running.more ?? 0), 0) };
    });
  });
  changed.clear();
}

/** Reads the calls of a workbench after a number; set by the watch. @type {(pid: number, after: number) => Promise<any[]>} */
let readHistory = async () => [];
/** @param {typeof readHistory} read */
export function useHistory(read) { readHistory = read; }

/** @param {number} pid */
function forget(pid) {
  benches.delete(pid);
  touch('state', 'servers', 'clients', 'questions', 'running', 'recordings');
}

/** Applies a line of the watch. @param {WatchLine} line */
export function apply({ pid, event, gone, pids }) {
  if (pids) {
    for (const known of benches.keys()) if (!pids.includes(known)) forget(known);
    isComplete.value = true;
  }
  if (pid === undefined) return; // only keeps the connection alive
  if (gone) {
    forget(pid);
    return;
  }
  if (!event) return;
  let bench = benches.get(pid);
  if (!bench) benches.set(pid, bench = new Bench(pid));
  if (event.state) applyState(bench, event.state, event.servers);
  else if (event.servers) applyServers(bench, event.servers);
  if (event.removed) {
    for (const key of event.removed) bench.servers.delete(key);
    touch('servers');
  }
  if (event.counters) applyCounters(bench, event.counters);
  if (event.calls) applyCalls(bench, event.calls);
  if (event.running) {
    bench.running = { ...event.running, calls: (event.running.calls ?? []).map((one) => ({ ...one, workbench: pid })) };
    touch('running');
  }
  applyLists(bench, event);
}

/** @param {Bench} bench @param {import('./types.js').WatchEvent} event */
function applyLists(bench, event) {
  /** @param {any[]} list */
  const own = (list) => list.map((one) => ({ ...one, workbench: bench.pid }));
  if (event.questions) { bench.questions = own(event.questions); touch('questions'); }
  if (event.clients) { bench.clients = own(event.clients); touch('clients'); }
  if (event.recordings) { bench.recordings = own(event.recordings); touch('recordings'); }
  if (event.changes !== undefined) { bench.changes = event.changes; touch('state'); }
}

/** @param {Bench} bench @param {import('./types.js').Workbench} state @param {import('./types.js').Server[]} [all] its servers */
function applyState(bench, state, all) {
  const { servers: inside, clients: connected, activity, ...rest } = state;
  bench.state = rest;
  const list = all ?? inside, former = bench.servers;
  if (list) {
    bench.servers = new Map();
    applyServers(bench, list, former);
  }
  for (const counted of activity ?? []) {
    const row = bench.servers.get(`${counted.toolbox}/${counted.server}`);
    if (row) row.counts = counted;
  }
  if (connected) applyLists(bench, { clients: connected });
  touch('state', 'servers');
  void loadHistory(bench);
}

/** @param {Bench} bench @param {import('./types.js').Server[]} list @param {Map<string, ServerRow>} [former] rows to go on with */
function applyServers(bench, list, former = bench.servers) {
  const time = Date.now();
  for (const server of list) {
    const known = former.get(server.key) ?? bench.servers.get(server.key);
    bench.servers.set(server.key, {
      ...server, id: `${bench.pid}/${server.key}`, workbench: bench.pid,
      counts: known?.counts ?? noCounts, rate: known?.rate ?? new PerSecond(rateSeconds),
      since: server.uptimeSeconds ? time - server.uptimeSeconds * 1000 : 0,
      tryAt: server.nextTrySeconds ? time + server.nextTrySeconds * 1000 : 0,
    });
  }
  touch('servers');
}

/** @param {Bench} bench @param {NonNullable<import('./types.js').WatchEvent['counters']>} counters */
function applyCounters(bench, counters) {
  const second = Math.floor(Date.now() / 1000);
  bench.state = { ...bench.state, memoryBytes: counters.memoryBytes };
  for (const { key, memoryBytes, cpuPercent, ...counts } of counters.servers ?? []) {
    const row = bench.servers.get(key);
    if (!row) continue;
    if (row.counts !== noCounts) {
      const more = Math.max(counts.totalCalls - row.counts.totalCalls, 0);
      row.rate.add(second, more);
      rates.calls.add(second, more);
      rates.errors.add(second, Math.max(counts.totalErrors - row.counts.totalErrors, 0));
    } else {
      row.rate.add(second, 0);
    }
    row.counts = counts;
    row.memoryBytes = memoryBytes;
    row.cpuPercent = cpuPercent;
  }
  touch('state', 'servers');
}

/** @param {Bench} bench @param {{calls: any[], skipped?: number}} more */
function applyCalls(bench, more) {
  skipped += more.skipped ?? 0;
  total += more.skipped ?? 0;
  if (bench.waiting) bench.waiting.push(...more.calls.slice(-maxCalls));
  else keep(bench, more.calls);
  touch('calls');
}

/** Puts calls into the ring that are not there yet. @param {Bench} bench @param {any[]} list */
function keep(bench, list) {
  for (const call of list) {
    if (call.seq <= bench.lastCall) continue;
    bench.lastCall = call.seq;
    ring.push({ ...call, workbench: bench.pid, id: `${bench.pid}/${call.seq}` });
    total++;
  }
  if (ring.length > 2 * maxCalls) ring = ring.slice(-maxCalls);
}

/** Reads what happened before the watch began, or while it was interrupted. @param {Bench} bench */
async function loadHistory(bench) {
  if (bench.waiting) return;
  bench.waiting = [];
  const isFirst = bench.lastCall === 0;
  let former = [];
  try {
    former = await readHistory(bench.pid, bench.lastCall);
  } catch { /* without it the list begins now */ }
  const waited = bench.waiting;
  bench.waiting = null;
  const before = ring.length;
  keep(bench, former);
  if (isFirst) seedRates(bench, former);
  keep(bench, waited);
  if (before > 0) ring.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  touch('calls', 'servers');
}

/** Lets the charts begin with the calls that are remembered. @param {Bench} bench @param {any[]} former */
function seedRates(bench, former) {
  const watched = Math.floor(Date.now() / 1000);
  for (const call of former) {
    if (call.method !== 'tools/call') continue; // as the counters
    const second = Math.floor(Date.parse(call.time) / 1000 + call.took_seconds);
    if (second >= watched) continue;
    bench.servers.get(`${call.toolbox}/${call.server}`)?.rate.add(second, 1);
    rates.calls.add(second, 1);
    if (isError(call)) rates.errors.add(second, 1);
  }
}

/** What people know a workbench by. @param {{config?: string}} bench */
export const benchName = (bench) => (bench.config ? bench.config.split(/[/\\]/).slice(-2).join('/') : 'built-in configuration');

/** The name of a workbench, with what tells it from others of the same name: its folder, or what it serves. @param {number} pid */
export function benchLabel(pid) {
  const bench = workbenches.value.find((one) => one.pid === pid);
  if (!bench) return '';
  const name = benchName(bench), same = workbenches.value.filter((one) => one.pid !== pid && benchName(one) === name);
  if (!same.length) return name;
  const isApart = bench.folder && same.every((one) => one.folder !== bench.folder);
  return `${name} (${isApart ? bench.folder.split(/[/\\]/).filter(Boolean).at(-1) ?? bench.folder : bench.serving})`;
}

/** The state of a server: one that is idle since its start failed is not just idle. @param {{state: string, lastError?: string}} row */
export const stateOf = (row) => (row.state === 'idle' && row.lastError ? 'failed' : row.state);

/** Whether a call ended with an error. @param {{outcome: string}} call */
export const isError = (call) => !['ok', 'cancelled', 'input required'].includes(call.outcome);

/** The row of a server. @param {number} pid @param {string} toolbox @param {string} server */
export const serverRow = (pid, toolbox, server) => benches.get(pid)?.servers.get(`${toolbox}/${server}`);

export function startClock() {
  setInterval(() => { if (!document.hidden) now.value = Date.now(); }, 1000);
}
