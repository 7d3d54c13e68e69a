// @ts-check
// The logins of remote servers: their state, and the command that logs in. Nothing here is secret.
import { Clock, Command, Elapsed, Empty, Facts, Filter, Loading, Problem, Split, Status, Table, Text, html, useLoad, useMemo, useState } from '../ui.js';
import { at, get } from '../api.js';
import { navigate } from '../router.js';
import { servers, workbenches } from '../store.js';

const meanings = /** @type {Record<string, string>} */ ({
  'logged in': 'The token is renewed before it expires.', expired: 'The token is renewed at the next call.', 'login needed': 'Only a person can go on: calls fail until somebody logs in.',
  none: 'There is no login. The server needs none, or was not asked yet.', automatic: 'Tokens come without a person.', 'fixed header': 'The configuration says what is sent; nobody logs in.',
  'per person': 'Each person has an account there, and signs in by a link that their first call brings.',
});

/** @param {any} row */
const argsOf = (row) => [row.workbench, row.toolbox, row.server];
/** @param {any} row */
const keyOf = (row) => JSON.stringify(argsOf(row).map(String));
/** @param {any} row */
const refOf = (row) => `${row.toolbox}/${row.server}`;
const order = ['login needed', 'expired', 'logged in', 'automatic', 'fixed header', 'per person', 'none'];

/** @type {import('../ui/table.js').Column[]} */
const columns = [
  { id: 'server', title: 'Server', width: 'minmax(9rem, 1.2fr)', narrow: 'main', sort: refOf, cell: (row) => html`<${Text} text=${refOf(row)} />` },
  { id: 'state', title: 'Login', width: '9rem', narrow: 'side', sort: (row) => order.indexOf(row.state), cell: (row) => html`<${Status} word=${row.state} />` },
  { id: 'address', title: 'Address', width: 'minmax(0, 2fr)', narrow: 'sub', cell: (row) => html`<${Text} text=${row.address ?? ''} />` },
  { id: 'issuer', title: 'Logged in at', width: 'minmax(0, 1.4fr)', from: 820, cell: (row) => html`<${Text} text=${row.issuer ?? ''} />` },
  { id: 'expires', title: 'Token for', width: '6rem', end: true, from: 640, sort: (row) => row.expires ?? '', cell: (row) => (row.expires && row.state === 'logged in' ? html`<${Elapsed} until=${row.expires} />` : '') },
];
const columnsOfMany = [...columns, { id: 'workbench', title: 'Workbench', width: '6rem', end: true, from: 700, cell: (/** @type {any} */ row) => row.workbench }];

/** @param {AbortSignal} abort */
async function loadAll(abort) {
  const answers = await Promise.all(workbenches.peek().map(async (one) => {
    const { logins = [] } = await get(at(one.pid, 'logins'), {}, abort);
    return logins.map((/** @type {any} */ row) => ({ ...row, workbench: one.pid }));
  }));
  return answers.flat();
}

/** @param {{row: any}} props */
const Detail = ({ row }) => html`
  <${Facts} pairs=${[
    ['Login', html`<${Status} word=${row.state} />`], ['Means', meanings[row.state]], ['Problem', row.problem && html`<${Text} text=${row.problem} />`],
    ['Address', row.address && html`<${Text} text=${row.address} />`], ['Logged in at', row.issuer && html`<${Text} text=${row.issuer} />`],
    ['Token until', row.expires && html`<${Clock} at=${row.expires} day />`],
    ['Scopes', row.scopes?.length > 0 && html`<span class="chips">${row.scopes.map((/** @type {string} */ name) => html`<span class="badge"><${Text} text=${name} /></span>`)}</span>`],
    ['Workbench', String(row.workbench)],
  ]} />
  ${row.command && row.state !== 'fixed header' && row.state !== 'automatic' && html`<p class="section">${row.state === 'login needed' || row.state === 'none' ? 'To log in' : 'To log in again, or as somebody else'}, in a terminal:</p><${Command} text=${row.command} />
    <p class="muted">It opens your browser. Running workbenches use the login at once.</p>`}`;

/** @param {{args: string[]}} props */
export default function Logins({ args }) {
  const [text, setText] = useState('');
  const many = workbenches.value.length > 1;
  // A login that is needed, or has come, shows in the state of its server.
  const marks = servers.value.filter((row) => row.remote).map((row) => `${row.workbench}/${row.key}:${row.state}`).join();
  const { value, error, isLoading, reload } = useLoad(loadAll, [workbenches.value.map((one) => one.pid).join(), marks]);
  const rows = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean), known = value ?? [];
    return words.length ? known.filter((row) => words.every((word) => `${refOf(row)} ${row.address ?? ''} ${row.state}`.toLowerCase().includes(word))) : known;
  }, [value, text]);
  const key = args.length ? JSON.stringify(args) : '', open = value?.find((row) => keyOf(row) === key);
  return html`<div class="view">
    <div class="bar"><${Filter} value=${text} onInput=${setText} label="Filter logins" />
      <span class="muted num">${value ? (rows.length === 1 ? '1 remote server' : `${rows.length} remote servers`) : ''}</span>
      <button type="button" class="button" onClick=${reload} disabled=${isLoading}>Look again</button></div>
    ${error && html`<div class="pane"><${Problem} error=${error} /></div>`}
    ${!value ? !error && html`<${Loading} />` : html`<${Split} title=${open ? refOf(open) : ''} onClose=${() => navigate('logins')} detail=${open && html`<${Detail} row=${open} />`}>
      <${Table} label="Logins" columns=${many ? columnsOfMany : columns} rows=${rows} rowKey=${keyOf} selected=${key || undefined} sort=${{ by: 'state', down: false }}
        onOpen=${(/** @type {any} */ row) => navigate('logins', argsOf(row))}
        empty=${text ? html`<${Empty} title="No login matches the filter" />`
    : html`<${Empty} title="No remote servers"><p>Servers with an address have their logins here. To add one:</p><${Command} text="mcp-workbench add https://…" /><//>`} />
    <//>`}
  </div>`;
}
