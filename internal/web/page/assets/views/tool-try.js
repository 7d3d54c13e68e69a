// @ts-check
// To try a tool: its arguments as a form and as JSON, and the call while it runs.
import { Command, Json, Loading, Problem, Status, Text, act, bytesText, configCommandLine, confirm, durationText, html, useEffect, useId, useLoad, useMemo, useState } from '../ui.js';
import { Raw, post } from '../api.js';
import { Members } from './tool-form.js';
import { initial, isObject, parseJson, words } from './form-value.js';
import { answer, cancel, start, trialOf } from './trials.js';

const checkPause = 250; // ms after a key until the arguments are checked

/** Parses the text of the JSON editor. @param {string} text @returns {{value?: any, problem: string}} */
function parsed(text) {
  try {
    const value = parseJson(text);
    return isObject(value) ? { value, problem: '' } : { problem: 'The arguments are a JSON object, such as {}.' };
  } catch (err) { return { problem: String(/** @type {Error} */ (err).message) }; }
}

/** Arguments of a link, as they are edited. @param {string|undefined} text */
function indented(text) {
  try { return text && JSON.stringify(parseJson(text), null, 2); } catch { return text; }
}

/** Whether a problem is only that a parameter is not there; see arguments.Check. @param {string} problem */
const isMissing = (problem) => /^Parameter '.*' is missing/s.test(problem);

/** What is wrong with the arguments. @param {any} definition @param {string} text @param {boolean} isJson */
function useCheck(definition, text, isJson) {
  const [found, setFound] = useState({ problems: /** @type {string[]} */ ([]), notes: /** @type {string[]} */ ([]) });
  useEffect(() => {
    if (!isJson) { setFound({ problems: [], notes: [] }); return undefined; }
    const abort = new AbortController();
    const timer = setTimeout(() => {
      post('check', {}, new Raw(`{"definition":${JSON.stringify(definition)},"arguments":${text}}`), abort.signal).then(setFound, () => { /* the server of the tool judges, too */ });
    }, checkPause);
    return () => { clearTimeout(timer); abort.abort(); };
  }, [definition, text, isJson]);
  return found;
}

/** @param {{id: string, pid: number, tool: any, given?: string}} props tool: a ToolDetail; given: arguments to begin with, as JSON */
export function Try({ id, pid, tool, given }) {
  const form = useLoad((abort) => post('form', {}, { definition: tool.definition }, abort), [id, tool.definition]);
  if (form.error) return html`<${Problem} error=${form.error} />`;
  if (!form.value) return html`<${Loading} />`;
  return html`<${TryForm} key=${id} id=${id} pid=${pid} tool=${tool} form=${form.value} given=${given} />`;
}

/** @param {{id: string, pid: number, tool: any, form: any, given?: string}} props */
function TryForm({ id, pid, tool, form, given }) {
  const [text, write] = useState(() => indented(given) ?? JSON.stringify(initial(form) ?? {}, null, 2));
  const [isBegun, setBegun] = useState(given !== undefined); // until then, nobody has forgotten anything
  const setText = (/** @type {string} */ next) => { write(next); setBegun(true); };
  const editor = useId();
  const { value, problem } = useMemo(() => parsed(text), [text]);
  const { problems: all, notes } = useCheck(tool.definition, text, !problem), problems = isBegun ? all : all.filter((one) => !isMissing(one));
  const trial = trialOf(id).state.value, isRunning = trial?.state === 'running';
  const ref = `${tool.toolbox}/${tool.server}/${tool.name}`;
  const command = configCommandLine(pid, 'call', ref, ...(value ? words(form, value) : []));
  const call = async () => {
    if (!tool.readOnly) {
      const yes = await confirm({
        title: 'Call this tool?', action: 'Call', danger: tool.destructive, command,
        body: html`<p><strong><${Text} text=${ref} /></strong></p><p>${tool.doubted ? 'Nobody accepted what its server says about what it does.' : tool.destructive ? 'It may change or destroy something.' : 'It may change something.'}</p>`,
      });
      if (!yes) return;
    }
    void start(id, pid, { toolbox: tool.toolbox, server: tool.server, tool: tool.name }, text);
  };
  return html`
    <form class="try" onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); setBegun(true); if (!problem && !isRunning) void call(); }}>
      ${value ? html`<${Members} field=${form} value=${value} onChange=${(/** @type {any} */ next) => setText(JSON.stringify(next ?? {}, null, 2))} />` : html`<p class="muted">The form is back when the JSON is right.</p>`}
      ${form.note && html`<p class="muted">${form.note}: enter JSON.</p>`}
      <div class="field"><label for=${editor}>As JSON</label>
        <textarea id=${editor} class="mono" rows=${Math.min(14, text.split('\n').length + 1)} value=${text} spellcheck=${false} aria-invalid=${problem ? 'true' : undefined} aria-describedby=${`${editor}-state`} onInput=${(/** @type {any} */ event) => setText(event.target.value)}></textarea></div>
      <div id=${`${editor}-state`} role="status">
        ${problem && html`<p class="bad-text"><${Text} text=${problem} /></p>`}
        ${problems.length > 0 && html`<ul class="bad-text">${problems.map((one) => html`<li key=${one}><${Text} text=${one} lines /></li>`)}</ul>`}
        ${notes.map((one) => html`<p class="muted" key=${one}>Note: <${Text} text=${one} lines /></p>`)}
      </div>
      <div class="buttons">
        <button type="submit" class="button primary" disabled=${Boolean(problem) || isRunning}>${isRunning ? 'Calling…' : tool.readOnly ? 'Call' : 'Call…'}</button>
        ${isRunning && html`<button type="button" class="button danger" onClick=${() => cancel(id)}>Cancel the call</button>`}
      </div>
    </form>
    <h3>The command that does the same</h3><${Command} text=${command} />
    ${command.endsWith(' -') && html`<p class="muted">The arguments are long: pass the JSON on stdin.</p>`}
    ${trial && html`<${Outcome} id=${id} pid=${pid} trial=${trial} />`}`;
}

/** @param {{id: string, pid: number, trial: import('./trials.js').Trial}} props */
function Outcome({ id, pid, trial }) {
  const { progress, error } = trial;
  const known = progress && progress.progress >= 0 && progress.total > 0;
  return html`<section class="section" aria-label="The call">
    <h3>The call</h3>
    <p><${Status} word=${trial.state} />${trial.took !== undefined && html` <span class="muted">after ${durationText(trial.took)}</span>`}</p>
    ${progress && html`<p>${progress.progress >= 0 && html`<progress aria-label="Progress" max=${known ? progress.total : undefined} value=${known ? progress.progress : undefined}></progress> <span class="num">${String(progress.progress)}${known ? ` of ${progress.total}` : ''}</span> `}<${Text} text=${String(progress.message ?? '')} /></p>`}
    ${trial.questions.map((one) => html`<${Asked} key=${one.id} id=${id} pid=${pid} question=${one} />`)}
    ${error && html`<${Problem} title=${error.message} hint=${error.hint}>${error.data !== undefined && html`<${Json} value=${error.data} />`}<//>`}
    ${trial.logs.length > 0 && html`<details open=${trial.state === 'running'}><summary>Log messages (${trial.logs.length})</summary><div class="log" tabindex="0">${trial.logs.map((one, n) => html`<div class="log-line" key=${n}><span class="muted"><${Text} text=${String(one.level ?? '')} /></span><span><${Text} text=${typeof one.data === 'string' ? one.data : JSON.stringify(one.data) ?? ''} lines /></span></div>`)}</div></details>`}
    ${trial.result !== undefined && html`<${Result} result=${trial.result} />`}
  </section>`;
}

/** The address of a page, as a link only if a browser opens it as one. @param {{address: string}} props */
function Address({ address }) {
  let url = /** @type {URL|undefined} */ (undefined);
  try { url = new URL(address); } catch { /* shown as it is */ }
  const web = url?.protocol === 'https:' || url?.protocol === 'http:' ? url : undefined;
  return html`<p class="address"><code><${Text} text=${address} /></code></p>${web && html`<p>A page of <strong><${Text} text=${web.host} /></strong>: <a href=${web.href} target="_blank" rel="noreferrer noopener">open it in a new tab</a></p>`}`;
}

/** A question of the server. @param {{id: string, pid: number, question: any}} props */
function Asked({ id, pid, question }) {
  const { params } = question, isUrl = params?.mode === 'url';
  const form = useLoad((abort) => (isUrl ? Promise.resolve(null) : post('form', {}, { schema: params?.requestedSchema ?? {} }, abort)), [question.id]);
  const [value, setValue] = useState(/** @type {any} */ (undefined));
  const content = value ?? (form.value ? initial(form.value) ?? {} : {});
  const send = (/** @type {string} */ action) => act(() => answer(id, pid, question.id, action === 'accept' && !isUrl ? { action, content } : { action }));
  return html`<div class="asked" role="group" aria-label="A question of the server">
    <p><strong>A question:</strong></p><pre><${Text} text=${String(params?.message ?? '')} lines /></pre>
    ${isUrl && html`<${Address} address=${String(params?.url ?? '')} />`}
    ${form.error && html`<${Problem} error=${form.error} />`}
    ${form.value && html`<${Members} field=${form.value} value=${content} onChange=${(/** @type {any} */ next) => setValue(next ?? {})} />`}
    <div class="buttons">
      <button type="button" class="button primary" disabled=${!isUrl && !form.value} onClick=${() => send('accept')}>${isUrl ? 'I agree' : 'Send the answer'}</button>
      <button type="button" class="button" onClick=${() => send('decline')}>Decline</button>
      <button type="button" class="button" onClick=${() => send('cancel')}>Cancel the question</button>
    </div></div>`;
}

const pictures = /^image\/(png|jpeg|gif|webp|avif)$/;
/** @param {any} data */
const isBase64 = (data) => typeof data === 'string' && /^[A-Za-z0-9+/]*={0,2}$/.test(data);

/** Saves content as a file. It is never shown as a page of ours. @param {string} data base64 @param {string} name */
function save(data, name) {
  const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
  const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** @param {{data: any, type: string, n: number}} props */
function Binary({ data, type, n }) {
  if (!isBase64(data)) return html`<p class="bad-text">The content is not base64.</p>`;
  const size = bytesText(Math.floor(data.length * 3 / 4));
  return html`${pictures.test(type) && html`<img class="result-image" src=${`data:${type};base64,${data}`} alt=${`Picture ${n + 1} of the result`} />`}
    <p class="field-row"><span class="muted"><${Text} text=${type || 'unknown type'} />, ${size}</span> <button type="button" class="button small" onClick=${() => act(async () => save(data, `result-${n + 1}`))}>Save</button></p>`;
}

/** One part of the content of a result. @param {{block: any, n: number}} props */
function Block({ block, n }) {
  switch (block?.type) {
    case 'text': return html`<pre class="json" tabindex="0"><${Text} text=${String(block.text ?? '')} lines /></pre>`;
    case 'image': case 'audio': return html`<${Binary} data=${block.data} type=${String(block.mimeType ?? '')} n=${n} />`;
    case 'resource_link': return html`<p>Resource <strong><${Text} text=${String(block.title ?? block.name ?? '')} /></strong></p><${Address} address=${String(block.uri ?? '')} />`;
    case 'resource': {
      const inside = block.resource ?? {};
      return html`<${Address} address=${String(inside.uri ?? '')} />${inside.blob !== undefined ? html`<${Binary} data=${inside.blob} type=${String(inside.mimeType ?? '')} n=${n} />` : html`<pre class="json" tabindex="0"><${Text} text=${String(inside.text ?? '')} lines /></pre>`}`;
    }
  }
  return html`<${Json} value=${block} />`;
}

/** @param {{result: any}} props */
function Result({ result }) {
  const blocks = Array.isArray(result?.content) ? result.content : [];
  return html`<h3>Result</h3>
    ${blocks.map((/** @type {any} */ block, /** @type {number} */ n) => html`<${Block} key=${n} block=${block} n=${n} />`)}
    ${result?.structuredContent !== undefined && html`<h3>Structured content</h3><${Json} value=${result.structuredContent} />`}
    <details><summary>The whole result as JSON</summary><${Json} value=${result} /></details>`;
}
