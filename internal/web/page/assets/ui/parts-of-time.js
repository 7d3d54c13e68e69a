// @ts-check
// Where the time of a call went.
import { html } from '../lib.js';
import { durationText } from './text.js';

/** The four parts of a call: a name, a class, and its seconds. */
export const timeParts = /** @type {[string, string, (call: any) => number][]} */ ([
  ['workbench', 'part-1', (call) => call.workbench_seconds], ['start of the server', 'part-2', (call) => call.start_seconds],
  ['server', 'part-3', (call) => call.server_seconds], ['a person', 'part-4', (call) => call.waited_seconds],
]);

/** @param {any} call */
const inWords = (call) => timeParts.filter(([, , of]) => of(call) > 0).map(([name, , of]) => `${name} ${durationText(of(call))}`).join(', ');

/**
 * The parts as one bar. A part that is there has at least a sliver.
 * @param {{call: any, scale?: number}} props scale: the seconds of the full width; its own time without it
 */
export function TimeBar({ call, scale }) {
  const whole = scale || call.took_seconds || 1;
  let left = 0;
  const parts = timeParts.map(([name, look, of]) => {
    const width = of(call) > 0 ? Math.min(Math.max(100 * of(call) / whole, 0.8), 100 - left) : 0, from = left;
    left += width;
    return width > 0 && html`<rect key=${name} class=${look} x=${from.toFixed(2)} width=${width.toFixed(2)} y="0" height="10" />`;
  });
  return html`<svg class="time-bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label=${inWords(call) || 'no time'}>${parts}</svg>`;
}

/** The legend with the times, for one call. @param {{call: any}} props */
export const TimeTable = ({ call }) => html`<table class="plain"><thead><tr><th>Where the time went</th><th class="end">Time</th><th class="end">Share</th></tr></thead><tbody>
  ${timeParts.map(([name, look, of]) => html`<tr key=${name}><td><i class=${`swatch ${look}`}></i>${name[0].toUpperCase() + name.slice(1)}</td><td class="end num">${durationText(of(call))}</td>
    <td class="end num">${call.took_seconds ? Math.round(100 * of(call) / call.took_seconds) : 0} %</td></tr>`)}</tbody></table>`;

export const TimeLegend = () => html`<span class="legend" aria-hidden="true">${timeParts.map(([name, look]) => html`<span key=${name}><i class=${`swatch ${look}`}></i>${name}</span>`)}</span>`;
