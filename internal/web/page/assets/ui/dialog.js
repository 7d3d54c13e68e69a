// @ts-check
// Dialogs, notices, and what a screen reader says.
import { html, signal, useEffect, useId, useRef, useState } from '../lib.js';
import { ApiError } from '../api.js';
import { workbenches } from '../store.js';
import { Icon } from './icons.js';
import { Text } from './text.js';

/** @param {string} word */
const quote = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/**
 * A command line of mcp-workbench for a shell. It names the workbench where several run.
 * @param {number|undefined} pid @param {...(string|number)} words
 */
export function commandLine(pid, ...words) {
  const all = ['mcp-workbench', ...words.map((word) => quote(String(word)))];
  if (pid !== undefined && workbenches.value.length > 1) all.push('--pid', String(pid));
  return all.join(' ');
}

const usualFile = 'workbench-config.json'; // which commands find by themselves, where they are told no other

/**
 * A command line that reads the configuration instead of asking a workbench. It names the file where the workbench was told one.
 * @param {number} pid @param {...(string|number)} words
 */
export function configCommandLine(pid, ...words) {
  const file = workbenches.value.find((one) => one.pid === pid)?.config ?? '';
  return commandLine(undefined, ...(file && file.split(/[/\\]/).at(-1) !== usualFile ? ['--config', file] : []), ...words);
}

/** A command line to copy. @param {{text: string}} props */
export function Command({ text }) {
  const [isCopied, setCopied] = useState(false);
  const code = useRef(/** @type {HTMLElement|null} */ (null));
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      announce('Copied');
    } catch { // there is no clipboard: select it, so that the person can copy
      if (code.current) getSelection()?.selectAllChildren(code.current);
    }
  };
  return html`<div class="command">
    <code ref=${code} tabindex="0"><${Text} text=${text} /></code>
    <button type="button" class="icon-button" onClick=${copy} aria-label=${isCopied ? 'Copied' : 'Copy the command'} title="Copy"><${Icon} name=${isCopied ? 'ok' : 'copy'} /></button>
  </div>`;
}

/**
 * A modal dialog. Esc and the backdrop close it.
 * @param {{title: string, onClose: () => void, wide?: boolean, children?: any}} props
 */
export function Dialog({ title, onClose, wide = false, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement|null} */ (null));
  const id = useId();
  useEffect(() => {
    const former = document.activeElement;
    dialog.current?.showModal();
    return () => { if (former instanceof HTMLElement && former.isConnected) former.focus(); };
  }, []);
  /** @param {MouseEvent} event */
  const onClick = (event) => { if (event.target === dialog.current) onClose(); };
  return html`<dialog ref=${dialog} class=${wide ? 'dialog wide' : 'dialog'} aria-labelledby=${id} onClick=${onClick}
    onCancel=${(/** @type {Event} */ event) => { event.preventDefault(); onClose(); }}>
    <div class="dialog-inside">
      <header><h2 id=${id}>${title}</h2><button type="button" class="icon-button" onClick=${onClose} aria-label="Close"><${Icon} name="close" /></button></header>
      ${children}
    </div>
  </dialog>`;
}

/** @typedef {{title: string, body?: any, command?: string, action: string, keep?: string, danger?: boolean}} Asked keep: of the button that does nothing; default "Cancel" */
/** @type {import('@preact/signals').Signal<(Asked & {done: (yes: boolean) => void})|null>} */
const asked = signal(null);

/** Asks the person, and says whether the answer is yes. @param {Asked} what @returns {Promise<boolean>} */
export function confirm(what) {
  asked.value?.done(false);
  return new Promise((resolve) => {
    asked.value = { ...what, done: (yes) => { asked.value = null; resolve(yes); } };
  });
}

/** The dialog of confirm; the page has it once. */
export function Confirm() {
  const what = asked.value;
  if (!what) return null;
  return html`<${Dialog} title=${what.title} onClose=${() => what.done(false)}>
    ${what.body && html`<div class="dialog-body">${what.body}</div>`}
    ${what.command && html`<p class="muted">The command that does the same:</p><${Command} text=${what.command} />`}
    <footer>
      <button type="button" class="button" onClick=${() => what.done(false)}>${what.keep ?? 'Cancel'}</button>
      <button type="button" class=${what.danger ? 'button danger' : 'button primary'} onClick=${() => what.done(true)}>${what.action}</button>
    </footer>
  <//>`;
}

const spoken = signal('');
/** Has a screen reader say something when it has time. @param {string} text */
export function announce(text) {
  spoken.value = '';
  requestAnimationFrame(() => { spoken.value = text; });
}
export const LiveRegion = () => html`<div class="unseen" role="status" aria-live="polite">${spoken}</div>`;

/** @type {import('@preact/signals').Signal<{id: number, text: string, hint: string, isProblem: boolean}[]>} */
const notices = signal([]);
let lastNotice = 0;
const noticeTime = 4000, maxNotices = 4;

/** Shows a short notice for a moment; a problem stays until it is closed. @param {string} text @param {{hint?: string, isProblem?: boolean}} [how] */
export function notify(text, { hint = '', isProblem = false } = {}) {
  const id = ++lastNotice;
  notices.value = [...notices.value, { id, text, hint, isProblem }].slice(-maxNotices);
  announce(hint ? `${text}. ${hint}` : text);
  if (!isProblem) setTimeout(() => closeNotice(id), noticeTime);
}
/** @param {number} id */
const closeNotice = (id) => { notices.value = notices.value.filter((one) => one.id !== id); };

export const Notices = () => notices.value.length > 0 && html`<div class="notices" role="region" aria-label="Notices">${notices.value.map((one) => html`
  <div key=${one.id} class=${one.isProblem ? 'notice problem' : 'notice'}>
    <div><strong>${one.text}</strong>${one.hint && html`<p>${one.hint}</p>`}</div>
    <button type="button" class="icon-button" onClick=${() => closeNotice(one.id)} aria-label="Close the notice"><${Icon} name="close" /></button>
  </div>`)}</div>`;

/**
 * Does something that the person asked for, and shows how it ended. Says whether it worked.
 * @param {() => Promise<any>} action @param {string} [done] what to show if it worked
 */
export async function act(action, done) {
  try {
    await action();
    if (done) notify(done);
    return true;
  } catch (err) {
    notify(err instanceof Error ? err.message : String(err), { hint: err instanceof ApiError ? err.hint : '', isProblem: true });
    return false;
  }
}
