// @ts-check
// The views of the page, in the order of the menu. A module is loaded when its view is first opened.
import { changes, questions, recordings, running } from '../store.js';

/**
 * @typedef {object} View
 * @property {string} id of its address, and of its icon
 * @property {string} title
 * @property {string} key after g
 * @property {() => Promise<{default: any}>} load
 * @property {() => number} [badge] how many wait or run; not shown if 0
 * @property {boolean} [waits] the badge is something that a person should do
 */

/** @type {View[]} */
export const views = [
  { id: 'servers', title: 'Servers', key: 's', load: () => import('./servers.js') },
  { id: 'calls', title: 'Calls', key: 'c', load: () => import('./calls.js'), badge: () => running.value.list.length + running.value.more },
  { id: 'tools', title: 'Tools', key: 't', load: () => import('./tools.js') },
  { id: 'toolboxes', title: 'Toolboxes', key: 'b', load: () => import('./toolboxes.js') },
  { id: 'changes', title: 'Changes', key: 'd', load: () => import('./changes.js'), badge: () => changes.value, waits: true },
  { id: 'questions', title: 'Questions', key: 'q', load: () => import('./questions.js'), badge: () => questions.value.length, waits: true },
  { id: 'clients', title: 'Clients', key: 'l', load: () => import('./clients.js') },
  { id: 'logins', title: 'Logins', key: 'o', load: () => import('./logins.js') },
  { id: 'recordings', title: 'Recordings', key: 'r', load: () => import('./recordings.js'), badge: () => recordings.value.length },
];
