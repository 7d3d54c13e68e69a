// @ts-check
// What is around each view: the menu, and the bar with the workbenches, the connection and what waits.
import { html, signal, useEffect, useErrorBoundary, useRef } from './lib.js';
import { overlay } from './keys.js';
import { hello } from './login.js';
import { address, route } from './router.js';
import { benchLabel, connection, isComplete, questions, refusal, workbenches } from './store.js';
import { Bytes, Clock, Command, Confirm, Dialog, Empty, Facts, Icon, LiveRegion, Loading, Notices, Problem, Status, Text, announce, isNarrow } from './ui.js';
import { Overlay } from './palette.js';
import { views } from './views/index.js';

const barViews = ['servers', 'calls', 'tools', 'questions']; // at the bottom of a narrow screen; the rest is in the menu

/** @param {{view: import('./views/index.js').View, onGo?: () => void}} props */
function MenuItem({ view, onGo }) {
  const count = view.badge?.() ?? 0;
  return html`<a href=${address(view.id)} class=${view.waits ? 'menu-item waits' : 'menu-item'} aria-current=${route.value.view === view.id ? 'page' : undefined} onClick=${onGo}>
    <${Icon} name=${view.id} /><span>${view.title}</span>${count > 0 && html`<span class="badge">${count > 999 ? '999+' : count}<span class="unseen">${view.waits ? ' waiting' : ' running'}</span></span>`}</a>`;
}

function Menu() {
  if (!isNarrow.value) return html`<nav class="menu" aria-label="Views">${views.map((view) => html`<${MenuItem} key=${view.id} view=${view} />`)}</nav>`;
  const close = () => { overlay.value = ''; };
  const rest = views.filter((view) => !barViews.includes(view.id)), waits = rest.some((view) => view.waits && (view.badge?.() ?? 0) > 0);
  return html`<nav class="bottom" aria-label="Views">
      ${views.filter((view) => barViews.includes(view.id)).map((view) => html`<${MenuItem} key=${view.id} view=${view} />`)}
      <button type="button" class="menu-item" aria-haspopup="dialog" aria-current=${rest.some((view) => view.id === route.value.view) ? 'page' : undefined} onClick=${() => { overlay.value = 'menu'; }}>
        <${Icon} name="more" /><span>More</span>${waits && html`<span class="badge dot"><span class="unseen">something waits</span></span>`}</button>
    </nav>
    ${overlay.value === 'menu' && html`<${Dialog} title="Views" onClose=${close}><div class="menu-list">${rest.map((view) => html`<${MenuItem} key=${view.id} view=${view} onGo=${close} />`)}</div><//>`}`;
}

/** The workbench whose facts are shown, by its pid; 0 for none. */
const openBench = signal(0);

/** @param {{bench: any}} props */
function BenchButton({ bench }) {
  const trouble = bench.problem || bench.notice;
  return html`<button type="button" class=${trouble ? 'chip warn' : 'chip'} onClick=${() => { openBench.value = bench.pid; }} title=${[bench.config, bench.folder].filter(Boolean).join('\n')}>
    ${trouble && html`<${Icon} name="warning" />`}<span class="chip-name"><${Text} text=${benchLabel(bench.pid)} /></span><span class="muted num">${bench.pid}</span>${trouble && html`<span class="unseen">has a problem</span>`}</button>`;
}

function BenchDialog() {
  const bench = /** @type {any} */ (workbenches.value.find((one) => one.pid === openBench.value));
  if (!bench) return null;
  return html`<${Dialog} title=${`Workbench ${bench.pid}`} onClose=${() => { openBench.value = 0; }}>
    ${bench.problem && html`<${Problem} title="The configuration as it is now is not in use" hint=${html`<${Text} text=${bench.problem} lines />`} />`}
    ${bench.notice && html`<${Problem} title="Files are not used" hint=${html`<${Text} text=${bench.notice} lines />`} />`}
    <${Facts} pairs=${[
      ['Version', bench.version], ['Serves', bench.serving === 'shared' ? 'clients that share it' : bench.serving === 'http' ? 'clients over HTTP' : 'one client over stdio'],
      ['Configuration', bench.config || 'built-in'], ['Project', bench.project], ['Folder', bench.folder], ['Audit log', bench.audit],
      ['Started', html`<${Clock} at=${bench.started} day />`], ['Configuration read', bench.loaded && html`<${Clock} at=${bench.loaded} day />`], ['Memory of its own', bench.memoryBytes ? html`<${Bytes} bytes=${bench.memoryBytes} />` : ''],
    ]} />
    <p class="muted">To check the configuration:</p><${Command} text=${bench.config ? `mcp-workbench validate ${bench.config}` : 'mcp-workbench validate'} />
  <//>`;
}

function Connection() {
  const word = { live: 'live', connecting: 'connecting', reconnecting: 'reconnecting…' }[connection.value] ?? 'not connected';
  useEffect(() => { if (word !== 'connecting') announce(word === 'live' ? 'Connected' : `Connection: ${word}`); }, [word]);
  return html`<${Status} word=${word} />`;
}

function TopBar() {
  const waiting = views.filter((view) => view.waits && (view.badge?.() ?? 0) > 0);
  return html`<header class="top">
    <a class="brand" href=${address('servers')}>MCP Workbench</a>
    <div class="benches">${workbenches.value.map((bench) => html`<${BenchButton} key=${bench.pid} bench=${bench} />`)}</div>
    <div class="top-end">
      ${!isNarrow.value && waiting.map((view) => html`<a key=${view.id} class="chip waits" href=${address(view.id)}><${Icon} name=${view.id} />${view.badge?.()} ${view.badge?.() === 1 ? view.title.toLowerCase().slice(0, -1) : view.title.toLowerCase()}</a>`)}
      <${Connection} />
      <button type="button" class="icon-button" aria-label="Go to… (Ctrl K)" title="Go to… (Ctrl K)" onClick=${() => { overlay.value = 'palette'; }}><${Icon} name="search" /></button>
      ${!isNarrow.value && html`<button type="button" class="icon-button" aria-label="Keys (?)" title="Keys (?)" onClick=${() => { overlay.value = 'help'; }}><${Icon} name="question" /></button>`}
    </div>
  </header>`;
}

/** The modules that are loaded: of a view its component, or the error. @type {import('@preact/signals').Signal<Record<string, {component?: any, error?: any}>>} */
const loaded = signal({});

/** @param {import('./views/index.js').View} view */
async function load(view) {
  try {
    const { default: component } = await view.load();
    loaded.value = { ...loaded.value, [view.id]: { component } };
  } catch (error) {
    loaded.value = { ...loaded.value, [view.id]: { error } };
  }
}

/** A view that fails does not take the page with it. @param {{component: any}} props */
function Guarded({ component }) {
  const [error, reset] = useErrorBoundary((err) => { console.error(err); });
  const { args, params } = route.value;
  if (error) return html`<div class="view"><${Problem} title="This view failed" hint=${error.message}><button type="button" class="button" onClick=${reset}>Try again</button><//></div>`;
  return html`<${component} args=${args} params=${params} />`;
}

function Content() {
  const view = views.find((one) => one.id === route.value.view);
  useEffect(() => {
    if (view && !loaded.value[view.id]) void load(view);
    if (view) announce(view.title);
  }, [view]);
  const waiting = questions.value.length, former = useRef(waiting);
  useEffect(() => {
    const name = view ? `${view.title} – MCP Workbench` : 'MCP Workbench';
    document.title = waiting ? `(${waiting}) ${name}` : name;
  }, [view, waiting]);
  useEffect(() => {
    if (waiting > former.current) announce(waiting === 1 ? 'A question waits for you' : `${waiting} questions wait for you`);
    former.current = waiting;
  }, [waiting]);
  if (!view) return html`<${Empty} title="There is no such view"><a href=${address('servers')}>Show the servers</a><//>`;
  if (isComplete.value && !workbenches.value.length) return html`<${NoWorkbench} />`;
  const state = loaded.value[view.id];
  if (!state) return html`<${Loading} />`;
  if (state.error) return html`<div class="view"><${Problem} title="The view could not be loaded" hint="Reload the page. The server of the page may have ended." /></div>`;
  return html`<${Guarded} key=${view.id} component=${state.component} />`;
}

const NoWorkbench = () => html`<${Empty} title="No workbench runs">
  <p>MCP clients start one by themselves. To have one of your clients use the workbench:</p><${Command} text="mcp-workbench connect" />
  <p>Or start one for all clients of this computer, over HTTP:</p><${Command} text="mcp-workbench serve" />
  <p class="muted">This page notices it by itself.</p><//>`;

/** The page, for who has a session. */
export const Layout = () => html`
  <a class="skip" href="#content" onClick=${(/** @type {Event} */ event) => { event.preventDefault(); document.getElementById('content')?.focus(); }}>Skip to the content</a>
  <${TopBar} /><${Menu} />
  <main id="content" tabindex="-1">
    ${connection.value === 'reconnecting' && html`<p class="banner" role="status">${refusal.value ? `${refusal.value.message}. ${refusal.value.hint}` : 'The connection is lost.'} What you see may be old. Trying again…${!refusal.value && hello.value?.mode === 'ui' && ' If “mcp-workbench ui” has ended, start it again.'}</p>`}
    <h1 class="unseen">${views.find((one) => one.id === route.value.view)?.title ?? 'MCP Workbench'}</h1>
    <${Content} />
  </main>
  <${BenchDialog} /><${Overlay} /><${Confirm} /><${Notices} /><${LiveRegion} />`;
