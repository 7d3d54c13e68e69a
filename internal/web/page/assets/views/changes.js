// @ts-check
// Definitions of tools, and instructions of servers, that changed: what is different, and accepting it.
import { Command, Empty, Facts, Filter, Loading, Problem, Split, Status, Table, Text, act, confirm, html, useLoad, useMemo, useState } from '../ui.js';
import { at, get, post } from '../api.js';
import { navigate } from '../router.js';
import { workbenches } from '../store.js';

const drawnCharacter = /⟨(?:U\+[0-9A-F]{4,6}|0x[0-9A-F]{2})⟩/g;

/** A line of a diff. The workbench has drawn what is invisible, brackets of the text itself too, so that none is forged. @param {string} text */
function marked(text) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(drawnCharacter)) {
    if (found.index > end) parts.push(text.slice(end, found.index));
    parts.push(html`<span class="invisible">${found[0]}</span>`);
    end = found.index + found[0].length;
  }
  parts.push(text.slice(end));
  return parts;
}

const kinds = /** @type {Record<string, [string, string]>} */ ({ '+': ['added', 'added: '], '-': ['removed', 'removed: '], '@': ['skipped', ''] });

/** @param {{lines: {op: string, text: string}[]}} props */
const Diff = ({ lines }) => html`<pre class="diff" tabindex="0" role="group" aria-label="What changed">${lines.map((line, n) => {
  const [name, said] = kinds[line.op] ?? ['same', ''];
  return html`<div key=${n} class=${`diff-${name}`}><span class="diff-op" aria-hidden="true">${line.op === '@' ? '…' : line.op}</span>${said && html`<span class="unseen">${said}</span>`}<span>${marked(line.text)}</span></div>`;
})}</pre>`;

/** What is changed, as it is called. @param {any} row */
const nameOf = (row) => row.tool || 'instructions';
/** @param {any} row */
const refOf = (row) => `${row.toolbox}/${row.server}${row.tool ? `/${row.tool}` : ':instructions'}`;
/** @param {any} row */
const argsOf = (row) => [row.workbench, row.toolbox, row.server, row.tool ?? ''];
/** @param {any} row */
const keyOf = (row) => JSON.stringify(argsOf(row).map(String));
/** @param {any} row */
const commandOf = (row) => row.command + (workbenches.value.length > 1 ? ` --pid ${row.workbench}` : '');
/** @param {any} row */
const State = ({ row }) => (row.withheld ? html`<${Status} word="withheld" tone="bad" icon="refused" />` : html`<${Status} word="used, with a warning" tone="warn" icon="warning" />`);

/** @type {import('../ui/table.js').Column[]} */
const columns = [
  { id: 'what', title: 'Tool', width: 'minmax(9rem, 1.6fr)', narrow: 'main', sort: (row) => nameOf(row).toLowerCase(), cell: (row) => html`<${Text} text=${nameOf(row)} />` },
  { id: 'server', title: 'Server', width: 'minmax(8rem, 1.2fr)', narrow: 'sub', sort: (row) => `${row.toolbox}/${row.server}`, cell: (row) => html`<${Text} text=${`${row.toolbox}/${row.server}`} />` },
  { id: 'kind', title: 'Change', width: '6rem', narrow: 'side', sort: (row) => (row.new ? 'new' : 'changed'), cell: (row) => (row.new ? 'new' : 'changed') },
  { id: 'state', title: 'Clients', width: '13rem', narrow: 'sub', from: 560, sort: (row) => (row.withheld ? 0 : 1), cell: (row) => html`<${State} row=${row} />` },
];
const columnsOfMany = [...columns, { id: 'workbench', title: 'Workbench', width: '6rem', end: true, from: 700, cell: (/** @type {any} */ row) => row.workbench }];

/** All changes of all workbenches. @param {AbortSignal} abort */
async function loadAll(abort) {
  const answers = await Promise.all(workbenches.peek().filter((one) => one.changes > 0).map(async (one) => {
    const { changes = [], more = 0 } = await get(at(one.pid, 'changes'), {}, abort);
    return { rows: changes.map((/** @type {any} */ row) => ({ ...row, workbench: one.pid })), more };
  }));
  return { rows: answers.flatMap((answer) => answer.rows), more: answers.reduce((sum, answer) => sum + answer.more, 0) };
}

/** @param {{row: any, onDone: () => void}} props */
function Detail({ row, onDone }) {
  const [isBusy, setBusy] = useState(false);
  // The list leaves out diffs that are too many: one alone is always there.
  const alone = useLoad((abort) => (row.diff || !row.note ? Promise.resolve(null) : get(at(row.workbench, 'changes'), { toolbox: row.toolbox, server: row.server, tool: row.tool ?? '' }, abort)), [keyOf(row), row.hash]);
  const shown = row.diff ? row : alone.value?.changes?.find((/** @type {any} */ one) => one.hash === row.hash && (one.tool ?? '') === (row.tool ?? '')) ?? row;
  const accept = async () => {
    const isMeant = await confirm({
      title: `Accept the ${row.new ? 'new' : 'changed'} ${row.tool ? 'definition' : 'instructions'}?`,
      body: html`<p><strong><${Text} text=${refOf(row)} /></strong></p><p>A model reads all of it, and follows it. ${row.withheld ? 'It is written to workbench.lock, and clients get it at once.' : 'The mark and the warning go.'}
        ${row.hints ? ' The changed hints count from then on, for the policy too.' : ''} If the server has changed it again meanwhile, nothing is accepted.</p>`,
      command: commandOf(row), action: 'Accept',
    });
    if (!isMeant) return;
    setBusy(true);
    await act(() => post(at(row.workbench, 'accept'), { toolbox: row.toolbox, server: row.server, tool: row.tool, hash: row.hash }), `Accepted: ${nameOf(row)}`);
    setBusy(false);
    onDone();
  };
  return html`
    <${Facts} pairs=${[
      ['Server', html`<${Text} text=${`${row.toolbox}/${row.server}`} />`], ['Clients', html`<${State} row=${row} />`],
      ['Why', row.withheld && html`<${Text} text=${`${row.tool ? 'It' : 'They'} ${row.withheld}`} />`],
      ['Hints', row.hints && 'changed, too: they do not count until it is accepted'], ['Workbench', workbenches.value.length > 1 && String(row.workbench)],
    ]} />
    ${shown.note && html`<p class="section note-box"><${Text} text=${shown.note} /></p>`}
    ${alone.error && html`<${Problem} error=${alone.error} />`}
    ${shown.diff ? html`<div class="section"><${Diff} lines=${shown.diff} /></div>` : alone.isLoading && html`<${Loading} />`}
    <p class="muted section">Invisible characters, and spaces other than the plain one, are drawn as <span class="invisible">⟨U+200B⟩</span>. Secrets are masked.</p>
    <div class="buttons section"><button type="button" class="button primary" disabled=${isBusy || (!shown.diff && alone.isLoading)} onClick=${accept}>Accept…</button></div>
    <h3>If you do not accept it</h3>
    <p>${row.withheld ? 'It stays withheld: clients neither see it nor can they use it.' : 'Clients go on to use it, with a warning that it changed. To take it from them, disable the server, deny the tool in the policy, or lock the definitions.'}
      ${' '}If the server changes back, this goes away by itself.</p>
    <p class="muted section">In a terminal:</p><${Command} text=${commandOf(row)} />`;
}

/** @param {{args: string[]}} props */
export default function Changes({ args }) {
  const [text, setText] = useState('');
  const all = workbenches.value, many = all.length > 1;
  const { value, error, isLoading, reload } = useLoad(loadAll, [all.map((one) => `${one.pid}:${one.changes}`).join()]);
  const rows = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean), known = value?.rows ?? [];
    return words.length ? known.filter((/** @type {any} */ row) => words.every((word) => refOf(row).toLowerCase().includes(word))) : known;
  }, [value, text]);
  const key = args.length ? JSON.stringify(args) : '', open = value?.rows.find((/** @type {any} */ row) => keyOf(row) === key);
  return html`<div class="view">
    <div class="bar"><${Filter} value=${text} onInput=${setText} label="Filter changes" />
      <span class="muted num">${value ? (rows.length === 1 ? '1 change' : `${rows.length} changes`) : ''}</span>
      <button type="button" class="button" onClick=${reload} disabled=${isLoading}>Look again</button></div>
    ${error && html`<div class="pane"><${Problem} error=${error} /></div>`}
    ${value && value.more > 0 && html`<p class="note muted">${value.more} more changes are not shown. Accept some of these first, or use <code>mcp-workbench changes SERVER</code>.</p>`}
    ${!value ? !error && html`<${Loading} />` : html`<${Split} title=${open ? nameOf(open) : key ? 'Change' : ''} onClose=${() => navigate('changes')}
      detail=${open ? html`<${Detail} key=${`${key}/${open.hash}`} row=${open} onDone=${reload} />` : key && html`<p class="muted">This change was accepted, or the server changed back.</p>`}>
      <${Table} label="Changes" columns=${many ? columnsOfMany : columns} rows=${rows} rowKey=${keyOf} selected=${key || undefined}
        onOpen=${(/** @type {any} */ row) => navigate('changes', argsOf(row))}
        empty=${text ? html`<${Empty} title="No change matches the filter" />`
    : html`<${Empty} title="Nothing has changed"><p>When a server changes the definition of a tool, or its instructions, you see here what is different, and accept it. In a terminal:</p><${Command} text="mcp-workbench changes" /><//>`} />
    <//>`}
  </div>`;
}
