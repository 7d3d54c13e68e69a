// @ts-check
// All servers of all workbenches.
import { Bytes, Command, Elapsed, Empty, Filter, Split, Path, Sparkline, Status, Table, durationText, html, numberText, useFilter, useMemo } from '../ui.js';
import { now, servers, stateOf, workbenches } from '../store.js';
import { navigate } from '../router.js';
import { ServerDetail, reasons } from './server.js';

const rateSeconds = 60;
// What needs a person stands first.
const order = ['faulty', 'failed', 'backing off', 'login needed', 'starting', 'stopping', 'ready', 'idle'];

/** @param {{row: any}} props */
function Rate({ row }) {
  const values = row.rate.read(Math.floor(now.value / 1000) - 1, rateSeconds), last = values[values.length - 1];
  return html`<${Sparkline} values=${values} label=${`${last} calls in the last second, at most ${Math.max(...values)} in the last minute`} />`;
}

/** @param {any} row */
const name = (row) => html`<${Path} of=${`${row.toolbox}/`} name=${row.key.slice(row.toolbox.length + 1)} />`;
/** @param {(counts: any) => number} of */
const count = (of) => (/** @type {any} */ row) => (row.counts.calls ? of(row.counts) : -1);

/** @type {import('../ui/table.js').Column[]} */
const columns = [
  { id: 'name', title: 'Server', width: 'minmax(10rem, 3fr)', narrow: 'main', sort: (row) => row.key, cell: name },
  { id: 'state', title: 'State', width: '7.6rem', narrow: 'side', sort: (row) => order.indexOf(stateOf(row)), cell: (row) => html`<${Status} word=${stateOf(row)} />` },
  { id: 'uptime', title: 'Uptime', width: '6rem', end: true, from: 880, down: true, sort: (row) => (row.since ? -row.since : -Infinity), cell: (row) => (row.since ? html`<${Elapsed} since=${row.since} />` : html`<span class="muted">–</span>`) },
  { id: 'memory', title: 'Memory', width: '5.5rem', end: true, from: 560, narrow: 'sub', down: true, sort: (row) => row.memoryBytes ?? 0, cell: (row) => (row.memoryBytes ? html`<${Bytes} bytes=${row.memoryBytes} />` : html`<span class="muted">–</span>`) },
  { id: 'calls', title: 'Calls', width: '5rem', end: true, narrow: 'sub', down: true, sort: (row) => row.counts.calls, cell: (row) => html`<span class=${row.counts.calls ? 'num' : 'num muted'}>${numberText(row.counts.calls)}<span class="only-narrow"> ${row.counts.calls === 1 ? 'call' : 'calls'}</span></span>` },
  { id: 'errors', title: 'Errors', width: '4.5rem', end: true, narrow: 'sub', down: true, sort: (row) => row.counts.errors, cell: (row) => (row.counts.errors ? html`<span class="num bad-text">${numberText(row.counts.errors)}<span class="only-narrow"> failed</span></span>` : html`<span class="num muted not-narrow">0</span>`) },
  { id: 'p50', title: 'p50', width: '5rem', end: true, from: 780, down: true, sort: count((counts) => counts.p50Seconds), cell: (row) => html`<span class="num">${row.counts.calls ? durationText(row.counts.p50Seconds) : ''}</span>` },
  { id: 'p95', title: 'p95', width: '5rem', end: true, from: 640, narrow: 'sub', down: true, sort: count((counts) => counts.p95Seconds), cell: (row) => html`<span class="num">${row.counts.calls ? html`<span class="only-narrow">p95 </span>${durationText(row.counts.p95Seconds)}` : ''}</span>` },
  { id: 'rate', title: 'Last minute', width: 'minmax(5rem, .8fr)', from: 700, cell: (row) => html`<${Rate} row=${row} />` },
];
const columnsOfMany = [...columns.slice(0, 2), { id: 'workbench', title: 'Workbench', width: '5.5rem', end: true, from: 960, sort: (/** @type {any} */ row) => row.workbench, cell: (/** @type {any} */ row) => html`<span class="num">${row.workbench}</span>` }, ...columns.slice(2)];

/** @param {{all: any[]}} props */
function Summary({ all }) {
  const states = new Map();
  for (const row of all) states.set(stateOf(row), (states.get(stateOf(row)) ?? 0) + 1);
  return html`<span class="summary muted">${order.filter((state) => states.has(state)).map((state) => html`<span key=${state}><${Status} word=${state}>${states.get(state)} ${state}<//></span>`)}</span>`;
}

/** @param {{args: string[], params: Record<string, string>}} props */
export default function Servers({ args, params }) {
  const [text, setText] = useFilter(params.q);
  const all = servers.value, id = args.length ? `${args[0]}/${args.slice(1).join('/')}` : undefined;
  const rows = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return all;
    return all.filter((row) => {
      const what = `${row.key} ${stateOf(row)} ${row.workbench} ${row.lastError ?? ''} ${reasons(row.why).join(' ')}`.toLowerCase();
      return words.every((word) => what.includes(word));
    });
  }, [all, text]);
  const open = id && all.find((row) => row.id === id);
  return html`<div class="view">
    <div class="bar"><${Filter} value=${text} onInput=${setText} label="Filter servers" /><${Summary} all=${rows} /></div>
    <${Split} title=${open ? open.key : ''} onClose=${() => navigate('servers')} detail=${open && html`<${ServerDetail} key=${open.id} row=${open} />`}>
      <${Table} label="Servers" columns=${workbenches.value.length > 1 ? columnsOfMany : columns} rows=${rows} selected=${id} sort=${{ by: 'name' }}
        rowClass=${(/** @type {any} */ row) => (row.state === 'idle' && !row.lastError ? 'dim' : '')}
        onOpen=${(/** @type {any} */ row) => navigate('servers', [row.workbench, row.key])}
        empty=${text ? html`<${Empty} title="No server matches the filter" />` : html`<${Empty} title="No server is configured"><p>To import the servers of your MCP clients:</p><${Command} text="mcp-workbench init" /><p>To add one:</p><${Command} text="mcp-workbench add files -- npx -y @modelcontextprotocol/server-filesystem ." /><//>`} />
    <//>
  </div>`;
}
