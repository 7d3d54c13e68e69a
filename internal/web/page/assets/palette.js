// @ts-check
// The command palette and the help with the keys.
import { html, useId, useMemo, useRef, useState } from './lib.js';
import { overlay } from './keys.js';
import { navigate } from './router.js';
import { servers, stateOf, workbenches } from './store.js';
import { Dialog, Icon, Text } from './ui.js';
import { views } from './views/index.js';

const maxFound = 12;

/** @typedef {{id: string, title: string, note: string, icon: string, run: () => void}} Item */

/** @returns {Item[]} */
function items() {
  const many = workbenches.peek().length > 1;
  const all = views.map((view) => ({ id: view.id, title: view.title, note: `g ${view.key}`, icon: view.id, run: () => navigate(view.id) }));
  for (const row of servers.peek()) {
    const note = many ? `${stateOf(row)} · ${row.workbench}` : stateOf(row);
    all.push({ id: row.id, title: row.key, note, icon: 'servers', run: () => navigate('servers', [row.workbench, row.key]) });
    all.push({ id: `${row.id} calls`, title: `Calls of ${row.key}`, note: '', icon: 'calls', run: () => navigate('calls', [], { q: `${row.toolbox}/${row.server}` }) });
    all.push({ id: `${row.id} tools`, title: `Tools of ${row.key}`, note: '', icon: 'tools', run: () => navigate('tools', [row.workbench], { toolbox: row.toolbox, server: row.server }) });
  }
  return all;
}

/** @param {Item[]} all @param {string} text */
function search(all, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean), found = [];
  for (const item of all) {
    const title = item.title.toLowerCase();
    if (words.every((word) => title.includes(word))) found.push(item);
    if (found.length === maxFound) break;
  }
  return found;
}

function Palette() {
  const [text, setText] = useState(''), [at, setAt] = useState(0);
  const id = useId(), all = useMemo(items, []), found = useMemo(() => search(all, text), [all, text]);
  const list = useRef(/** @type {HTMLElement|null} */ (null));
  /** @param {Item|undefined} item */
  const run = (item) => {
    if (!item) return;
    overlay.value = '';
    item.run();
  };
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setAt((at + step + found.length) % Math.max(found.length, 1));
    else if (event.key === 'Enter') run(found[at]);
    else return;
    event.preventDefault();
  };
  return html`<${Dialog} title="Go to" onClose=${() => { overlay.value = ''; }}>
    <input type="text" class="palette-input" role="combobox" aria-expanded="true" aria-controls=${`${id}-list`} aria-activedescendant=${found[at] ? `${id}-${at}` : undefined}
      aria-label="A view or a server" placeholder="A view or a server" autofocus spellcheck=${false} autocomplete="off" value=${text}
      onInput=${(/** @type {any} */ event) => { setText(event.target.value); setAt(0); }} onKeyDown=${onKeyDown} />
    <div role="listbox" class="palette-list" id=${`${id}-list`} aria-label="Found" ref=${list}>
      ${found.map((item, n) => html`<div role="option" key=${item.id} id=${`${id}-${n}`} aria-selected=${String(n === at)} class="palette-item" onClick=${() => run(item)}>
        <${Icon} name=${item.icon} /><span><${Text} text=${item.title} /></span><span class="muted">${item.note}</span></div>`)}
    </div>
    ${!found.length && html`<p class="muted">Nothing has all of these words.</p>`}
  <//>`;
}

const keys = [
  ['/', 'Filter the list'], ['j k ↓ ↑', 'Move in the list'], ['Enter', 'Open'], ['Esc', 'Close'], ['Ctrl K', 'Go to a view or a server'], ['?', 'This help'],
];

const Help = () => html`<${Dialog} title="Keys" onClose=${() => { overlay.value = ''; }}>
  <dl class="keys">${[...keys, ...views.map((view) => [`g ${view.key}`, view.title])].map(([key, what]) => html`
    <div key=${key}><dt>${key.split(' ').map((one) => html`<kbd>${one}</kbd>`)}</dt><dd>${what}</dd></div>`)}</dl>
<//>`;

/** What is open over the page. */
export function Overlay() {
  if (overlay.value === 'palette') return html`<${Palette} />`;
  return overlay.value === 'help' ? html`<${Help} />` : null;
}
