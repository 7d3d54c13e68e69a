// @ts-check
// What waits for a person: calls that the policy asks about, and questions of servers whose clients cannot be asked.
import { Clock, Command, Elapsed, Empty, Facts, Problem, Text, act, commandLine, html, notify, useId, useState } from '../ui.js';
import { questions, workbenches } from '../store.js';
import { at, post } from '../api.js';
import { QuestionForm } from './question_form.js';

/** @param {any} question */
const keyOf = (question) => `${question.workbench}/${question.id}`;
/** @param {any} question @param {string} via */
const answersVia = (question, via) => (question.via ?? ['terminal']).includes(via);

const choices = [
  { word: 'once', title: 'Allow once', done: 'The call was allowed', help: 'this call' },
  { word: 'same', title: 'Allow the same', done: 'Calls with the same arguments are allowed in this session', help: 'also later calls of this session with the same arguments' },
  { word: 'session', title: 'Allow the tool', done: 'Calls of this tool are allowed in this session', help: 'also later calls of this tool in this session, with any arguments' },
  { word: 'no', title: 'Refuse', done: 'The call was refused', help: 'the call is not made' },
];

/** @param {{question: any}} props */
function Left({ question }) {
  return html`<span class="num"><${Elapsed} until=${question.deadline} /> left</span>`;
}

/** Who asks, and for whom. @param {{question: any}} props */
function Asker({ question }) {
  return html`<${Facts} pairs=${[
    ['Tool', question.kind === 'elicitation' && question.tool && html`<span class="mono"><${Text} text=${question.tool} /></span>`],
    ['Caller', html`<${Text} text=${question.caller ?? ''} />`], ['Client', question.client && html`<${Text} text=${question.client} />`],
    ['Rule', question.rule && html`<${Text} text=${question.rule} />`], ['Reason', question.because && html`<${Text} text=${question.because} />`],
    ['Waits since', html`<${Clock} at=${question.since} />`], ['Workbench', workbenches.value.length > 1 && question.workbench],
  ]} />`;
}

/** @param {{question: any}} props */
function Approval({ question }) {
  const [isBusy, setBusy] = useState(false);
  const isHere = answersVia(question, 'page');
  /** @param {{word: string, done: string}} choice */
  const choose = async ({ word, done }) => {
    setBusy(true);
    await act(() => post(at(question.workbench, 'answer'), { id: question.id, answer: word }), done);
    setBusy(false);
  };
  return html`
    <h3>Arguments</h3>
    ${question.arguments ? html`<pre class="json" tabindex="0"><${Text} text=${question.arguments} lines /></pre>` : html`<p class="muted">None.</p>`}
    <div class="section"><${Asker} question=${question} /></div>
    ${isHere ? html`<div class="buttons section">${choices.map((choice) => html`<button type="button" key=${choice.word} class=${choice.word === 'once' ? 'button primary' : choice.word === 'no' ? 'button danger' : 'button'}
        disabled=${isBusy} title=${choice.help} onClick=${() => choose(choice)}>${choice.title}</button>`)}</div>`
    : html`<p class="section">The policy lets this call be answered only at a terminal: <code>policy.ask.via</code> does not name <code>page</code>.</p>`}
    ${answersVia(question, 'terminal') ? html`<p class="muted section">${isHere ? 'The command that does the same' : 'The command that answers'}, with once, same, session or no:</p>
      <${Command} text=${commandLine(question.workbench, 'approve', question.id, 'once')} />`
    : html`<p class="muted section">No command answers this call: the policy does not name the terminal.</p>`}`;
}

/** A page that the server wants to be opened. @param {{question: any, answer: (result: any, done: string) => Promise<any>}} props */
function Visit({ question, answer }) {
  let host = '';
  try {
    const address = new URL(question.url);
    if (address.protocol === 'https:' || address.protocol === 'http:') host = address.host;
  } catch { /* it is not shown as a link */ }
  return html`
    <p>The server wants you to open this page${host && html` of <strong><${Text} text=${host} /></strong>`}:</p>
    <pre class="json" tabindex="0"><${Text} text=${question.url} /></pre>
    <p class="muted">It opens in this browser, with your logins there. The server learns that you agreed, and what the page itself tells it; the workbench does not look at the page. Open it only if you expected it and know the address.</p>
    ${host && html`<p><a href=${question.url} target="_blank" rel="noopener noreferrer">Open the page in a new tab</a></p>`}
    <div class="buttons section">
      <button type="button" class="button primary" disabled=${!host} onClick=${() => answer({ action: 'accept' }, 'The server was told that you agreed')}>I open it</button>
      <button type="button" class="button danger" onClick=${() => answer({ action: 'decline' }, 'Declined')}>Decline</button>
      <button type="button" class="button" onClick=${() => answer({ action: 'cancel' }, 'Cancelled')}>Cancel</button>
    </div>`;
}

/** @param {{question: any}} props */
function Elicitation({ question }) {
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  /** @param {any} result @param {string} done */
  const answer = async (result, done) => {
    setProblem(null);
    try {
      await post(at(question.workbench, 'answer'), { id: question.id }, result);
      notify(done);
    } catch (err) {
      setProblem(err);
    }
  };
  return html`
    ${question.message && html`<pre class="description section"><${Text} text=${question.message} lines /></pre>`}
    ${question.url ? html`<${Visit} question=${question} answer=${answer} />` : html`<${QuestionForm} schema=${question.schema} onAnswer=${answer} />`}
    ${problem && html`<${Problem} error=${problem} />`}
    <div class="section"><${Asker} question=${question} /></div>
    <p class="muted section">Its client cannot be asked. Only this page answers it; this command lists what waits:</p>
    <${Command} text=${commandLine(question.workbench, 'approve', '--json')} />`;
}

/** @param {{question: any}} props */
function Card({ question }) {
  const id = useId(), isAsked = question.kind === 'elicitation';
  return html`<section class="card" aria-labelledby=${id}>
    <h2 id=${id}>${isAsked ? html`Server <${Text} text=${question.server || '?'} /> asks` : html`Allow <span class="mono"><${Text} text=${question.tool} /></span>?`}</h2>
    <p class="muted"><${Left} question=${question} />, then ${isAsked ? 'the question is refused' : 'the call is denied'}.</p>
    ${isAsked ? html`<${Elicitation} question=${question} />` : html`<${Approval} question=${question} />`}
  </section>`;
}

export default function Questions() {
  const all = [...questions.value].sort((a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : 0));
  if (!all.length) {
    return html`<div class="view"><${Empty} title="Nothing waits for you">
      <p>Calls that a rule of the policy asks about wait here if <code>policy.ask.via</code> names <code>page</code> or <code>terminal</code>. Questions of servers to clients that cannot be asked do with <code>"elicitation": {"page": true}</code>.</p>
      <p class="muted">To answer at a terminal:</p><${Command} text="mcp-workbench approve --watch" /><//></div>`;
  }
  return html`<div class="view scroll cards">${all.map((question) => html`<${Card} key=${keyOf(question)} question=${question} />`)}</div>`;
}
