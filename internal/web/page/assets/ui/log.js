// @ts-check
// Lines that a server writes, as they come.
import { html, useEffect, useLayoutEffect, useRef, useState } from '../lib.js';
import { at, stream } from '../api.js';
import { Problem } from './parts.js';
import { Clock, Text } from './text.js';

const maxLines = 500;
const hiddenTime = 10_000; // ms, until the log of a hidden tab ends; it begins again when the tab is shown

/**
 * The last lines of a server's stderr. It follows as long as it is shown and scrolled to its end.
 * @param {{pid: number, toolbox: string, server: string}} props
 */
export function Log({ pid, toolbox, server }) {
  const [lines, setLines] = useState(/** @type {any[]} */ ([])), [error, setError] = useState(/** @type {any} */ (null)), [isOver, setOver] = useState(false);
  const box = useRef(/** @type {any} */ (null)), follows = useRef(true);
  const [round, setRound] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    let kept = /** @type {any[]} */ ([]), frame = 0, number = 0;
    const draw = () => { frame = 0; kept = kept.slice(-maxLines); setLines(kept); };
    setLines([]); setError(null); setOver(false);
    stream(at(pid, 'logs'), {
      params: { toolbox, server, lines: maxLines, follow: 1 }, abort: abort.signal,
      onLine: (line) => {
        kept.push({ ...line, number: number++ });
        if (kept.length > 2 * maxLines) kept = kept.slice(-maxLines); // the tab is hidden
        frame ||= requestAnimationFrame(draw);
      },
    }).then(() => setOver(true), (err) => { if (!abort.signal.aborted) setError(err); });
    let sleep = 0;
    const onVisibility = () => {
      clearTimeout(sleep);
      if (document.hidden) sleep = setTimeout(() => abort.abort(), hiddenTime);
      else if (abort.signal.aborted) setRound(round + 1);
    };
    document.addEventListener('visibilitychange', onVisibility);
    onVisibility();
    return () => { document.removeEventListener('visibilitychange', onVisibility); clearTimeout(sleep); abort.abort(); cancelAnimationFrame(frame); };
  }, [pid, toolbox, server, round]);
  useLayoutEffect(() => { if (follows.current && box.current) box.current.scrollTop = box.current.scrollHeight; }, [lines]);
  const onScroll = () => { const { scrollTop, scrollHeight, clientHeight } = box.current; follows.current = scrollHeight - scrollTop - clientHeight < 30; };
  if (error) return html`<${Problem} error=${error} />`;
  return html`<div class="log" role="log" aria-label="Output of the server" aria-live="off" tabindex="0" ref=${box} onScroll=${onScroll}>
    ${lines.map((line) => html`<div key=${line.number} class="log-line"><span class="muted"><${Clock} at=${line.time} /></span><span><${Text} text=${line.text} lines /></span></div>`)}
    ${!lines.length && html`<p class="muted">It wrote nothing to stderr yet. New lines appear here.</p>`}
    ${isOver && html`<p class="muted">The output has ended.</p>`}
  </div>`;
}
