// @ts-check
// The start of the page.
import { html, render } from './lib.js';
import { session } from './api.js';
import { listenToKeys } from './keys.js';
import { Layout } from './layout.js';
import { Login, begin } from './login.js';
import { startClock } from './store.js';
import { Loading } from './ui.js';
import './watch.js';

function App() {
  switch (session.value) {
    case 'open': return html`<${Layout} />`;
    case 'unknown': return html`<${Loading} />`;
  }
  return html`<${Login} />`;
}

const root = /** @type {HTMLElement} */ (document.getElementById('page'));
root.replaceChildren();
render(html`<${App} />`, root);
listenToKeys();
startClock();
// A new link in a tab that has the page already changes the address only.
addEventListener('hashchange', () => { if (location.hash.startsWith('#once=')) void begin(); });
void begin();
