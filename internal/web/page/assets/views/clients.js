// @ts-check
// The clients that are connected, and what they did.
import { Clock, Command, Elapsed, Empty, Facts, Filter, Split, Status, Table, Text, durationText, html, useMemo, useState } from '../ui.js';
import { calls, clients, workbenches } from '../store.js';
import { address, navigate } from '../router.js';

const shownCalls = 12; // of the open client
/** @param {any} client */
const keyOf = (client) => `${client.workbench}/${client.id}`;
// Whose client it is, and by what that is known. The name of a person alone may be anybody's.
/** @param {any} client @returns {[string, string]} */
const whose = (client) => (client.person ? ['Person', client.personName && client.personName !== client.person ? `${client.personName} (${client.person})` : client.person]
  : client.certificate ? ['Certificate', client.certificate] : ['Token', client.token ?? '']);
/** @param {any} client */
const eraOf = (client) => (client.era === 'modern' ? 'modern' : 'classic');

/** @type {import('../ui/table.js').Column[]} */
const columns = [
  { id: 'name', title: 'Client', width: 'minmax(9rem, 1.4fr)', narrow: 'main', sort: (row) => row.name.toLowerCase(), cell: (row) => html`<${Text} text=${row.name || '(no name)'} />` },
  { id: 'version', title: 'Version', width: '6rem', narrow: 'sub', from: 760, cell: (row) => html`<${Text} text=${row.version ?? ''} />` },
  { id: 'era', title: 'Protocol', width: '5rem', from: 800, cell: eraOf, sort: eraOf },
  { id: 'token', title: 'Whose', width: '7rem', from: 900, cell: (row) => html`<${Text} text=${whose(row)[1]} />` },
  { id: 'folder', title: 'Folder', width: 'minmax(0, 1.6fr)', narrow: 'sub', from: 480, cell: (row) => html`<${Text} text=${row.folder ?? ''} />`, sort: (row) => row.folder ?? '' },
  { id: 'opened', title: 'Opened toolboxes', width: 'minmax(8rem, 1.2fr)', cell: (row) => html`<${Text} text=${(row.opened ?? []).join(', ')} />` },
  { id: 'since', title: 'Connected', width: '6rem', end: true, down: true, narrow: 'side', sort: (row) => row.since, cell: (row) => html`<${Elapsed} since=${row.since} />` },
];

/** @param {{client: any}} props */
function Detail({ client }) {
  // A call has only the name that its client gave itself, so calls of clients with one name are shown together.
  const last = calls.value.list.filter((call) => call.workbench === client.workbench && (call.client ?? '') === client.name).slice(0, shownCalls);
  return html`
    <${Facts} pairs=${[
      ['Version', html`<${Text} text=${client.version ?? ''} />`], ['Protocol', eraOf(client)], [whose(client)[0], whose(client)[1] && html`<${Text} text=${whose(client)[1]} />`],
      ['Folder', client.folder && html`<${Text} text=${client.folder} />`], ['Connected since', html`<${Clock} at=${client.since} day />`], ['Workbench', String(client.workbench)],
      ['Opened toolboxes', client.opened?.length ? html`<span class="chips">${client.opened.map((/** @type {string} */ name) => html`<span class="badge"><${Text} text=${name} /></span>`)}</span>` : 'none yet'],
    ]} />
    <h3>Last calls of clients with this name</h3>
    ${last.length ? html`<ul class="lines">${last.map((call) => html`<li key=${call.id}><a href=${address('calls', [call.workbench, call.seq])}><${Clock} at=${call.time} /> <span class="grow"><${Text} text=${`${call.server}/${call.tool ?? call.prompt ?? call.method}`} /></span></a> <span class="num">${durationText(call.took_seconds)}</span> <${Status} word=${call.outcome} /></li>`)}</ul>`
    : html`<p class="muted">None yet.</p>`}
    <p class="section"><a href=${address('calls', [], { q: client.name })}>All calls of it</a></p>`;
}

/** @param {{args: string[]}} props */
export default function Clients({ args }) {
  const [text, setText] = useState('');
  const all = clients.value, key = args.join('/');
  const rows = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return words.length ? all.filter((row) => {
      const what = `${row.name} ${row.version ?? ''} ${row.folder ?? ''} ${whose(row)[1]} ${(row.opened ?? []).join(' ')}`.toLowerCase();
      return words.every((word) => what.includes(word));
    }) : all;
  }, [all, text]);
  const open = all.find((row) => keyOf(row) === key);
  return html`<div class="view">
    <div class="bar"><${Filter} value=${text} onInput=${setText} label="Filter clients" /><span class="muted num">${rows.length === 1 ? '1 client' : `${rows.length} clients`}</span></div>
    <${Split} title=${open ? open.name || '(no name)' : ''} onClose=${() => navigate('clients')} detail=${open && html`<${Detail} client=${open} />`}>
      <${Table} label="Clients" columns=${workbenches.value.length > 1 ? columnsOfMany : columns} rows=${rows} rowKey=${keyOf} selected=${key} sort=${{ by: 'since', down: true }}
        onOpen=${(/** @type {any} */ row) => navigate('clients', [row.workbench, row.id])}
        empty=${text ? html`<${Empty} title="No client matches the filter" />` : html`<${Empty} title="No client is connected"><p>To have one of your MCP clients use the workbench:</p><${Command} text="mcp-workbench connect" /><//>`} />
    <//>
  </div>`;
}

const columnsOfMany = [...columns.slice(0, -1), { id: 'workbench', title: 'Workbench', width: '6rem', end: true, from: 700, cell: (/** @type {any} */ row) => row.workbench }, columns[columns.length - 1]];
