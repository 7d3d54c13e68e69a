// @ts-check
// The start of the page: it exchanges the code of the link for a token, and shows what the server says of itself.
import { render } from 'preact';
import { html } from 'htm/preact';
import { signal } from '@preact/signals';

const text = signal('Loading…');

/** @param {string} path @param {RequestInit} [init] */
async function ask(path, init = {}) {
  const token = sessionStorage.getItem('token');
  const headers = { 'Content-Type': 'application/json', ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  const response = await fetch(`./api/${path}`, { ...init, headers });
  const body = await response.json();
  if (!response.ok) throw new Error(body.error);
  return body;
}

async function start() {
  const code = new URLSearchParams(location.hash.slice(1)).get('once');
  if (code) {
    history.replaceState(null, '', location.pathname);
    sessionStorage.setItem('token', (await ask('session', { method: 'POST', body: JSON.stringify({ code }) })).token);
  }
  const hello = await ask('hello');
  text.value = `MCP Workbench ${hello.version}`;
}

const Page = () => html`<p role="status">${text}</p>`;
render(html`<${Page} />`, /** @type {HTMLElement} */ (document.getElementById('page')));
start().catch((problem) => { text.value = problem.message; });
