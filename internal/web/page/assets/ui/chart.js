// @ts-check
// A chart of what happens a second, by uPlot, which index.html loads: only its script for pages is small. It sets styles
// through the CSSOM, which the policy of the page allows.
import { html, useEffect, useRef } from '../lib.js';

const height = 120;
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });

/** @param {string} name of a custom property @param {Element} element */
const colour = (name, element) => {
  // light-dark() is resolved by the browser only where a colour is used.
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
};

/** @param {HTMLElement} box @param {string[]} names @param {string[]} colours @param {any} data */
function draw(box, names, colours, data) {
  const axis = { stroke: colour('--muted', box), grid: { stroke: colour('--line', box), width: 1 }, ticks: { show: false }, font: '11px system-ui' };
  const { uPlot } = /** @type {any} */ (globalThis);
  return new uPlot({
    width: Math.max(box.clientWidth, 100), height, cursor: { drag: { x: false, y: false }, y: false }, legend: { live: false, show: false },
    scales: { y: { range: (/** @type {any} */ _, /** @type {number} */ __, /** @type {number} */ most) => [0, Math.max(most ?? 1, 1) * 1.1] } },
    axes: [{ ...axis, size: 24, space: 90, values: (/** @type {any} */ _, /** @type {number[]} */ times) => times.map((time) => clock.format(time * 1000)) }, { ...axis, size: 44 }],
    series: [{}, ...names.map((label, n) => ({ label, stroke: colour(colours[n], box), width: 1.5, points: { show: false } }))],
  }, data, box);
}

/**
 * @param {{label: string, names: string[], colours: string[], data: number[][]}} props data: seconds, then the values of each name; colours: custom properties
 */
export function Chart({ label, names, colours, data }) {
  const box = useRef(/** @type {any} */ (null)), chart = useRef(/** @type {any} */ (null)), latest = useRef(data);
  latest.current = data;
  useEffect(() => {
    const into = /** @type {HTMLElement} */ (box.current);
    const again = () => {
      chart.current?.destroy();
      chart.current = draw(into, names, colours, latest.current);
    };
    const sizes = new ResizeObserver(() => chart.current?.setSize({ width: Math.max(into.clientWidth, 100), height }));
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', again);
    again();
    sizes.observe(into);
    return () => { scheme.removeEventListener('change', again); sizes.disconnect(); chart.current?.destroy(); chart.current = null; };
  }, []);
  useEffect(() => { chart.current?.setData(data); }, [data]);
  return html`<figure class="chart"><figcaption class="legend">${names.map((name, n) => html`<span key=${name}><i class=${`swatch swatch${colours[n]}`}></i>${name}</span>`)}</figcaption>
    <div class="chart-box" ref=${box} role="img" aria-label=${label}></div></figure>`;
}
