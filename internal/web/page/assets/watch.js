// @ts-check
// The watch: one stream with what happens in all workbenches, opened again when it breaks.
import { effect } from './lib.js';
import { ApiError, at, get, session, stream } from './api.js';
import { apply, connection, refusal, useHistory } from './store.js';

const firstPause = 500, maxPause = 10_000; // ms, before the next try
const silence = 30_000; // ms; the server sends something each 10 s

const hiddenTime = 10_000; // ms, until a hidden tab ends its stream: a browser has only six connections to a server, for all tabs
const stayTime = 20 * 60_000; // ms, between two signs of life of a hidden tab, so that its session does not end

/** @param {number} time in ms */
const pause = (time) => new Promise((resolve) => { setTimeout(resolve, time); });

useHistory(async (pid, after) => {
  /** @type {any[]} */
  const list = [];
  await stream(at(pid, 'history'), { params: { after }, onLine: (call) => list.push(call) });
  return list;
});

/** Waits until the tab is visible. */
async function untilShown() {
  const stay = setInterval(() => { get('hello').catch(() => {}); }, stayTime);
  while (document.hidden) await new Promise((resolve) => { document.addEventListener('visibilitychange', resolve, { once: true }); });
  clearInterval(stay);
}

async function watch() {
  const abort = new AbortController();
  let heard = Date.now();
  // A computer that slept has connections that look open and are not.
  const guard = setInterval(() => { if (Date.now() - heard > silence) abort.abort(); }, 5000);
  let sleep = 0;
  const onVisibility = () => {
    clearTimeout(sleep);
    if (document.hidden) sleep = setTimeout(() => abort.abort(), hiddenTime);
  };
  document.addEventListener('visibilitychange', onVisibility);
  onVisibility();
  try {
    await stream('watch', {
      abort: abort.signal,
      onOpen: () => { refusal.value = null; connection.value = 'live'; },
      onLine: (line) => { heard = Date.now(); apply(line); },
    });
  } finally {
    clearInterval(guard);
    clearTimeout(sleep);
    document.removeEventListener('visibilitychange', onVisibility);
  }
}

let isWatching = false;

/** Watches as long as the session is open. */
async function keepWatching() {
  if (isWatching) return;
  isWatching = true;
  for (let wait = firstPause; session.value === 'open';) {
    const began = Date.now();
    try {
      await watch();
      refusal.value = null;
    } catch (err) {
      refusal.value = err instanceof ApiError && err.status !== 0 ? err : null;
      if (err instanceof ApiError && (err.status === 401 || err.status === 403)) break;
    }
    if (session.value !== 'open') break;
    if (document.hidden) {
      connection.value = 'connecting';
      await untilShown();
      wait = firstPause;
      continue;
    }
    connection.value = 'reconnecting';
    wait = Date.now() - began > maxPause ? firstPause : Math.min(wait * 2, maxPause);
    await pause(wait);
  }
  isWatching = false;
  connection.value = 'stopped';
}

effect(() => { if (session.value === 'open') void keepWatching(); });
