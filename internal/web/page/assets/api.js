// @ts-check
// Requests to the server of the page. All carry the token of the session; there are no cookies.
import { signal } from './lib.js';

const tokenKey = 'mcp-workbench-token';
const maxLine = 8 << 20; // of a stream, in characters

/** Whether there is a session: "unknown", "none", "open", or "ended" if the server no longer knows it. */
export const session = signal('unknown');

/** An error that the server reports: what happened, where to go next, and a code of docs/errors.md. */
export class ApiError extends Error {
  /** @param {number} status @param {{error?: string, hint?: string, code?: string, needs?: string}} body */
  constructor(status, body) {
    super(body.error || `The server answered with status ${status}`);
    this.status = status;
    this.hint = body.hint || '';
    this.code = body.code || '';
    this.needs = body.needs || ''; // what would help: a "link" or a "token"
  }
}

/** Keeps a token for this tab. @param {string} token */
export const keepToken = (token) => sessionStorage.setItem(tokenKey, token);

/** @param {"none"|"ended"} how */
export function closeSession(how) {
  sessionStorage.removeItem(tokenKey);
  session.value = how;
}

export const hasToken = () => sessionStorage.getItem(tokenKey) !== null;

/** JSON to send as it was written: numbers keep all of their digits. */
export class Raw {
  /** @param {string} text */
  constructor(text) { this.text = text; }
}

/**
 * The address of a request.
 * @param {string} path below /ui/api/
 * @param {Record<string, string|number|boolean|undefined>} [params] without those that are undefined or ""
 */
function address(path, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  const text = query.toString();
  return new URL(`api/${path}${text ? `?${text}` : ''}`, document.baseURI);
}

/**
 * @param {string} method @param {string} path @param {object} [params] @param {unknown} [body] as JSON
 * @param {AbortSignal} [abort]
 * @returns {Promise<Response>} a good one
 */
async function send(method, path, params, body, abort) {
  const headers = new Headers();
  const token = sessionStorage.getItem(tokenKey);
  if (token) headers.set('Authorization', `Bearer ${token}`);
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  let response;
  try {
    response = await fetch(address(path, /** @type {any} */ (params)), {
      method, headers, body: body === undefined ? undefined : body instanceof Raw ? body.text : JSON.stringify(body),
      signal: abort, cache: 'no-store', credentials: 'omit', redirect: 'error',
    });
  } catch (err) {
    if (abort?.aborted) throw err;
    throw new ApiError(0, { error: 'The server of this page does not answer', hint: 'See whether "mcp-workbench ui" still runs' });
  }
  if (response.ok) return response;
  if (response.status === 401 && token) closeSession(session.value === 'unknown' ? 'none' : 'ended'); // what never opened cannot end
  const problem = await response.json().catch(() => (response.status === 404 ? { error: 'The workbench does not know this request', hint: 'It may be of another version: start it again after an update' } : {}));
  throw new ApiError(response.status, problem);
}

/** The answer to a GET, from JSON. @param {string} path @param {object} [params] @param {AbortSignal} [abort] @returns {Promise<any>} */
export async function get(path, params, abort) {
  return (await send('GET', path, params, undefined, abort)).json();
}

/** The answer to a GET, as text. @param {string} path @param {object} [params] @param {AbortSignal} [abort] */
export async function getText(path, params, abort) {
  return (await send('GET', path, params, undefined, abort)).text();
}

/** The answer to a GET, to save as a file. @param {string} path @param {object} [params] */
export async function getBlob(path, params) {
  return (await send('GET', path, params)).blob();
}

/** The answer to a POST, from JSON. @param {string} path @param {object} [params] @param {unknown} [body] @param {AbortSignal} [abort] @returns {Promise<any>} */
export async function post(path, params, body, abort) {
  const text = await (await send('POST', path, params, body, abort)).text();
  return text ? JSON.parse(text) : {};
}

/** The path of a request to one workbench. @param {number} pid @param {string} what "server", "tools", … */
export const at = (pid, what) => `w/${pid}/${what}`;

/**
 * Passes the lines of an NDJSON answer to a function, one value at a time, until the stream ends.
 * @param {string} path
 * @param {{params?: object, method?: string, body?: unknown, abort?: AbortSignal, onOpen?: () => void, onLine: (value: any) => void}} how
 */
export async function stream(path, { params, method = 'GET', body, abort, onOpen, onLine }) {
  const response = await send(method, path, params, body, abort);
  onOpen?.();
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).pipeThrough(/** @type {any} */ (new TextDecoderStream())).getReader();
  try {
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + (value ?? '')).split('\n');
      rest = done ? '' : /** @type {string} */ (lines.pop());
      for (const line of lines) if (line.trim()) onLine(JSON.parse(line));
      if (done) return;
      if (rest.length > maxLine) throw new ApiError(0, { error: 'The server sent a line that is too long' });
    }
  } finally {
    reader.cancel().catch(() => {}); // the server sees that nobody reads any more
  }
}
