// @ts-check
// All tools that are known, the search of find_tools with its reasons, and one tool to look at and try.
import { Empty, Facts, Filter, Icon, Json, Loading, Problem, Split, Status, Table, Tabs, Text, announce, durationText, html, numberText, useCallback, useEffect, useLoad, useMemo, useRef, useState } from '../ui.js';
import { at, get } from '../api.js';
import { benchName, servers, workbenches } from '../store.js';
import { address, navigate, replace } from '../router.js';
import { Try } from './tool-try.js';

const pageSize = 100, maxPages = 40; // tools of a page; pages that are kept
const typingPause = 150; // ms after a key until it searches

/** @param {any} row */
const keyOf = (row) => `${row.toolbox}/${row.server}/${row.name}`;

/** What is special about a tool, in words. @param {{row: any}} props */
const Marks = ({ row }) => html`<span class="chips nowrap">${row.withheld && html`<span class="badge warn">withheld</span>`}${row.changed && html`<span class="badge warn">changed</span>`}
  ${row.doubted && html`<span class="badge warn">hints doubted</span>`}${row.readOnly ? html`<span class="badge good">reads</span>` : row.destructive && html`<span class="badge">may destroy</span>`}</span>`;

/** @param {any} reason */
const reasonText = (reason) => (reason.how === 'same word' ? reason.word : `${reason.word} → ${reason.found}`);

/** @type {import('../ui/table.js').Column[]} */
const columns = [
  { id: 'name', title: 'Tool', width: 'minmax(9rem, 1.5fr)', narrow: 'main', cell: (row) => html`<${Text} text=${row.name} />` },
  { id: 'server', title: 'Server', width: 'minmax(7rem, 1fr)', narrow: 'sub', cell: (row) => html`<span class="muted"><${Text} text=${`${row.toolbox}/${row.server}`} /></span>` },
  { id: 'line', title: 'Description', width: 'minmax(0, 2.4fr)', from: 620, cell: (row) => html`<${Text} text=${row.line ?? ''} />` },
  { id: 'marks', title: 'Marks', width: '10rem', from: 820, narrow: 'side', cell: (row) => html`<${Marks} row=${row} />` },
  { id: 'tokens', title: 'Tokens', width: '4.5rem', end: true, cell: (row) => html`<span class="num">${numberText(row.tokens)}</span>` },
];
/** @type {import('../ui/table.js').Column} */
const why = { id: 'why', title: 'Found by', width: 'minmax(0, 1.4fr)', from: 700, cell: (row) => html`<${Text} text=${(row.reasons ?? []).map(reasonText).join(', ')} />` };
const columnsOfSearch = [...columns.slice(0, 2), why, ...columns.slice(2)];

/** The pages of a list that are in sight. @param {number|undefined} pid @param {string} q @param {string|undefined} toolbox @param {string|undefined} server @param {number} version of the known tools */
function usePages(pid, q, toolbox, server, version) {
  const [, draw] = useState(0);
  const list = useMemo(() => ({
    pages: /** @type {Map<number, any[]>} */ (new Map()), asked: new Set(), total: 0, first: /** @type {any} */ (null), error: /** @type {any} */ (null), abort: new AbortController(),
  }), [pid, q, toolbox, server, version]);
  const load = useCallback(async (/** @type {number} */ page) => {
    if (pid === undefined || list.asked.has(page) || list.abort.signal.aborted) return;
    list.asked.add(page);
    try {
      const got = await get(at(pid, 'tools'), { q, toolbox, server, offset: page * pageSize, limit: pageSize }, list.abort.signal);
      list.pages.set(page, got.tools);
      list.total = got.total;
      if (!list.first) {
        list.first = got;
        if (q) announce(`${got.total} tools found`);
      }
      if (list.pages.size > maxPages) { const [old] = list.pages.keys(); list.pages.delete(old); list.asked.delete(old); }
    } catch (err) {
      if (list.abort.signal.aborted) return;
      list.asked.delete(page);
      list.error = err;
    }
    draw((n) => n + 1);
  }, [list]);
  useEffect(() => { void load(0); return () => list.abort.abort(); }, [list]);
  const onRange = useCallback((/** @type {number} */ from, /** @type {number} */ to) => {
    for (let page = Math.floor(from / pageSize); page * pageSize < Math.min(to, list.total); page++) void load(page);
  }, [list, load]);
  const rowAt = useCallback((/** @type {number} */ n) => list.pages.get(Math.floor(n / pageSize))?.[n % pageSize], [list]);
  return { list, rowAt, onRange };
}

/** Why a search found a tool. @param {{row: any}} props */
function Reasons({ row }) {
  if (!row?.reasons?.length) return html`<p class="muted">Search for something to see how it is found.</p>`;
  return html`<p>It answers about ${Math.round(Math.min(1, row.score) * 100)} % of the search.</p>
    <div class="scroll-x" tabindex="0" role="region" aria-label="Words of the search"><table class="plain"><thead><tr><th scope="col">Word</th><th scope="col">Found</th><th scope="col">In</th><th scope="col">How</th><th scope="col" class="end">Share</th></tr></thead>
    <tbody>${row.reasons.map((/** @type {any} */ one, /** @type {number} */ n) => html`<tr key=${n}><td><${Text} text=${one.word} /></td><td><${Text} text=${one.found} /></td><td>${one.field}</td><td>${one.how}</td>
      <td class="end num"><meter aria-hidden="true" min="0" max="1" value=${one.share}></meter> ${Math.round(one.share * 100)} %</td></tr>`)}</tbody></table></div>`;
}

/** @param {{tool: any}} props */
const Definition = ({ tool }) => html`
  <pre class="json signature" tabindex="0"><${Text} text=${tool.signature} /></pre>
  <${Facts} pairs=${[
    ['Title', tool.title && html`<${Text} text=${tool.title} />`], ['Definition', `about ${numberText(tool.tokens)} tokens`],
    ['Calls', `${numberText(tool.counts.totalCalls)}, ${numberText(tool.counts.totalErrors)} with errors`], ['Half within', tool.counts.calls > 0 && durationText(tool.counts.p50Seconds)], ['95 % within', tool.counts.calls > 0 && durationText(tool.counts.p95Seconds)],
  ]} />
  <h3>As clients get it</h3><${Json} value=${tool.definition} />`;

/** @param {{pid: number, name: string[], given?: string, row: any, tab: string|undefined, onTab: (tab: string) => void}} props */
function Detail({ pid, name, given, row, tab, onTab }) {
  const [toolbox, server, tool] = name, id = [pid, ...name].join('/');
  const { value, error } = useLoad((abort) => get(at(pid, 'tool'), { toolbox, server, tool }, abort), [id]);
  if (error) return html`<${Problem} error=${error} />`;
  if (!value || value.name !== tool || value.server !== server || value.toolbox !== toolbox) return html`<${Loading} />`;
  const description = typeof value.definition?.description === 'string' ? value.definition.description : '';
  const tabs = [
    { id: 'try', title: 'Try', content: () => html`<${Try} id=${id} pid=${pid} tool=${value} given=${given} />` },
    { id: 'definition', title: 'Definition', content: () => html`<${Definition} tool=${value} />` },
    { id: 'why', title: 'Why found', content: () => html`<${Reasons} row=${row} />` },
  ];
  return html`<p class="field-row"><a href=${address('servers', [pid, `${toolbox}/${server}`])}><${Text} text=${`${toolbox}/${server}`} /></a> <${Marks} row=${value} /></p>
    ${value.withheld && html`<${Problem} title="Clients do not get this tool" hint=${`It ${value.withheld}`} />`}
    ${value.changed && html`<p><${Status} word="Its definition changed" tone="warn" icon="warning" /> <a href="#/changes">See what changed</a></p>`}
    ${(value.warnings ?? []).map((/** @type {string} */ one) => html`<p key=${one} class="note-box"><${Status} word="Warning" tone="warn" icon="warning">Warning:<//> <${Text} text=${one} lines /></p>`)}
    ${description && html`<details class="section" open=${description.length < 600}><summary>Description</summary><pre class="description"><${Text} text=${description} lines /></pre></details>`}
    <${Tabs} label="The tool" tabs=${tabs} selected=${tab} onSelect=${onTab} />`;
}

/** @param {{args: string[], params: Record<string, string>}} props */
export default function Tools({ args, params }) {
  const benches = workbenches.value, name = args.slice(1, 4), { q = '', toolbox, server } = params;
  // Without one in the address it is a workbench that knows tools, or has what is asked for.
  const fits = servers.value.filter((one) => (!toolbox || one.toolbox === toolbox) && (!server || one.server === server));
  const pid = Number(args[0]) || (fits.find((one) => one.tools > 0) ?? fits[0])?.workbench || benches[0]?.pid;
  const [text, setText] = useState(q), [tab, setTab] = useState(/** @type {string|undefined} */ (undefined));
  const version = servers.value.reduce((sum, one) => (one.workbench === pid ? sum + one.tools + 1 : sum), 0);
  const { list, rowAt, onRange } = usePages(pid, q, toolbox, server, version);
  const keep = { q, toolbox: toolbox ?? '', server: server ?? '' };
  const latest = useRef({ args, keep });
  latest.current = { args, keep };
  const sent = useRef(q); // by typing; another one comes from a link
  useEffect(() => {
    if (q !== sent.current) { sent.current = q; setText(q); return undefined; }
    if (text === q) return undefined;
    const timer = setTimeout(() => { sent.current = text; replace('tools', latest.current.args, { ...latest.current.keep, q: text }); }, typingPause);
    return () => clearTimeout(timer);
  }, [text, q]);
  const open = name.length === 3 ? name.join('/') : undefined;
  const row = open && [...list.pages.values()].flat().find((one) => keyOf(one) === open);
  const unknown = list.first?.unknown ?? [], of = [toolbox, server].filter(Boolean).join('/');
  if (pid === undefined) return html`<div class="view"><${Empty} title="No workbench runs" /></div>`;
  return html`<div class="view">
    <div class="bar"><${Filter} value=${text} onInput=${setText} label="Search the tools, as find_tools does" />
      ${benches.length > 1 && html`<label><span class="unseen">Workbench</span><select value=${String(pid)} onChange=${(/** @type {any} */ event) => navigate('tools', [event.target.value], { q })}>${benches.map((one) => html`<option key=${one.pid} value=${String(one.pid)}>${benchName(one)} (${one.pid})</option>`)}</select></label>`}
      ${(toolbox || server) && html`<a class="chip" href=${address('tools', pid === undefined ? [] : [pid], { q })} aria-label=${`Show the tools of all servers, not only of ${of}`}><span class="chip-name"><${Text} text=${of} /></span><${Icon} name="close" /></a>`}
      <span class="muted num" role="status">${list.first ? `${numberText(list.total)} ${list.total === 1 ? 'tool' : 'tools'}` : ''}</span></div>
    ${list.error && html`<${Problem} error=${list.error} />`}
    ${list.first?.doubtful && html`<p class="note muted">These may be about something else: try other words.</p>`}
    ${unknown.length > 0 && !q && html`<details class="note"><summary>${unknown.length} ${unknown.length === 1 ? 'server was' : 'servers were'} never connected: their tools are not known</summary><p><${Text} text=${unknown.join(', ')} /></p></details>`}
    <${Split} title=${open ? name[2] : ''} onClose=${() => navigate('tools', [pid], keep)} detail=${open && html`<${Detail} key=${`${pid}/${open} ${params.args ?? ''}`} pid=${pid} name=${name} given=${params.args} row=${row} tab=${tab} onTab=${setTab} />`}>
      ${!list.first && !list.error ? html`<${Loading} />` : html`<${Table} key=${`${pid} ${q} ${of}`} label="Tools" columns=${q ? columnsOfSearch : columns} count=${list.total} rowAt=${rowAt} onRange=${onRange} rowKey=${keyOf} selected=${open}
        rowClass=${(/** @type {any} */ one) => (one.withheld ? 'dim' : '')} onOpen=${(/** @type {any} */ one) => navigate('tools', [pid, one.toolbox, one.server, one.name], keep)}
        empty=${q ? html`<${Empty} title="No tool fits"><p>Use other words. Tools that are withheld from clients are not searched.</p><//>` : html`<${Empty} title="No tool is known yet"><p>Tools are known once their servers were connected.</p><//>`} />`}
    <//>
  </div>`;
}
