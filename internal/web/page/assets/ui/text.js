// @ts-check
// How texts, numbers and states look.
import { html, useMemo } from '../lib.js';
import { now } from '../store.js';
import { Icon } from './icons.js';

// What people cannot see, but a model reads: control and format characters, odd spaces and fillers, variation selectors.
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\u00a0\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/gu;

/** @param {string} char */
const drawn = (char) => `⟨U+${/** @type {number} */ (char.codePointAt(0)).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/**
 * A text of a server or client, with what is invisible in it drawn as ⟨U+200B⟩.
 * @param {{text?: string, lines?: boolean}} props lines: line ends and tabs are kept
 */
export function Text({ text = '', lines = false }) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(invisible)) {
    if (lines && (found[0] === '\n' || found[0] === '\t')) continue;
    if (found.index > end) parts.push(text.slice(end, found.index));
    parts.push(html`<span class="invisible">${drawn(found[0])}</span>`);
    end = found.index + found[0].length;
  }
  if (!parts.length) return text;
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

/** @param {number|undefined} seconds */
export function durationText(seconds) {
  if (seconds === undefined || Number.isNaN(seconds)) return '–';
  if (seconds === 0) return '0';
  if (seconds < 0.00095) return `${Math.max(Math.round(seconds * 1e6), 1)} µs`;
  if (seconds < 0.00995) return `${(seconds * 1e3).toFixed(1)} ms`;
  if (seconds < 0.9995) return `${Math.round(seconds * 1e3)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(seconds < 9.95 ? 1 : 0)} s`;
  const all = Math.round(seconds), minutes = Math.floor(all / 60), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);
  if (hours < 1) return `${minutes}m ${all % 60}s`;
  if (days < 1) return `${hours}h ${minutes % 60}m`;
  return `${days}d ${hours % 24}h`;
}

/** @param {{seconds?: number}} props */
export const Duration = ({ seconds }) => html`<span class="num">${durationText(seconds)}</span>`;

/** @param {number|undefined} bytes */
export function bytesText(bytes) {
  if (bytes === undefined) return '–';
  if (bytes < 1000) return `${bytes} B`;
  const units = ['KB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000, unit = 0;
  while (value >= 999.5 && unit < units.length - 1) { value /= 1000; unit++; }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** @param {{bytes?: number}} props */
export const Bytes = ({ bytes }) => html`<span class="num">${bytesText(bytes)}</span>`;

const numbers = new Intl.NumberFormat('en');
/** @param {number|undefined} value */
export const numberText = (value) => (value === undefined ? '–' : numbers.format(value));

/**
 * A name with what it is of, such as TOOLBOX/SERVER/ and TOOL. Where room is short, the name stays longest.
 * @param {{of: string, name: string}} props
 */
export const Path = ({ of, name }) => html`<span class="path"><span class="muted"><${Text} text=${of} /></span><span><${Text} text=${name} /></span></span>`;

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

const dated = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/** The time of a day; the date is its tooltip, and with day it is there, too, unless it is today. @param {{at: string|number, day?: boolean}} props */
export function Clock({ at, day = false }) {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return '–';
  return html`<time class="num" datetime=${time.toISOString()} title=${full.format(time)}>${(day && time.toDateString() !== new Date().toDateString() ? dated : clock).format(time)}</time>`;
}

/** How long something lasts by now, or how long until it happens. It counts on. @param {{since?: string|number, until?: string|number}} props */
export function Elapsed({ since, until }) {
  const from = new Date(/** @type {any} */ (since ?? until)).getTime();
  const seconds = Math.max(0, since !== undefined ? (now.value - from) / 1000 : (from - now.value) / 1000);
  return html`<span class="num">${seconds < 1 ? '0 s' : durationText(seconds < 60 ? Math.floor(seconds) : seconds)}</span>`;
}

/** How a state or an outcome looks: tone, icon. */
const looks = /** @type {Record<string, [string, string]>} */ ({
  ready: ['good', 'ok'], idle: ['quiet', 'idle'], starting: ['busy', 'starting'], stopping: ['quiet', 'stopping'],
  'backing off': ['warn', 'warning'], 'login needed': ['warn', 'key'], faulty: ['bad', 'error'],
  ok: ['good', 'ok'], 'tool error': ['bad', 'error'], 'JSON-RPC error': ['bad', 'error'], failed: ['bad', 'error'],
  refused: ['warn', 'refused'], cancelled: ['quiet', 'cancelled'], 'input required': ['busy', 'question'],
  running: ['busy', 'starting'], done: ['good', 'ok'], 'logged in': ['good', 'ok'], expired: ['warn', 'warning'],
  live: ['good', 'ok'], connecting: ['busy', 'starting'], 'reconnecting…': ['warn', 'warning'], 'not connected': ['bad', 'error'],
});

/**
 * A state: icon and word. Words that it knows have their look; others give a tone (good, quiet, busy, warn, bad) and an icon.
 * @param {{word: string, tone?: string, icon?: string, children?: any}} props
 */
export function Status({ word, tone, icon, children }) {
  const look = looks[word] ?? ['quiet', 'idle'];
  return html`<span class=${`status tone-${tone ?? look[0]}`}><${Icon} name=${icon ?? look[1]} /><span>${children ?? word}</span></span>`;
}

const maxJson = 200_000; // characters that are drawn
const maxDepth = 60;

/** A value as indented JSON, with invisible characters drawn. @param {{value: any}} props */
export function Json({ value }) {
  const tokens = useMemo(() => {
    const out = /** @type {any[]} */ ([]);
    let size = 0;
    /** @param {string} kind @param {string} text */
    const put = (kind, text) => {
      size += text.length;
      out.push(kind ? html`<span class=${`json-${kind}`}><${Text} text=${text} lines /></span>` : text);
    };
    /** @param {any} part @param {number} depth */
    const draw = (part, depth) => {
      if (size > maxJson) return;
      if (part === null || typeof part !== 'object') {
        put(typeof part === 'string' ? 'string' : 'value', JSON.stringify(part) ?? 'undefined');
        return;
      }
      const isList = Array.isArray(part), entries = isList ? part : Object.entries(part);
      const [open, close] = isList ? '[]' : '{}';
      if (!entries.length || depth > maxDepth) { put('', open + (entries.length ? '…' : '') + close); return; }
      put('', open);
      for (const [n, entry] of entries.entries()) {
        if (size > maxJson) break;
        put('', `${n ? ',' : ''}\n${'  '.repeat(depth + 1)}`);
        if (!isList) { put('key', JSON.stringify(entry[0])); put('', ': '); }
        draw(isList ? entry : entry[1], depth + 1);
      }
      put('', `\n${'  '.repeat(depth)}${close}`);
    };
    draw(value, 0);
    if (size > maxJson) out.push(html`<span class="muted">${'\n'}… the rest is not shown</span>`);
    return out;
  }, [value]);
  return html`<pre class="json" tabindex="0">${tokens}</pre>`;
}

/** The line of a small chart, from 0 to its highest value. @param {{values: number[], label: string}} props */
export function Sparkline({ values, label }) {
  const most = Math.max(...values, 0), top = Math.max(most, 1), step = 60 / Math.max(values.length - 1, 1);
  const path = values.map((value, n) => `${n ? 'L' : 'M'}${(n * step).toFixed(1)} ${(15 - 14 * value / top).toFixed(1)}`).join('');
  return html`<svg class=${most ? 'spark' : 'spark flat'} viewBox="0 0 60 16" preserveAspectRatio="none" role="img" aria-label=${label}><path d=${path} /></svg>`;
}
