// @ts-check
// What views are built with. A view is a module in views/ with a default export, a component; views/index.js lists it:
//
//   import { html, useState, Table, Split, … } from '../ui.js';     preact's hooks, signals and htm are here, too
//   import { servers, questions, … } from '../store.js';            signals: read .value in a component, and it follows
//   import { get, post, stream, at } from '../api.js';              await get(at(pid, 'tools'), { q, offset, limit })
//   import { navigate, replace } from '../router.js';
//
//   export default function Tools({ args, params }) { … }           of the address #/tools/ARG/ARG?name=value
//     navigate('tools', [pid, toolbox], { q: 'x' })                 goes there; replace(…) without a new entry of "back"
//   class="view" is the whole view, in it class="bar" the row of filters and buttons; the rest of the height is the list's.
//
// Rules: no innerHTML, no style="…" text in markup (the CSP refuses it; style=${{…}} objects are fine), looks by classes
// of style.css. Texts that come from servers or clients go through <${Text}>, which draws what is invisible.
// Rows and lists of the store have `workbench`: the pid to send requests to.
//
//   <${Table} label="Tools" columns=${columns} rows=${rows} rowKey=${(row) => row.id} selected=${key} onOpen=${(row) => …}
//     sort=${{ by: 'name', down: false }} empty=${html`<${Empty} …/>`} rowClass=${(row) => 'dim'} />
//     column: { id, title, cell: (row) => vnode, sort: (row) => key, down: true (highest first), width: '6rem' (a grid track),
//       end: true (right), narrow: 'main'|'side'|'sub' (where on a phone; none = not there), from: 900 (only if that wide, px) }
//     Define columns outside of the component. For a list of which only pages are here: count, rowAt(index) (undefined
//     until it is here) and onRange(from, to) in place of rows; a stable onRange, please (useCallback).
//   <${Split} title="dev/files" detail=${html`…` or null} onClose=${…}>the list<//>   the pane beside the list, over it on a phone
//   <${Filter} value=${text} onInput=${setText} label="Filter tools" />     the key / goes there
//   <${Tabs} label="Details" tabs=${[{ id, title, content: () => html`…` }]} selected=${id} onSelect=${…} />
//   <${Facts} pairs=${[['Memory', html`<${Bytes} bytes=${n} />`], …]} />     empty values are left out
//   <${Status} word="ready" />           knows all states and outcomes; others: tone="good|quiet|busy|warn|bad" icon="…" (ui/icons.js)
//   <${Text} text=${s} lines />          draws ⟨U+200B⟩; lines keeps line ends (put it in <pre>)
//   <${Path} of="dev/files/" name="read" />   where room is short, the name stays longest
//   <${Json} value=${object} />          <${Sparkline} values=${[1, 2]} label="Calls a second" />
//   <${Duration} seconds=${s} />  <${Bytes} bytes=${n} />  <${Clock} at=${time} day />  <${Elapsed} since=${time} or until=${time} />
//   durationText(s), bytesText(n), numberText(n)
//   <${Empty} title="No recordings">what to do<//>   <${Problem} error=${err} />   <${Loading} what="Searching…" />
//   <${Command} text=${commandLine(pid, 'restart', 'dev/files')} />   commandLine quotes, and adds --pid where several run
//   if (await confirm({ title, body, command, action: 'Restart', danger: true })) await act(() => post(…), 'Restarted');
//     act shows an error of the action, and says whether it worked.
//   <${Dialog} title="…" onClose=${…} wide>…<//>   a modal dialog of your own: render it while it is open
//   notify('Saved'), announce('12 results')   a notice for a moment; only for screen readers
//   <${Icon} name="copy" />   a button with only an icon: class="icon-button" aria-label="…"
//   isNarrow.value   buttons: class="button", "button primary", "button danger", "link"; class="badge", "muted", "mono", "num", "chips", "pane"
//   useLoad(() => get(…), [dependencies]) → { value, error, isLoading, reload }   const [text, setText] = useFilter(params.q)
export * from './lib.js';
export { Icon } from './ui/icons.js';
export { Table, tableKey } from './ui/table.js';
export { Clock, Bytes, Duration, Elapsed, Json, Path, Sparkline, Status, Text, bytesText, durationText, numberText } from './ui/text.js';
export { Command, Confirm, Dialog, LiveRegion, Notices, act, announce, commandLine, configCommandLine, confirm, notify } from './ui/dialog.js';
export { Empty, Facts, Filter, Loading, Problem, Split, Tabs, isNarrow } from './ui/parts.js';
export { useFilter, useLoad } from './ui/load.js';
