// @ts-check
// Recordings of the messages between a workbench and one of its servers: making, looking at and saving them.
import { Bytes, Clock, Command, Elapsed, Empty, Icon, Loading, Path, Problem, Status, Table, act, commandLine, html, numberText, signal, useEffect, useLoad, useMemo, useRef, useState } from '../ui.js';
import { at, get, getBlob, getText, post } from '../api.js';
import { recordings, servers, workbenches } from '../store.js';
import { address, navigate } from '../router.js';
import { callOf, showRecording } from '../recording-view.js';

const spans = [['1', '1 minute'], ['5', '5 minutes'], ['15', '15 minutes'], ['60', '1 hour']];
const ends = /** @type {Record<string, string>} */ ({ time: 'complete', stopped: 'stopped', full: 'largest size', failed: 'not complete', shutdown: 'workbench ended' });

/** @param {any} row */
const keyOf = (row) => `${row.workbench}/${row.name}`;
/** @param {any} row */
const refOf = (row) => `${row.toolbox}/${row.server}`;

/** @param {{row: any}} props */
function State({ row }) {
  if (row.running) return html`<${Status} word="recording" tone="busy" icon="recordings">${row.waiting ? 'waiting' : 'recording'}, <${Elapsed} until=${row.until} /> left<//>`;
  const word = ends[row.ended] ?? 'cut off';
  return html`<${Status} word=${word} tone=${row.ended === 'failed' || !row.ended ? 'warn' : 'quiet'} icon=${row.ended === 'failed' || !row.ended ? 'warning' : 'ok'} />`;
}

/** @type {import('../ui/table.js').Column[]} */
const columns = [
  { id: 'server', title: 'Server', width: 'minmax(9rem, 2fr)', narrow: 'main', sort: refOf, cell: (row) => html`<${Path} of=${`${row.toolbox}/`} name=${row.server} />` },
  { id: 'at', title: 'Began', width: '8rem', narrow: 'sub', down: true, sort: (row) => row.at, cell: (row) => html`<${Clock} at=${row.at} day />` },
  { id: 'state', title: 'State', width: 'minmax(12rem, 1fr)', narrow: 'sub', cell: (row) => html`<${State} row=${row} />`, sort: (row) => (row.running ? '' : row.ended ?? '') },
  { id: 'messages', title: 'Messages', width: '8rem', from: 620, end: true, down: true, sort: (row) => row.messages, cell: (row) => (row.lost ? html`<span class="num">${numberText(row.messages)} <span class="bad-text">${numberText(row.lost)} lost</span></span>` : numberText(row.messages)) },
  { id: 'bytes', title: 'Size', width: '6rem', end: true, down: true, from: 700, sort: (row) => row.bytes, cell: (row) => html`<${Bytes} bytes=${row.bytes} />` },
  { id: 'stop', title: 'Action', width: '4.5rem', narrow: 'side', cell: (row) => row.running && html`<button type="button" class="button small danger" onClick=${(/** @type {Event} */ event) => { event.stopPropagation(); void stop(row); }}>Stop<span class="unseen"> the recording of ${refOf(row)}</span></button>` },
];

/** All recordings. Workbenches share the folder of their files, so each is listed once, by the one that makes it. @param {AbortSignal} abort */
async function loadAll(abort) {
  const lists = await Promise.all(workbenches.peek().map(async ({ pid }) => {
    try {
      return (await get(at(pid, 'recordings'), {}, abort)).recordings.map((/** @type {any} */ one) => ({ ...one, workbench: pid }));
    } catch (err) {
      if (workbenches.peek().length === 1) throw err;
      return []; // of an older version, for example
    }
  }));
  const byName = new Map();
  for (const one of lists.flat()) if (one.running || !byName.has(one.name)) byName.set(one.name, one);
  return [...byName.values()];
}

/** How many were stopped here: one that was short is not among those that the watch tells of, so the list is read again. */
const stopped = signal(0);
/** @param {any} row */
const stop = (row) => act(() => post(at(row.workbench, 'record/stop'), { name: row.name }), `The recording of ${refOf(row)} is complete`).finally(() => { stopped.value++; });

/** @param {{preset: Record<string, string>, onStart: () => void}} props */
function Start({ preset, onStart }) {
  const choices = useMemo(() => {
    const all = new Map();
    for (const row of servers.value) all.set(JSON.stringify([row.workbench, row.toolbox, row.server]), row);
    return [...all];
  }, [servers.value]);
  const wanted = preset.server ? JSON.stringify([Number(preset.workbench), preset.toolbox, preset.server]) : '';
  const [chosen, choose] = useState(wanted), [minutes, setMinutes] = useState('5'), [isBusy, setBusy] = useState(false);
  const key = choices.some(([id]) => id === chosen) ? chosen : choices[0]?.[0] ?? '';
  const row = choices.find(([id]) => id === key)?.[1];
  if (!row) return html`<p class="muted">No workbench has a server to record.</p>`;
  const onClick = async () => {
    setBusy(true);
    await act(() => post(at(row.workbench, 'record'), { toolbox: row.toolbox, server: row.server, seconds: Number(minutes) * 60 }), `${refOf(row)} is being recorded`);
    setBusy(false);
    onStart();
  };
  return html`<div class="bar rec-start">
      <label>Record <select value=${key} onChange=${(/** @type {any} */ event) => choose(event.target.value)}>${choices.map(([id, one]) => html`<option key=${id} value=${id} selected=${id === key}>${refOf(one)}${workbenches.value.length > 1 ? ` (${one.workbench})` : ''}</option>`)}</select></label>
      <label>for <select value=${minutes} onChange=${(/** @type {any} */ event) => setMinutes(event.target.value)}>${spans.map(([value, label]) => html`<option key=${value} value=${value} selected=${value === minutes}>${label}</option>`)}</select></label>
      <button type="button" class="button primary" disabled=${isBusy} onClick=${onClick}><${Icon} name="recordings" />Record</button>
      <span class="muted">Values of arguments and results of all clients are kept; secrets are masked.</span>
      <${Command} text=${commandLine(row.workbench, 'record', '--running', 'session.jsonl', refOf(row), '--for', `${minutes}m`)} />
    </div>`;
}

/** Saves an answer as a file. @param {any} row @param {string} what @param {string} name */
const save = (row, what, name) => act(async () => {
  const url = URL.createObjectURL(await getBlob(at(row.workbench, what), { name: row.name }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the browser has begun to read it by then
}, `${name} is saved`);

/** @param {any} row */
function actionsFor(row) {
  return (/** @type {any} */ entry) => {
    const call = callOf(entry);
    if (!call) return [];
    const link = document.createElement('a');
    link.className = 'button small';
    link.href = address('tools', [row.workbench, row.toolbox, row.server, call.tool], { args: call.arguments });
    link.textContent = 'Try again…';
    return [link];
  };
}

/** @param {{row: any}} props */
function Recording({ row }) {
  const root = useRef(/** @type {HTMLElement|null} */ (null));
  const { value, error, isLoading, reload } = useLoad((abort) => getText(at(row.workbench, 'recording'), { name: row.name }, abort), [row.workbench, row.name, Boolean(row.running)]);
  useEffect(() => (root.current && value !== undefined ? showRecording(root.current, value, { actions: actionsFor(row) }) : undefined), [value, row.name]);
  const stem = row.name.replace(/\.jsonl$/, '');
  return html`<div class="view">
    <div class="bar">
      <a class="button" href=${address('recordings')}>All recordings</a>
      <${State} row=${row} />
      ${row.running && html`<button type="button" class="button danger" onClick=${() => stop(row)}>Stop</button>
        <button type="button" class="button" disabled=${isLoading} onClick=${reload}>Show what came since</button>`}
      <span class="end buttons">
        <button type="button" class="button" onClick=${() => save(row, 'recording/html', `${stem}.html`)}>Save as HTML</button>
        <button type="button" class="button" onClick=${() => save(row, 'recording', row.name)}>Save as JSONL</button>
      </span>
    </div>
    <div class="scroll rec-page">
      ${error ? html`<${Problem} error=${error} />` : value === undefined && html`<${Loading} />`}
      <div ref=${root}></div>
      <details class="section"><summary>The same in a terminal</summary>
        <${Command} text=${commandLine(undefined, 'replay', row.path)} /><${Command} text=${commandLine(undefined, 'replay', '--html', `${stem}.html`, row.path)} />
      </details>
    </div>
  </div>`;
}

/** @param {{args: string[], params: Record<string, string>}} props */
export default function Recordings({ args, params }) {
  const live = recordings.value, pids = workbenches.value.map((one) => one.pid).join(' ');
  const names = live.map(keyOf).join(' ');
  const { value, error, reload } = useLoad(loadAll, [names, pids, stopped.value]);
  const rows = useMemo(() => {
    const running = new Map(live.map((one) => [one.name, one]));
    const ended = (value ?? []).filter((one) => !running.has(one.name));
    return [...running.values(), ...ended];
  }, [value, live]);
  const key = args.join('/'), open = rows.find((row) => keyOf(row) === key);
  if (open) return html`<${Recording} key=${key} row=${open} />`;
  return html`<div class="view">
    <${Start} key=${`${params.workbench}/${params.toolbox}/${params.server}`} preset=${params} onStart=${reload} />
    ${error && html`<${Problem} error=${error} />`}
    <${Table} label="Recordings" columns=${columns} rows=${rows} rowKey=${keyOf} sort=${{ by: 'at', down: true }} onOpen=${(/** @type {any} */ row) => navigate('recordings', [row.workbench, row.name])}
      empty=${value === undefined && !error ? html`<${Loading} />` : html`<${Empty} title="No recordings"><p>A recording has the messages between a workbench and one of its servers. Choose a server above, and record it while it is used.</p><//>`} />
  </div>`;
}
