// @ts-check
// The calls that a person tries. They go on while another view is open; leaving the page cancels them.
import { announce, signal } from '../ui.js';
import { ApiError, Raw, at, post, stream } from '../api.js';

const maxLogs = 200, maxKept = 30; // log lines of a call; tools whose last call is kept

/**
 * @typedef {object} Trial
 * @property {"running"|"ok"|"tool error"|"failed"|"cancelled"} state
 * @property {any} [progress]
 * @property {any[]} logs
 * @property {{id: string, method: string, params: any}[]} questions
 * @property {any} [result]
 * @property {{message: string, hint?: string, code?: any, data?: any}} [error]
 * @property {number} [took]
 */

/** @type {Map<string, {state: import('@preact/signals').Signal<Trial|null>, abort: AbortController|null}>} */
const all = new Map();

/** The last call of a tool. @param {string} key */
export function trialOf(key) {
  let one = all.get(key);
  if (!one) {
    if (all.size >= maxKept) {
      const idle = [...all].find(([, other]) => !other.abort);
      if (idle) all.delete(idle[0]);
    }
    one = { state: signal(null), abort: null };
    all.set(key, one);
  }
  return one;
}

/** @param {string} key @param {number} pid @param {{toolbox: string, server: string, tool: string}} what @param {string} text the arguments */
export async function start(key, pid, what, text) {
  const one = trialOf(key), abort = new AbortController();
  one.abort = abort;
  one.state.value = { state: 'running', logs: [], questions: [] };
  /** @param {Partial<Trial>} changed */
  const set = (changed) => { if (one.abort === abort && one.state.value) one.state.value = { ...one.state.value, ...changed }; };
  const onLine = (/** @type {any} */ event) => {
    const now = /** @type {Trial} */ (one.state.peek());
    if (event.progress) set({ progress: event.progress });
    if (event.log) set({ logs: [...now.logs, event.log].slice(-maxLogs) });
    if (event.question) { set({ questions: [...now.questions, event.question] }); announce('The server asks a question'); }
    if (event.withdrawn) set({ questions: now.questions.filter((q) => q.id !== event.withdrawn) });
    if (event.result !== undefined || event.error) {
      const state = event.error ? 'failed' : event.result?.isError ? 'tool error' : 'ok';
      set({ state, result: event.result, error: event.error, took: event.tookSeconds, questions: [], progress: undefined });
      announce(`The call ended: ${state}`);
    }
  };
  try {
    await stream(at(pid, 'call'), { method: 'POST', params: what, body: new Raw(text), abort: abort.signal, onLine });
    if (one.state.peek()?.state === 'running') set({ state: 'failed', error: { message: 'The workbench ended before the call did' }, questions: [] });
  } catch (err) {
    if (abort.signal.aborted) set({ state: 'cancelled', questions: [], progress: undefined });
    else set({ state: 'failed', questions: [], error: { message: err instanceof Error ? err.message : String(err), hint: err instanceof ApiError ? err.hint : '' } });
  } finally {
    if (one.abort === abort) one.abort = null;
  }
}

/** Closes the connection, which cancels the call at the server. @param {string} key */
export const cancel = (key) => all.get(key)?.abort?.abort();

/** @param {string} key @param {number} pid @param {string} question @param {{action: string, content?: any}|Raw} result */
export async function answer(key, pid, question, result) {
  await post(at(pid, 'call/answer'), { question }, result);
  const state = trialOf(key).state;
  if (state.value) state.value = { ...state.value, questions: state.value.questions.filter((q) => q.id !== question) };
}
