// @ts-check
// The icons: paths in a square of 16, drawn with the colour of the text.
import { html } from '../lib.js';

const paths = {
  ok: 'M3 8.5l3.2 3.2L13 4.8',
  error: 'M4 4l8 8M12 4l-8 8',
  warning: 'M8 2.2L14.4 13.5H1.6zM8 6.5v3.2M8 11.4v.4',
  idle: 'M8 3a5 5 0 1 0 0 10a5 5 0 1 0 0-10',
  starting: 'M8 2.5a5.5 5.5 0 1 1-5.2 3.7M8 5v3.2l2.2 1.4',
  stopping: 'M4.5 4.5h7v7h-7z',
  key: 'M10.5 2.5a3 3 0 1 0 0 6a3 3 0 1 0 0-6M8.3 7.7L2.5 13.5M4.5 11.5l2 2',
  question: 'M5.8 6a2.3 2.3 0 1 1 3.4 2c-.8.5-1.2.9-1.2 1.8M8 12.2v.4',
  refused: 'M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M4.2 4.2l7.6 7.6',
  cancelled: 'M4 8h8',
  servers: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.1M5 11h.1',
  calls: 'M2 5.5h11M10 2.5l3 3l-3 3M14 10.5H3M6 7.5l-3 3l3 3',
  tools: 'M10.2 2.6a3.4 3.4 0 0 0-3.9 4.6L2.4 11a1.6 1.6 0 0 0 2.4 2.4l3.9-3.9a3.4 3.4 0 0 0 4.5-4l-2 2l-2-.6l-.5-2z',
  toolboxes: 'M2 6h12v7H2zM5.5 6V3.5h5V6M2 9h12M8 8v2',
  changes: 'M8 2.5v6M5 5.5h6M5 12.5h6',
  questions: 'M2.5 3h11v8H8l-3 2.5V11H2.5zM6.6 5.8a1.4 1.4 0 1 1 2 1.2c-.4.3-.6.4-.6.9M8 9.2v.2',
  clients: 'M8 2.5a2.6 2.6 0 1 0 0 5.2a2.6 2.6 0 1 0 0-5.2M3 13.5c.4-2.8 2.4-4 5-4s4.6 1.2 5 4',
  logins: 'M10.5 2.5a3 3 0 1 0 0 6a3 3 0 1 0 0-6M8.3 7.7L2.5 13.5M4.5 11.5l2 2',
  recordings: 'M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M8 6a2 2 0 1 0 0 4a2 2 0 1 0 0-4',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  close: 'M4 4l8 8M12 4l-8 8',
  up: 'M8 12.5V3.5M4.5 7L8 3.5L11.5 7',
  down: 'M8 3.5v9M4.5 9L8 12.5L11.5 9',
  more: 'M3.5 8h.1M8 8h.1M12.5 8h.1',
  back: 'M12.5 8h-9M7 4.5L3.5 8L7 11.5',
  restart: 'M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3',
  play: 'M5 3.5l7 4.5l-7 4.5z',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9M10.3 10.3l3.2 3.2',
  link: 'M6.5 9.5l3-3M7 4.5l1-1a3 3 0 0 1 4.5 4.5l-1 1M9 11.5l-1 1a3 3 0 0 1-4.5-4.5l1-1',
};

/** An icon. It means nothing to a screen reader: a word must stand beside it. @param {{name: string}} props */
export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false"><path d=${paths[/** @type {keyof typeof paths} */ (name)] ?? paths.idle} /></svg>`;
}
