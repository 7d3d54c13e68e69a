// @ts-check
// The calls of all clients: those that run, then those that ended, the newest first.
import { Clock, Command, Elapsed, Empty, Filter, Icon, Path, Split, Status, Table, Text, bytesText, durationText, html, numberText, signal, useFilter, useMemo, useState } from '../ui.js';
import { Chart } from '../ui/chart.js';
import { TimeBar, TimeLegend } from '../ui/parts-of-time.js';
import { calls, chartSeconds, isError, now, rates, running } from '../store.js';
import { navigate } from '../router.js';
import { CallDetail, Cancel, RunningDetail, caller, target } from './call.js';

const outcomes = ['ok', 'tool error', 'JSON-RPC error', 'failed', 'refused', 'cancelled', 'input required'];
const hasChart = signal(false); // stays while other views are shown

/** @param {any} row */
const isRunning = (row) => row.since !== undefined;
/** @param {any} row */
const keyOf = (row) => (isRunning(row) ? `${row.workbench}/running/${row.id}` : row.id);
/** @param {any} row */
const what = (row) => html`<${Path} of=${`${row.toolbox}/${row.server}/`} name=${target(row)} />`;

/** @type {import('../ui/table.js').Column[]} */
const columns = [
  { id: 'time', title: 'Began', width: '4.8rem', cell: (row) => html`<span class="muted"><${Clock} at=${row.time ?? row.since} /></span>` },
  { id: 'client', title: 'Client', width: 'minmax(5rem, 1fr)', from: 680, cell: (row) => html`<${Text} text=${caller(row)} />` },
  { id: 'what', title: 'Tool', width: 'minmax(10rem, 2.6fr)', narrow: 'main', cell: what },
  { id: 'outcome', title: 'Outcome', width: '9.6rem', narrow: 'side', cell: (row) => (isRunning(row) ? html`<${Cancel} call=${row} small />` : html`<${Status} word=${row.outcome} />`) },
  { id: 'took', title: 'Took', width: '5.4rem', end: true, narrow: 'sub', cell: (row) => (isRunning(row) ? html`<${Elapsed} since=${row.since} />` : html`<span class="num">${durationText(row.took_seconds)}</span>`) },
  { id: 'where', title: 'Time spent', width: 'minmax(7rem, 1.2fr)', from: 590, cell: (row) => (isRunning(row) ? html`<${Status} word="running">${row.phase === 'person' ? 'a person' : row.phase === 'start' ? 'start' : 'server'}<//>` : html`<${TimeBar} call=${row} />`) },
  { id: 'bytes', title: 'In / out', width: '8rem', end: true, from: 820, cell: (row) => (isRunning(row) ? '' : html`<span class="num" title="Bytes of the arguments and of the answer">${bytesText(row.request_bytes)} / ${bytesText(row.response_bytes)}</span>`) },
  { id: 'arguments', title: 'Arguments', width: 'minmax(6rem, 1.6fr)', from: 1080, cell: (row) => html`<span class="muted mono"><${Text} text=${row.arguments ?? ''} /></span>` },
  { id: 'begin', title: '', width: '0', from: 1e9, narrow: 'sub', cell: (row) => html`<${Text} text=${caller(row)} />` },
  { id: 'begun', title: '', width: '0', from: 1e9, narrow: 'sub', cell: (row) => html`<${Clock} at=${row.time ?? row.since} />` },
];

/** Calls and errors a second. */
function RateChart() {
  const second = Math.floor(now.value / 1000) - 1; // the one that is over
  const data = useMemo(() => {
    const times = Array.from({ length: chartSeconds }, (_, n) => second - chartSeconds + 1 + n);
    return [times, rates.calls.read(second), rates.errors.read(second)];
  }, [second]);
  const sum = (/** @type {number[]} */ list) => list.reduce((a, b) => a + b, 0);
  return html`<${Chart} label=${`Calls a second, last five minutes: ${sum(data[1])} calls, ${sum(data[2])} errors`} names=${['calls/s', 'errors/s']} colours=${['--accent', '--bad']} data=${data} />`;
}

/** Whether a call is wanted. @param {string} text @param {string} outcome */
function wanted(text, outcome) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (/** @type {any} */ row) => {
    if (outcome === 'errors' ? isRunning(row) || !isError(row) : outcome && row.outcome !== outcome) return false;
    if (!words.length) return true;
    const all = `${row.toolbox}/${row.server}/${target(row)} ${row.method} ${row.client ?? ''} ${row.caller ?? ''} ${row.outcome ?? 'running'} ${row.error_type ?? ''} ${row.arguments ?? ''}`.toLowerCase();
    return words.every((word) => all.includes(word));
  };
}

/** @param {{args: string[], params: Record<string, string>}} props */
export default function Calls({ args, params }) {
  const [text, setText] = useFilter(params.q), [outcome, setOutcome] = useState('');
  const [paused, setPaused] = useState(/** @type {any} */ (null)); // what was there when it was paused
  const current = calls.value, live = running.value, ended = paused ?? current;
  const rows = useMemo(() => {
    const filter = wanted(text, outcome);
    return text || outcome ? [...live.list.filter(filter), ...ended.list.filter(filter)] : [...live.list, ...ended.list];
  }, [live.list, ended.list, text, outcome]);
  const key = args.join('/'), open = key ? rows.find((row) => keyOf(row) === key) ?? current.list.find((row) => keyOf(row) === key) : undefined;
  const more = paused ? current.total - paused.total : 0;
  return html`<div class="view">
    <div class="bar"><${Filter} value=${text} onInput=${setText} label="Filter calls" />
      <label class="choice"><span class="unseen">Outcome</span><select value=${outcome} onChange=${(/** @type {any} */ event) => setOutcome(event.target.value)}>
        <option value="">All outcomes</option><option value="errors">All errors</option>${outcomes.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select></label>
      <button type="button" class="button" aria-pressed=${String(Boolean(paused))} onClick=${() => setPaused(paused ? null : current)}><${Icon} name=${paused ? 'play' : 'pause'} />${paused ? (more ? `Resume (${numberText(more)} new)` : 'Resume') : 'Pause'}</button>
      <button type="button" class="button" aria-pressed=${String(hasChart.value)} onClick=${() => { hasChart.value = !hasChart.value; }}>Chart</button>
      <${TimeLegend} />
    </div>
    ${hasChart.value && html`<${RateChart} />`}
    ${(current.skipped > 0 || live.more > 0) && html`<p class="note muted">${current.skipped > 0 && `${numberText(current.skipped)} calls came too fast to show. `}${live.more > 0 && `${numberText(live.more)} more calls run.`}</p>`}
    <${Split} title=${open ? target(open) : key ? 'Call' : ''} onClose=${() => navigate('calls')}
      detail=${open ? (isRunning(open) ? html`<${RunningDetail} key=${key} call=${open} />` : html`<${CallDetail} call=${open} />`) : key && html`<p class="muted">This call has ended, or is no longer in the list.</p>`}>
      <${Table} label="Calls" columns=${columns} rows=${rows} rowKey=${keyOf} selected=${key || undefined} rowClass=${(/** @type {any} */ row) => (isRunning(row) ? 'live' : '')}
        onOpen=${(/** @type {any} */ row) => navigate('calls', keyOf(row).split('/'))}
        empty=${text || outcome ? html`<${Empty} title="No call matches the filter"><p>The last 2,000 calls are here. Older ones:</p><${Command} text="mcp-workbench history" /><//>`
    : html`<${Empty} title="No calls yet"><p>Calls of your MCP clients appear here as they happen. To try one yourself, open a tool in <a href="#/tools">Tools</a>, or run:</p><${Command} text="mcp-workbench try" /><//>`} />
    <//>
  </div>`;
}
