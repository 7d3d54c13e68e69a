// @ts-check
// Small parts of views.
import { html, signal, useEffect, useId, useRef, useState } from '../lib.js';
import { Icon } from './icons.js';

const narrowScreen = matchMedia('(max-width: 720px)');
/** Whether there is little room: views show one pane, tables two lines a row. */
export const isNarrow = signal(narrowScreen.matches);
narrowScreen.addEventListener('change', () => { isNarrow.value = narrowScreen.matches; });

/** What to see where there is nothing. @param {{title: string, children?: any}} props */
export const Empty = ({ title, children }) => html`<div class="empty"><h2>${title}</h2>${children}</div>`;

/**
 * A problem: what happened, and where to go next. Takes an error, or texts.
 * @param {{error?: any, title?: string, hint?: string, children?: any}} props
 */
export function Problem({ error, title, hint, children }) {
  return html`<div class="problem-box" role="alert"><${Icon} name="warning" /><div>
    <strong>${title ?? error?.message ?? String(error)}</strong>
    ${(hint ?? error?.hint) && html`<p>${hint ?? error.hint}</p>`}${children}
    ${error?.code && html`<p class="muted">Code ${error.code}</p>`}
  </div></div>`;
}

export const Loading = ({ what = 'Loading…' }) => html`<p class="loading" role="status">${what}</p>`;

/**
 * Tabs. Arrow keys move between them.
 * @param {{label: string, tabs: {id: string, title: any, content: () => any}[], selected?: string, onSelect?: (id: string) => void}} props
 */
export function Tabs({ label, tabs, selected, onSelect }) {
  const [own, setOwn] = useState(tabs[0]?.id);
  const id = useId(), list = useRef(/** @type {HTMLElement|null} */ (null));
  const current = tabs.find((tab) => tab.id === (selected ?? own)) ?? tabs[0];
  /** @param {string} to */
  const select = (to) => { setOwn(to); onSelect?.(to); };
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const to = (tabs.indexOf(current) + step + tabs.length) % tabs.length;
    select(tabs[to].id);
    /** @type {HTMLElement} */ (list.current?.children[to])?.focus();
  };
  return html`<div class="tabs">
    <div class="tab-list" role="tablist" aria-label=${label} ref=${list} onKeyDown=${onKeyDown}>
      ${tabs.map((tab) => html`<button type="button" role="tab" key=${tab.id} id=${`${id}-${tab.id}`} aria-selected=${String(tab === current)}
        aria-controls=${tab === current ? `${id}-panel` : undefined} tabindex=${tab === current ? 0 : -1} onClick=${() => select(tab.id)}>${tab.title}</button>`)}
    </div>
    <div class="tab-panel" role="tabpanel" id=${`${id}-panel`} aria-labelledby=${`${id}-${current.id}`} tabindex="0">${current.content()}</div>
  </div>`;
}

/**
 * The box that filters a list. The key / goes to it, Esc empties it.
 * @param {{value: string, onInput: (text: string) => void, label: string}} props
 */
export function Filter({ value, onInput, label }) {
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    if (event.key !== 'Escape' && event.key !== 'Enter') return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Escape' && value) onInput('');
    else {
      /** @type {HTMLElement} */ (event.target).blur();
      /** @type {HTMLElement|null} */ (document.querySelector('[role=grid]'))?.focus();
    }
  };
  return html`<label class="filter"><${Icon} name="search" /><input type="search" data-filter value=${value} placeholder=${label} aria-label=${label}
    spellcheck=${false} autocomplete="off" onKeyDown=${onKeyDown} onInput=${(/** @type {any} */ event) => onInput(event.target.value)} /><kbd aria-hidden="true">/</kbd></label>`;
}

/**
 * A list and, beside it or over it, what is open. Esc closes it.
 * @param {{children?: any, detail?: any, title?: any, onClose: () => void}} props detail: nothing if nothing is open
 */
export function Split({ children, detail, title, onClose }) {
  const isOpen = Boolean(detail), heading = useRef(/** @type {HTMLElement|null} */ (null));
  const key = typeof title === 'string' ? title : '';
  useEffect(() => { if (isOpen && isNarrow.peek()) heading.current?.focus(); }, [isOpen, key]);
  return html`<div class=${isOpen ? 'split open' : 'split'}>
    <div class="split-list">${children}</div>
    ${isOpen && html`<section class="detail" aria-label=${key || 'Details'}>
      <header><h2 tabindex="-1" ref=${heading}>${title}</h2><button type="button" class="icon-button" data-close onClick=${onClose} aria-label="Close the details"><${Icon} name="close" /></button></header>
      <div class="detail-body">${detail}</div>
    </section>`}
  </div>`;
}

/** Pairs of a name and a value; those without a value are left out. @param {{pairs: [string, any][]}} props */
export const Facts = ({ pairs }) => html`<dl class="facts">${pairs.filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false)
  .map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
