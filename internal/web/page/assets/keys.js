// @ts-check
// The keys of the whole page. None of them counts while somebody types.
import { signal } from './lib.js';
import { navigate } from './router.js';
import { tableKey } from './ui/table.js';
import { views } from './views/index.js';

/** What is open over the page: "", "palette", "help" or "menu". */
export const overlay = signal('');
const sequenceTime = 1500; // ms between g and the next key
let sequenceEnds = 0;

/** @param {EventTarget|null} target */
function isTyping(target) {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input:not([type=checkbox]):not([type=radio]):not([type=range]), textarea, select'));
}

/** Elements that use Enter, Space or arrows themselves. @param {EventTarget|null} target */
const isControl = (target) => target instanceof HTMLElement && target.matches('button, a, summary, input, [role=tab], [contenteditable]');

/** @param {string} key of a sequence g KEY */
function go(key) {
  const view = views.find((one) => one.key === key);
  if (view) navigate(view.id);
  return view !== undefined;
}

/** @param {KeyboardEvent} event */
function used(event) {
  const { key, target } = event;
  if (sequenceEnds > event.timeStamp) {
    sequenceEnds = 0;
    if (go(key)) return true;
  }
  switch (key) {
    case 'g': sequenceEnds = event.timeStamp + sequenceTime; return true;
    case '?': overlay.value = 'help'; return true;
    case '/': {
      const filter = /** @type {HTMLInputElement|null} */ (document.querySelector('[data-filter]'));
      filter?.focus();
      filter?.select();
      return filter !== null;
    }
    case 'Escape': {
      const close = /** @type {HTMLElement|null} */ (document.querySelector('[data-close]'));
      close?.click();
      if (close) /** @type {HTMLElement|null} */ (document.querySelector('[role=grid]'))?.focus();
      return close !== null;
    }
    case 'Enter': return !isControl(target) && tableKey(key);
    case 'j': case 'k': return tableKey(key);
    case 'ArrowDown': case 'ArrowUp': return (target === document.body || target === null) && tableKey(key);
  }
  return false;
}

export function listenToKeys() {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      overlay.value = overlay.value === 'palette' ? '' : 'palette';
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector('dialog[open]')) return;
    if (used(event)) event.preventDefault();
  });
}
