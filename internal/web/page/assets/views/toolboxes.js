// @ts-check
// What toolboxes cost of the context of a model, and what each client was shown.
import { Empty, Loading, Problem, Text, html, numberText, useEffect, useLoad } from '../ui.js';
import { at, get } from '../api.js';
import { benchName, clients, workbenches } from '../store.js';
import { address } from '../router.js';

/** A number of tokens as a bar. @param {{tokens: number, most: number, part?: number}} props */
const Bar = ({ tokens, most, part = 1 }) => html`<svg class="time-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class=${`part-${part}`} width=${most > 0 ? 100 * tokens / most : 0} height="10" /></svg>`;

/** @param {{label: any, tokens: number, most: number, part?: number, note?: any}} props */
const Line = ({ label, tokens, most, part, note }) => html`<tr><th scope="row">${label}${note && html` <span class="muted">${note}</span>`}</th><td class="bill-bar"><${Bar} tokens=${tokens} most=${most} part=${part} /></td><td class="end num">${numberText(tokens)}</td></tr>`;

/** @param {{bench: any, heading: string}} props */
function Bill({ bench, heading }) {
  const { value, error, reload } = useLoad((abort) => get(at(bench.pid, 'toolboxes'), {}, abort), [bench.pid]);
  // What is open to clients is part of what the watch tells.
  const opened = JSON.stringify(clients.value.filter((one) => one.workbench === bench.pid).map((one) => [one.id, one.opened]));
  useEffect(() => { if (value) reload(); }, [opened]);
  if (error) return html`<${Problem} error=${error} />`;
  if (!value) return html`<${Loading} />`;
  const { startTokens: start, everythingTokens: everything } = value;
  const most = Math.max(everything, start, ...value.toolboxes.map((/** @type {any} */ one) => one.fullTokens), ...value.clients.map((/** @type {any} */ one) => one.tokens));
  const saved = everything > 0 ? Math.floor(100 * (everything - start) / everything) : 0;
  return html`
    <p>A client begins with about <strong>${numberText(start)}</strong> tokens. ${everything ? html`All known tools together would be about <strong>${numberText(everything)}</strong>${saved > 0 ? `: ${saved} % less` : ''}.` : 'No tool is known yet: a server has to be connected once.'} Tokens are estimated by a rule of thumb.</p>
    <${heading} class="part-title">At the start<//>
    <div><table class="plain bill"><tbody>
      <${Line} label="Through the workbench" tokens=${start} most=${most} part=${4} />
      <${Line} label="All tools listed directly" tokens=${everything} most=${most} part=${2} />
    </tbody></table></div>
    <${heading} class="part-title">Opening a toolbox<//>
    <div><table class="plain bill"><thead><tr><th scope="col">Toolbox</th><th scope="col"><span class="unseen">In full, as a bar</span></th><th scope="col" class="end"><i class="swatch part-3"></i>In full</th><th scope="col" class="end"><i class="swatch part-1"></i>In brief</th><th scope="col" class="end">Tools</th></tr></thead>
    <tbody>${value.toolboxes.map((/** @type {any} */ box) => html`<tr key=${box.name}>
      <th scope="row"><${Text} text=${box.name} />${box.disabled && html` <span class="badge">disabled</span>`}
        <div class="muted">${box.description && html`<${Text} text=${box.description} /> · `}<${Text} text=${(box.servers ?? []).join(', ')} />${box.unknown?.length ? html` · not known yet: <${Text} text=${box.unknown.join(', ')} />` : null}</div></th>
      <td class="bill-bar"><${Bar} tokens=${box.fullTokens} most=${most} part=${3} /><${Bar} tokens=${box.briefTokens} most=${most} part=${1} /></td>
      <td class="end num">${numberText(box.fullTokens)}</td><td class="end num">${numberText(box.briefTokens)}</td><td class="end num">${numberText(box.tools)}</td></tr>`)}</tbody></table></div>
    <${heading} class="part-title">What clients were shown<//>
    ${value.clients.length ? html`<div><table class="plain bill"><thead><tr><th scope="col">Client</th><th scope="col"><span class="unseen">As a bar</span></th><th scope="col" class="end">Tokens</th></tr></thead><tbody>${value.clients.map((/** @type {any} */ one) => html`
      <${Line} key=${one.id} tokens=${one.tokens} most=${most} part=${3} label=${html`<a href=${address('clients', [bench.pid, one.id])}><${Text} text=${one.name || '(no name)'} /></a>`}
        note=${one.opened.length ? html`opened <${Text} text=${one.opened.join(', ')} />` : 'opened nothing yet'} />`)}</tbody></table></div>` : html`<p class="muted">No client is connected.</p>`}`;
}

export default function Toolboxes() {
  const benches = workbenches.value;
  if (!benches.length) return html`<div class="view"><${Empty} title="No workbench runs" /></div>`;
  return html`<div class="view"><div class="bill-page" tabindex="0" role="region" aria-label="Toolboxes">${benches.map((bench) => html`<section key=${bench.pid} class="bill-of">
    ${benches.length > 1 && html`<h2>Workbench ${bench.pid} <span class="muted"><${Text} text=${benchName(bench)} /></span></h2>`}
    <${Bill} bench=${bench} heading=${benches.length > 1 ? 'h3' : 'h2'} /></section>`)}</div></div>`;
}
