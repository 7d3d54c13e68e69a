// @ts-check
// The watch: one stream with what happens in all workbenches, opened again when it breaks.
import { effect } from './lib.js';
import { ApiError, at, session, stream } from './api.js';
import { apply, connection, useHistory } from './store.js';

const firstPause = 500, maxPause = 10_000; // ms, before the next try
const silence = 30_000; // ms; the server sends something each 10 s

/** @param {number} time in ms */
const pause = (time) => new Promise((resolve) => { setTimeout(resolve, time); });

useHistory(async (pid, after) => {
  /** @type {any[]} */
  const list = [];
  await stream(at(pid, 'history'), { params: { after }, onLine: (call) => list.push(call) });
  return list;
});

async function watch() {
  const abort = new AbortController();
  let heard = Date.now();
  // A computer that slept has connections that look open and are not.
  const guard = setInterval(() => { if (Date.now() - heard > silence) abort.abort(); }, 5000);
  let hasOpened = false;
  try {
    await stream('watch', {
      abort: abort.signal,
      onOpen: () => { hasOpened = true; connection.value = 'live'; },
      onLine: (line) => { heard = Date.now(); apply(line); },
    });
  } finally {
    clearInterval(guard);
  }
  return hasOpened;
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
    } catch (err) {
      if (err instanceof ApiError && (err.status === 401 || err.status === 403)) break;
    }
    if (session.value !== 'open') break;
    connection.value = 'reconnecting';
    wait = Date.now() - began > maxPause ? firstPause : Math.min(wait * 2, maxPause);
    await pause(wait);
  }
  isWatching = false;
  connection.value = 'stopped';
}

effect(() => { if (session.value === 'open') void keepWatching(); });
