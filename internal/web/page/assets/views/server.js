// @ts-check
// One server: why it is in its state, and what to do about it.
import { Bytes, Command, Elapsed, Facts, Icon, Loading, Problem, Status, Tabs, Text, act, commandLine, configCommandLine, confirm, durationText, html, numberText, useLoad, useState } from '../ui.js';
import { Log } from '../ui/log.js';
import { at, get, post } from '../api.js';
import { benchLabel, now, running, servers, stateOf, workbenches } from '../store.js';
import { address, navigate } from '../router.js';

const refreshTime = 5000; // ms, for the memory of processes

/** @param {any} row */
const refOf = (row) => `${row.toolbox}/${row.server}`;

/** @param {any} row @param {() => void} onBegin */
async function restart(row, onBegin) {
  const ref = refOf(row);
  const inFlight = running.peek().list.filter((call) => call.workbench === row.workbench && call.toolbox === row.toolbox && call.server === row.server).length;
  if (inFlight && !await confirm({
    title: `Restart ${ref}?`, action: 'Restart', danger: true, command: commandLine(row.workbench, 'restart', ref),
    body: html`<p>${inFlight === 1 ? 'One call runs' : `${inFlight} calls run`} on it now and will fail.</p>`,
  })) return;
  onBegin();
  await act(() => post(at(row.workbench, 'restart'), { toolbox: row.toolbox, server: row.server }), `${ref} is started again`);
}

/** @param {{row: any}} props */
function Actions({ row }) {
  const [isBusy, setBusy] = useState(false), ref = refOf(row);
  const onRestart = () => { restart(row, () => setBusy(true)).finally(() => setBusy(false)); };
  return html`<div class="buttons section">
      <button type="button" class="button" disabled=${isBusy || row.state === 'faulty'} onClick=${onRestart}><${Icon} name="restart" />${isBusy ? 'Restarting…' : 'Restart'}</button>
      <button type="button" class="button" onClick=${() => navigate('recordings', [], { workbench: String(row.workbench), toolbox: row.toolbox, server: row.server })}><${Icon} name="recordings" />Record…</button>
      <a class="button" href=${address('calls', [], { q: ref })}>Calls</a>
      <a class="button" href=${address('tools', [row.workbench], { toolbox: row.toolbox, server: row.server })}>Tools</a>
    </div>
    <details class="section"><summary>The same in a terminal</summary>
      <${Command} text=${commandLine(row.workbench, 'restart', ref)} />
      ${!row.remote && html`<${Command} text=${commandLine(row.workbench, 'logs', ref, '-f')} />`}
      <${Command} text=${commandLine(row.workbench, 'record', '--running', 'session.jsonl', ref)} />
    </details>`;
}

/** Why it does not work, and when it is tried again. @param {{row: any}} props */
function Trouble({ row }) {
  if (!row.lastError) return null;
  const next = row.state === 'backing off' && row.tryAt ? html`<p>Next try ${row.tryAt > now.value ? html`in <${Elapsed} until=${row.tryAt} />` : 'now'}.${row.failures > 1 ? ` It failed ${row.failures} times in a row` : ''}${row.failingSince ? html`, for <${Elapsed} since=${row.failingSince} />` : ''}.</p>` : null;
  const command = row.state === 'login needed' ? ['login', refOf(row)] : row.state === 'faulty' ? ['validate'] : ['doctor', refOf(row)];
  return html`<div class="section"><${Problem} title=${html`<${Text} text=${row.lastError} lines />`}>${next}<${Command} text=${configCommandLine(row.workbench, ...command)} /><//></div>`;
}

/** What sets this copy of a server apart from the others. @param {any} why @returns {string[]} */
export function reasons(why) {
  if (!why) return [];
  /** @type {[any, string][]} */
  const all = [
    [why.person, `person ${why.person}`], [why.folder, `folder ${why.folder}`], [why.roots, why.roots?.length ? `roots ${why.roots.join(', ')}` : 'no roots'],
    [why.capabilities?.length, `client capabilities ${why.capabilities?.join(', ')}`], [why.environment?.length, `other values of ${why.environment?.join(', ')}`],
    [why.command, `command ${why.command}`], [why.era, 'modern protocol'], [why.behind, `behind ${why.behind} workbench${why.behind === 1 ? '' : 'es'}`],
    [why.client === 'one', 'one client only, since the server asks questions or each client has its own'],
  ];
  return all.filter(([is]) => is).map(([, text]) => text);
}

const stepLooks = /** @type {Record<string, string>} */ ({ done: 'good', failed: 'bad', running: 'busy' });

/** @param {{steps: any[]}} props */
function Steps({ steps }) {
  if (!steps?.length) return html`<p class="muted">It was not started yet.</p>`;
  return html`<ol class="steps">${steps.map((step, n) => html`<li key=${n}><div class="step">
    <${Status} word=${step.state} tone=${stepLooks[step.state]} icon=${step.state === 'failed' ? 'error' : undefined}><${Text} text=${step.name} /><span class="unseen"> (${step.state})</span><//><span class="num muted">${durationText(step.tookSeconds)}</span></div>
    ${step.detail && html`<p class=${step.state === 'failed' ? 'step-detail bad-text' : 'step-detail muted'}><${Text} text=${step.detail} lines /></p>`}</li>`)}</ol>`;
}

/** @param {{processes: any[], remote: boolean}} props */
function Processes({ processes, remote }) {
  if (remote) return html`<p class="muted">It is a remote server and has no process here.</p>`;
  if (!processes?.length) return html`<p class="muted">No process runs.</p>`;
  const depths = new Map();
  return html`<div class="scroll-x" tabindex="0" role="region" aria-label="Processes"><table class="plain"><thead><tr><th>Process</th><th class="end">PID</th><th class="end">Memory</th></tr></thead><tbody>${processes.map((process) => {
    const depth = Math.min((depths.get(process.parent) ?? -1) + 1, 8);
    depths.set(process.pid, depth);
    return html`<tr key=${process.pid}><td><span class=${`depth depth-${depth}`}>${depth > 0 && html`<span class="muted" aria-hidden="true">└ </span>`}<${Text} text=${process.name} /></span></td><td class="end num">${process.pid}</td><td class="end"><${Bytes} bytes=${process.memoryBytes} /></td></tr>`;
  })}</tbody></table></div>`;
}

/** @param {{row: any}} props */
function Copies({ row }) {
  const all = servers.value.filter((one) => one.workbench === row.workbench && one.toolbox === row.toolbox && one.server === row.server);
  return html`<p class="muted">${all.length > 1 || reasons(row.why).length ? 'Clients that differ in what the server can see of them get a copy each.' : 'All clients share this one.'}</p>
    <ul class="lines">${all.map((one) => html`<li key=${one.id}><a href=${address('servers', [one.workbench, one.key])}><span class="grow"><${Text} text=${one.key} /></span></a><span class="muted grow"><${Text} text=${reasons(one.why).join('; ') || 'for any client'} /></span><${Status} word=${stateOf(one)} /></li>`)}</ul>`;
}

/** @param {{row: any}} props */
export function ServerDetail({ row }) {
  const [tab, setTab] = useState(row.state === 'ready' && !row.remote ? 'output' : 'start');
  // While it starts, the steps are read each second; otherwise now and then, for the memory of its processes.
  const turn = row.state === 'starting' ? now.value : tab === 'processes' ? Math.floor(now.value / refreshTime) : 0;
  const { value, error } = useLoad((abort) => get(at(row.workbench, 'server'), { key: row.key }, abort), [row.id, row.state, row.starts, row.failures, turn]);
  const detail = value?.key === row.key ? value : undefined;
  const loaded = (/** @type {() => any} */ show) => (error ? html`<${Problem} error=${error} />` : detail ? show() : html`<${Loading} />`);
  const { counts } = row;
  return html`
    <${Facts} pairs=${[
      ['State', html`<${Status} word=${stateOf(row)} />${stateOf(row) === 'failed' ? html` <span class="muted">(started again when it is needed)</span>` : ''}${row.since ? html` <span class="muted">for <${Elapsed} since=${row.since} /></span>` : ''}`],
      ['Workbench', workbenches.value.length > 1 && html`<${Text} text=${`${benchLabel(row.workbench)}, PID ${row.workbench}`} />`],
      ['Calls, last 5 min', html`<span>${numberText(counts.calls)}${counts.errors ? html`, <span class="bad-text">${numberText(counts.errors)} failed</span>` : ''}${counts.calls ? `, half within ${durationText(counts.p50Seconds)}, 95 % within ${durationText(counts.p95Seconds)}` : ''}</span>`],
      ['Memory', row.memoryBytes ? html`<${Bytes} bytes=${row.memoryBytes} />` : ''], ['Processor', row.memoryBytes ? `${(row.cpuPercent ?? 0).toFixed(1)} %` : ''], ['Software', detail?.software && html`<${Text} text=${detail.software} />`],
      ['Protocol', row.revision], ['Tools', numberText(row.tools)], ['Clients', numberText(row.clients)], ['Restarts', row.restarts ? numberText(row.restarts) : ''],
      [row.remote ? 'Address' : 'Command', detail?.command && html`<code><${Text} text=${detail.command} /></code>`], ['Configured in', detail?.config && html`<${Text} text=${detail.config} />`],
      ['This copy is for', reasons(row.why).join('; ')],
    ]} />
    <${Trouble} row=${row} />
    <${Actions} row=${row} />
    <${Tabs} label="Details" selected=${tab} onSelect=${setTab} tabs=${[
      ...(row.remote ? [] : [{ id: 'output', title: 'Output', content: () => html`<${Log} pid=${row.workbench} toolbox=${row.toolbox} server=${row.server} />` }]),
      { id: 'start', title: 'Start', content: () => loaded(() => html`<${Steps} steps=${detail.steps} />`) },
      { id: 'processes', title: 'Processes', content: () => loaded(() => html`<${Processes} processes=${detail.processes} remote=${row.remote} />`) },
      { id: 'copies', title: 'Copies', content: () => html`<${Copies} row=${row} />` },
    ]} />`;
}
