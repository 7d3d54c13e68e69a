// @ts-check
// One call: what is known of it, without the values of its arguments.
import { Bytes, Clock, Command, Elapsed, Facts, Icon, Status, Text, act, commandLine, confirm, durationText, html, useState } from '../ui.js';
import { TimeBar, TimeTable } from '../ui/parts-of-time.js';
import { at, post } from '../api.js';
import { address } from '../router.js';

/** What is called. @param {any} call */
export const target = (call) => call.tool || call.prompt || call.method || 'unknown method';
/** Who calls. @param {any} call */
export const caller = (call) => call.client || call.caller || 'unknown client';

const phases = /** @type {Record<string, string>} */ ({ start: 'its server is starting', server: 'the server works on it', person: 'a person has to answer' });

const effect = 'The client gets an error that a person cancelled it. What the server did until then is not undone.';
/** What tells a call from others of the same tool. @param {any} call @returns {[string, any][]} */
const who = (call) => [
  ['Server', html`<${Text} text=${`${call.toolbox}/${call.server}`} />`], ['Client', html`<${Text} text=${caller(call)} />`], ['Runs for', html`<${Elapsed} since=${call.since} />`],
];

/** @param {{call: any, small?: boolean}} props */
export function Cancel({ call, small = false }) {
  const [isBusy, setBusy] = useState(false);
  const onClick = async (/** @type {Event} */ event) => {
    event.stopPropagation();
    // In a list, where nothing else tells what it does and a click may miss, it asks.
    if (small && !await confirm({ title: `Cancel ${target(call)}?`, action: 'Cancel the call', keep: 'Let it run', danger: true, command: commandLine(call.workbench, 'cancel', call.id), body: html`<${Facts} pairs=${who(call)} /><p class="section">${effect}</p>` })) return;
    setBusy(true);
    act(() => post(at(call.workbench, 'cancel'), { id: call.id }), `${target(call)} of ${call.toolbox}/${call.server} was cancelled`).finally(() => setBusy(false));
  };
  return html`<button type="button" class=${small ? 'button small' : 'button'} disabled=${isBusy} onClick=${onClick}><${Icon} name="close" />Cancel<span class="unseen"> ${target(call)}</span></button>`;
}

/** @param {{call: any}} props */
const ServerLink = ({ call }) => html`<a href=${address('servers', [call.workbench, `${call.toolbox}/${call.server}`])}><${Text} text=${`${call.toolbox}/${call.server}`} /></a>`;
/** @param {{call: any}} props */
const ToolLink = ({ call }) => (call.tool ? html`<a href=${address('tools', [call.workbench, call.toolbox, call.server, call.tool])}><${Text} text=${call.tool} /></a>` : html`<${Text} text=${target(call)} />`);

/** @param {{call: any}} props */
export const RunningDetail = ({ call }) => html`
  <${Facts} pairs=${[
    ['State', html`<${Status} word="running" />`], ['Since', html`<${Elapsed} since=${call.since} /> <span class="muted">(<${Clock} at=${call.since} />)</span>`],
    ['Waits for', phases[call.phase]], ['Client', html`<${Text} text=${caller(call)} />`], ['Caller', call.caller && html`<${Text} text=${call.caller} />`],
    ['Server', html`<${ServerLink} call=${call} />`], ['Tool', html`<${ToolLink} call=${call} />`], ['Method', call.tool && html`<${Text} text=${call.method} />`],
  ]} />
  ${call.phase === 'person' && html`<p class="section"><a href=${address('questions')}>Show what waits for an answer</a></p>`}
  <div class="buttons section"><${Cancel} call=${call} /></div>
  <p class="muted section">${effect} In a terminal:</p><${Command} text=${commandLine(call.workbench, 'cancel', call.id)} />`;

/** @param {{call: any}} props */
export const CallDetail = ({ call }) => html`
  <${Facts} pairs=${[
    ['Outcome', html`<${Status} word=${call.outcome} />`], ['Error', call.error_type && html`<code><${Text} text=${call.error_type} /></code>`],
    ['Began', html`<${Clock} at=${call.time} />`], ['Ended', Boolean(Date.parse(call.time)) && html`<${Clock} at=${Date.parse(call.time) + 1000 * call.took_seconds} />`], ['Took', html`<span class="num">${durationText(call.took_seconds)}</span>`],
    ['Client', html`<${Text} text=${caller(call)} />`], ['Caller', call.caller && html`<${Text} text=${call.caller} />`],
    ['Server', html`<${ServerLink} call=${call} />`], ['Tool', html`<${ToolLink} call=${call} />`], ['Method', call.tool && html`<${Text} text=${call.method} />`],
    ['Arguments', html`<${Bytes} bytes=${call.request_bytes} />`], ['Answer', html`<${Bytes} bytes=${call.response_bytes} />`], ['Number', `${call.seq} of workbench ${call.workbench}`],
  ]} />
  <div class="section"><${TimeBar} call=${call} /><${TimeTable} call=${call} /></div>
  <h3>Shape of the arguments</h3>
  ${call.arguments ? html`<pre class="json" tabindex="0"><${Text} text=${call.arguments} lines /></pre>` : html`<p class="muted">None.</p>`}
  <p class="muted">Values are never kept.</p>
  <p class="muted section">In a terminal:</p><${Command} text=${commandLine(call.workbench, 'history')} />`;
