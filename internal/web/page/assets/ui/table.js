// @ts-check
// A table that draws only the rows in sight, whatever their number. See ui.js for how to use it.
import { html, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from '../lib.js';
import { Icon } from './icons.js';
import { isNarrow } from './parts.js';

const overscan = 6; // rows drawn above and below those in sight
const sortPause = 2000; // ms; rows that change all the time would jump
const heights = { wide: 34, narrow: 58 };
const headHeight = 32; // it stays at the top of the wide table

/**
 * @typedef {object} Column
 * @property {string} id
 * @property {string} title
 * @property {(row: any) => any} cell
 * @property {(row: any) => string|number} [sort] its key, if it can be sorted by this column
 * @property {boolean} [down] sorts the highest first
 * @property {string} [width] of a grid track: "6rem", "minmax(8rem, 2fr)"; default "1fr"
 * @property {boolean} [end] aligned to the right, for numbers
 * @property {"main"|"side"|"sub"} [narrow] where it is on a narrow screen; without it, it is left out there
 * @property {number} [from] left out where the table is narrower, in px
 */

/** Tables on the page, the newest last: keys of the whole page go to that one. @type {((key: string) => boolean)[]} */
const listening = [];
/** Passes a key to the table; says whether it used it. @param {string} key */
export const tableKey = (key) => listening.at(-1)?.(key) ?? false;

/** @param {string|number} a @param {string|number} b @param {boolean} down */
const compare = (a, b, down) => (a === b ? 0 : (a < b) === down ? 1 : -1);

/** Puts new rows between those that are there, which keep their order. @param {any[]} known @param {any[]} more in order @param {(a: any, b: any) => number} order */
function merged(known, more, order) {
  if (!more.length) return known;
  const all = [];
  let next = 0;
  for (const row of known) {
    while (next < more.length && order(more[next], row) < 0) all.push(more[next++]);
    all.push(row);
  }
  return [...all, ...more.slice(next)];
}

/**
 * Sorts rows. Their order stays for a moment while only their content changes; rows that are new are sorted in.
 * @param {any[]|undefined} rows @param {Column|undefined} column @param {boolean} down @param {(row: any) => string} rowKey
 */
function useSorted(rows, column, down, rowKey) {
  const former = useRef({ by: '', at: 0, ranks: /** @type {Map<string, number>} */ (new Map()) });
  return useMemo(() => {
    if (!rows || !column?.sort) return rows;
    const last = former.current, by = `${column.id} ${down}`, time = Date.now(), key = column.sort;
    /** @param {any[]} list */
    const inOrder = (list) => list.map((row) => ({ row, key: key(row) })).sort((a, b) => compare(a.key, b.key, down)).map((one) => one.row);
    const isPaused = last.by === by && time - last.at < sortPause;
    let sorted;
    if (isPaused) {
      const rank = (/** @type {any} */ row) => last.ranks.get(rowKey(row));
      const known = rows.map((row) => ({ row, rank: rank(row) ?? -1 })).filter((one) => one.rank >= 0).sort((a, b) => a.rank - b.rank).map((one) => one.row);
      sorted = merged(known, inOrder(rows.filter((row) => rank(row) === undefined)), (a, b) => compare(key(a), key(b), down));
    } else sorted = inOrder(rows);
    former.current = { by, at: isPaused ? last.at : time, ranks: new Map(sorted.map((row, n) => [rowKey(row), n])) };
    return sorted;
  }, [rows, column?.id, down]);
}

/** @param {import('preact').RefObject<HTMLElement>} body @param {number} height of a row @param {number} count */
function useWindow(body, height, count) {
  const [seen, setSeen] = useState({ top: 0, size: 600, width: 1000 });
  useLayoutEffect(() => {
    const box = /** @type {HTMLElement} */ (body.current);
    let frame = 0;
    const measure = () => {
      frame = 0;
      const next = { top: box.scrollTop, size: box.clientHeight, width: box.clientWidth };
      setSeen((was) => (was.top === next.top && was.size === next.size && was.width === next.width ? was : next));
    };
    const soon = () => { frame ||= requestAnimationFrame(measure); };
    const sizes = new ResizeObserver(soon);
    sizes.observe(box);
    box.addEventListener('scroll', soon, { passive: true });
    measure();
    return () => { sizes.disconnect(); box.removeEventListener('scroll', soon); cancelAnimationFrame(frame); };
  }, []);
  const from = Math.max(0, Math.floor(seen.top / height) - overscan);
  const to = Math.min(count, Math.ceil((seen.top + seen.size) / height) + overscan);
  return { from: Math.min(from, to), to, width: seen.width, page: Math.max(1, Math.floor(seen.size / height) - 1) };
}

/** @param {{row: any, columns: Column[], narrow: boolean}} props */
function Cells({ row, columns, narrow }) {
  if (row === undefined) return html`<span role="gridcell" class="cell muted">…</span>`;
  const cell = (/** @type {Column} */ column) => html`<span role="gridcell" key=${column.id} class=${column.end ? 'cell end' : 'cell'}>${column.cell(row)}</span>`;
  if (!narrow) return columns.map(cell);
  const place = (/** @type {string} */ where) => columns.filter((column) => column.narrow === where).map(cell);
  return [html`<span class="line main" role="none">${place('main')}${place('side')}</span>`, html`<span class="line sub" role="none">${place('sub')}</span>`];
}

/** @param {{columns: Column[], by: string|undefined, down: boolean, onSort: (column: Column) => void, tracks: string}} props */
function Head({ columns, by, down, onSort, tracks }) {
  const title = (/** @type {Column} */ column) => {
    if (!column.sort) return column.title;
    return html`<button type="button" tabindex="-1" onClick=${() => onSort(column)}>${column.title}${column.id === by && html`<${Icon} name=${down ? 'down' : 'up'} />`}</button>`;
  };
  return html`<div class="table-head" role="row" aria-rowindex="1" style=${{ gridTemplateColumns: tracks }}>${columns.map((column) => html`
    <span role="columnheader" key=${column.id} class=${column.end ? 'cell end' : 'cell'} aria-sort=${column.id === by ? (down ? 'descending' : 'ascending') : undefined}>${title(column)}</span>`)}</div>`;
}

/** The choice of the order on a narrow screen, where there are no column headers. @param {{columns: Column[], by: string|undefined, down: boolean, onSort: (column: Column) => void}} props */
function SortChoice({ columns, by, down, onSort }) {
  const sortable = columns.filter((column) => column.sort);
  if (!sortable.length) return null;
  const onChange = (/** @type {any} */ event) => {
    const column = sortable.find((one) => one.id === event.target.value);
    if (column) onSort(column);
  };
  const current = sortable.find((one) => one.id === by);
  return html`<div class="sort-choice"><label>Sort by <select onChange=${onChange} value=${by ?? ''}>${!current && html`<option value="">–</option>`}${sortable.map((column) => html`<option value=${column.id}>${column.title}</option>`)}</select></label>
    ${current && html`<button type="button" class="icon-button" aria-label=${down ? 'Sort ascending' : 'Sort descending'} onClick=${() => onSort(current)}><${Icon} name=${down ? 'down' : 'up'} /></button>`}</div>`;
}

/**
 * @param {{label: string, columns: Column[], rows?: any[], count?: number, rowAt?: (index: number) => any, onRange?: (from: number, to: number) => void,
 *   rowKey?: (row: any) => string, rowClass?: (row: any) => string, selected?: string, onOpen?: (row: any) => void, sort?: {by: string, down?: boolean}, empty?: any}} props
 */
export function Table({ label, columns, rows, count, rowAt, onRange, rowKey = (row) => row.id, rowClass, selected, onOpen, sort, empty }) {
  const id = useId(), body = useRef(/** @type {any} */ (null));
  const [order, setOrder] = useState({ by: sort?.by, down: sort?.down ?? false });
  const [active, setActive] = useState(/** @type {{key: string|undefined, index: number}} */ ({ key: selected, index: -1 }));
  const narrow = isNarrow.value;
  const sorted = useSorted(rows, columns.find((column) => column.id === order.by), order.down, rowKey);
  const all = sorted?.length ?? count ?? 0, height = narrow ? heights.narrow : heights.wide;
  const rowOf = sorted ? (/** @type {number} */ index) => sorted[index] : /** @type {(index: number) => any} */ (rowAt);
  const { from, to, width, page } = useWindow(body, height, all);
  const shown = narrow ? columns : columns.filter((column) => !column.from || width >= column.from);
  const tracks = shown.map((column) => column.width ?? 'minmax(0, 1fr)').join(' ');
  useEffect(() => { onRange?.(from, to); }, [from, to, onRange]);

  // The row that keys act on keeps its key when rows move; a row out of sight has only its number.
  const indexOfActive = () => {
    if (active.key === undefined) return -1;
    if (sorted) return sorted.findIndex((row) => rowKey(row) === active.key);
    return Math.min(active.index, all - 1);
  };
  const at = indexOfActive();
  const show = (/** @type {number} */ index) => {
    const box = body.current, top = index * height, size = box.clientHeight - (narrow ? 0 : headHeight);
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + height > box.scrollTop + size) box.scrollTop = top + height - size;
  };
  const select = (/** @type {number} */ index) => {
    const to = Math.max(0, Math.min(index, all - 1)), row = rowOf(to);
    setActive({ key: row === undefined ? `#${to}` : rowKey(row), index: to });
    show(to);
  };
  // What was opened from elsewhere is brought into sight, once.
  const isThere = selected !== undefined && sorted !== undefined && sorted.length > 0;
  useEffect(() => {
    const index = isThere ? sorted.findIndex((row) => rowKey(row) === selected) : -1;
    if (index < 0) return;
    setActive({ key: selected, index });
    show(index);
  }, [selected, isThere]);
  const onKey = (/** @type {string} */ key) => {
    if (!all) return false;
    switch (key) {
      case 'j': case 'ArrowDown': select(at + 1); return true;
      case 'k': case 'ArrowUp': select(at < 0 ? 0 : at - 1); return true;
      case 'PageDown': select(at + page); return true;
      case 'PageUp': select(at - page); return true;
      case 'Home': select(0); return true;
      case 'End': select(all - 1); return true;
      case 'Enter': {
        const row = at >= 0 ? rowOf(at) : undefined;
        if (row !== undefined) onOpen?.(row);
        return row !== undefined;
      }
    }
    return false;
  };
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    const listener = (/** @type {string} */ key) => latest.current(key);
    listening.push(listener);
    return () => { listening.splice(listening.indexOf(listener), 1); };
  }, []);
  const onSort = (/** @type {Column} */ column) => setOrder((was) => (was.by === column.id ? { by: column.id, down: !was.down } : { by: column.id, down: column.down ?? false }));

  const drawn = [];
  for (let index = from; index < to; index++) {
    const row = rowOf(index), key = row === undefined ? `#${index}` : rowKey(row);
    drawn.push(html`<div role="row" key=${key} id=${`${id}-${index}`} aria-rowindex=${index + 2} aria-selected=${String(key === selected)}
      class=${`row${index === at ? ' active' : ''}${key === selected ? ' selected' : ''} ${row !== undefined && rowClass ? rowClass(row) : ''}`}
      style=${{ gridTemplateColumns: narrow ? '' : tracks, transform: `translateY(${index * height}px)` }}
      onClick=${() => { if (row !== undefined) { setActive({ key, index }); onOpen?.(row); } }}><${Cells} row=${row} columns=${shown} narrow=${narrow} /></div>`);
  }
  return html`<div class=${narrow ? 'table narrow' : 'table'}>
    ${narrow && html`<${SortChoice} columns=${columns} by=${order.by} down=${order.down} onSort=${onSort} />`}
    <div role="grid" class=${all ? 'grid' : 'grid none'} aria-label=${label} aria-rowcount=${all + 1} aria-colcount=${shown.length} tabindex="0" ref=${body} aria-activedescendant=${at >= from && at < to ? `${id}-${at}` : undefined}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => { if (!event.ctrlKey && !event.metaKey && !event.altKey && event.target === event.currentTarget && onKey(event.key)) { event.preventDefault(); event.stopPropagation(); } }}>
      ${!narrow && html`<${Head} columns=${shown} by=${order.by} down=${order.down} onSort=${onSort} tracks=${tracks} />`}
      <div class="table-body" role="rowgroup">
        <div class="table-space" role="none" style=${{ height: `${all * height}px` }}>${drawn}</div>
      </div>
    </div>
    ${!all && html`<div class="table-empty">${empty}</div>`}
  </div>`;
}
