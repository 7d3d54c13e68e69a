// @ts-check
// The address of what is shown: #/VIEW/ARG/ARG?name=value. It never holds anything secret.
import { signal } from './lib.js';

/** @typedef {{view: string, args: string[], params: Record<string, string>}} Route */

/** @param {string} part */
const decode = (part) => { try { return decodeURIComponent(part); } catch { return part; } };

/** @returns {Route} */
function read() {
  const [path, query = ''] = location.hash.slice(1).split('?', 2);
  const [, view = '', ...args] = path.split('/');
  return { view: view || 'servers', args: args.map(decode), params: Object.fromEntries(new URLSearchParams(query)) };
}

export const route = signal(read());
addEventListener('hashchange', () => { route.value = read(); });

/** The address of a view, for a link. @param {string} view @param {(string|number)[]} [args] @param {Record<string, string>} [params] */
export function address(view, args = [], params = {}) {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== '')).toString();
  return `#/${[view, ...args].map((arg) => encodeURIComponent(String(arg))).join('/')}${query ? `?${query}` : ''}`;
}

/** Goes to a view. @param {string} view @param {(string|number)[]} [args] @param {Record<string, string>} [params] */
export function navigate(view, args, params) { location.hash = address(view, args, params); }

/** The same without a new entry in the history of the tab. A view that is being left changes nothing. @param {string} view @param {(string|number)[]} [args] @param {Record<string, string>} [params] */
export function replace(view, args, params) {
  if (read().view !== view) return; // somebody has gone elsewhere, which is not drawn yet
  history.replaceState(null, '', address(view, args, params));
  route.value = read();
}
