// @ts-check
import { Empty, html } from '../ui.js';

export default () => html`<div class="view"><${Empty} title="Not here yet" /></div>`;
