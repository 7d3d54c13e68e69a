// @ts-check
// Who may see the page: a link opens it once, or a token does.
import { html, signal, useState } from './lib.js';
import { ApiError, closeSession, get, hasToken, keepToken, post, session } from './api.js';
import { Command, Problem } from './ui.js';

/** What the server said of itself. @type {import('@preact/signals').Signal<{version: string, mode: string, name?: string}|null>} */
export const hello = signal(null);
/** Why the page is not open: an error of the server. @type {import('@preact/signals').Signal<any>} */
const refused = signal(null);
/** What opens it: a "link", a "token", or "" if that is not known. */
const needs = signal('');

/** @param {any} err */
function refuse(err) {
  refused.value = err;
  if (err instanceof ApiError) needs.value = err.needs || (err.status === 401 ? 'token' : needs.value); // the gate of "serve" does not say it
}

/** Opens the page: with the code of the link, or the token that this tab has. */
export async function begin() {
  const code = new URLSearchParams(location.hash.slice(1)).get('once');
  if (code) {
    history.replaceState(null, '', '#/servers'); // nobody finds the code in the address later
    try {
      keepToken((await post('session', {}, { code })).token);
    } catch (err) {
      refuse(err);
      if (!hasToken()) { closeSession('none'); return; }
    }
  }
  await greet();
}

async function greet() {
  const had = hasToken();
  try {
    hello.value = await get('hello');
    refused.value = null;
    session.value = 'open';
  } catch (err) {
    if (had || !(err instanceof ApiError && err.status === 401)) refuse(err);
    else needs.value = err.needs || 'token';
    if (session.value !== 'ended') closeSession('none');
  }
}

function TokenForm() {
  const [token, setToken] = useState(''), [isBusy, setBusy] = useState(false);
  /** @param {Event} event */
  const onSubmit = async (event) => {
    event.preventDefault();
    setBusy(true);
    openToken(token.trim()).finally(() => setBusy(false));
  };
  return html`<form class="login-form" onSubmit=${onSubmit}>
    <label>Token <input type="password" autocomplete="off" spellcheck=${false} value=${token} placeholder="mcpw_…" required
      onInput=${(/** @type {any} */ event) => setToken(event.target.value)} /></label>
    <button class="button primary" disabled=${isBusy || !token.trim()}>Open the page</button>
  </form>
  <p class="muted">To make a token that may use the page:</p><${Command} text="mcp-workbench token add NAME --for page" />`;
}

/** @param {string} token */
async function openToken(token) {
  keepToken(token);
  session.value = 'unknown';
  await greet();
}

/** The screen without a session. */
export function Login() {
  const isEnded = session.value === 'ended', error = refused.value, isServe = hello.value?.mode === 'serve';
  return html`<main class="login">
    <h1>MCP Workbench</h1>
    ${isEnded && html`<${Problem} title="The session has ended" hint=${isServe ? 'The token was removed or has expired.' : 'It was not used for an hour, or the server of this page was started again.'} />`}
    ${error && !isEnded && html`<${Problem} error=${error} />`}
    ${needs.value !== 'token' && html`<section><h2>Open it with a link</h2>
      <p>A link opens the page once, within a minute. In a terminal, run:</p>
      <${Command} text="mcp-workbench ui" />
      <p class="muted">Where it runs already, the Enter key prints a new link.</p></section>`}
    ${needs.value !== 'link' && html`<section><h2>${needs.value ? 'Sign in' : 'Or with a token, if the page is of “serve --ui”'}</h2><${TokenForm} /></section>`}
  </main>`;
}
