// @ts-check
// A chart of what happens a second: lines from 0 to the highest value, with a scale and times.
import { html } from '../lib.js';

const width = 1000, height = 100; // of the drawing, which is stretched to the room it has
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });

/** The next of 1, 2, 5, 10, 20, … @param {number} value */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return (/** @type {number} */ ([1, 2, 5, 10].find((step) => step * power >= value))) * power;
}

/**
 * @param {{label: string, names: string[], colours: string[], data: number[][]}} props data: seconds, then the values of each name; colours: custom properties
 */
export function Chart({ label, names, colours, data }) {
  const [times, ...lines] = data, top = roundUp(lines.reduce((most, line) => Math.max(most, ...line), 1));
  const step = width / Math.max(times.length - 1, 1);
  /** @param {number[]} line */
  const path = (line) => line.map((value, n) => `${n ? 'L' : 'M'}${(n * step).toFixed(1)} ${(height - height * value / top).toFixed(1)}`).join('');
  const marks = [0, 1, 2, 3, 4].map((n) => times[Math.round(n * (times.length - 1) / 4)]);
  return html`<figure class="chart"><figcaption class="legend">${names.map((name, n) => html`<span key=${name}><i class=${`swatch swatch${colours[n]}`}></i>${name}</span>`)}</figcaption>
    <div class="chart-box"><div class="chart-scale num muted" aria-hidden="true"><span>${top}</span><span>${top / 2}</span><span>0</span></div>
      <svg viewBox=${`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label=${label}>
        <path class="chart-grid" d=${`M0 0H${width}M0 ${height / 2}H${width}M0 ${height}H${width}`} />
        ${lines.map((line, n) => html`<path key=${names[n]} class=${`chart-line line${colours[n]}`} d=${path(line)} />`)}
      </svg></div>
    <div class="chart-times num muted" aria-hidden="true">${marks.map((time, n) => html`<span key=${n}>${clock.format(time * 1000)}</span>`)}</div></figure>`;
}
