// @ts-check
// A form made of a schema; see Form in internal/terminal/arguments.
import { Text, html, notify, useEffect, useId, useState } from '../ui.js';
import { fits, initial, isObject, numberText, parseJson, parseNumber, withMember } from './form-value.js';

const maxFile = 2_500_000; // bytes; the server of the page takes requests of up to 4 MiB

/** @typedef {{field: any, value: any, onChange: (value: any) => void}} Props */

/** The name of a field with what it takes, and the field. @param {Props} props */
export function Field(props) {
  const { field, value, onChange } = props, id = useId();
  const Kind = kinds[field.type] ?? JsonField;
  const isGroup = ['object', 'list', 'map', 'oneOf'].includes(field.type);
  const name = html`<${Text} text=${field.title || field.name || field.type} />${field.title && field.name && field.title !== field.name && html` <code><${Text} text=${field.name} /></code>`}`;
  const about = html`${field.required ? html`<span class="muted"> (needed)</span>` : null}
    ${field.nullable && html` <button type="button" class="link" aria-pressed=${String(value === null)} onClick=${() => onChange(value === null ? undefined : null)}>${value === null ? 'null – change' : 'set to null'}</button>`}`;
  const help = [field.description, field.note && `${field.note}: enter JSON.`, field.default !== undefined && `Default: ${JSON.stringify(field.default)}`, limits(field)].filter(Boolean).join(' ');
  const control = value === null && field.nullable ? null : html`<${Kind} ...${props} id=${id} help=${help ? `${id}-help` : undefined} />`;
  const text = help && html`<p class="field-help" id=${`${id}-help`}><${Text} text=${help} lines /></p>`;
  if (isGroup) return html`<fieldset class="field"><legend>${name}${about}</legend>${text}${control}</fieldset>`;
  return html`<div class="field"><div><label for=${id}>${name}</label>${about}</div>${text}${control}</div>`;
}

/** @param {any} field */
function limits(field) {
  const parts = [];
  if (field.minimum !== undefined) parts.push(`at least ${field.minimum}`);
  if (field.maximum !== undefined) parts.push(`at most ${field.maximum}`);
  if (field.minLength) parts.push(`at least ${field.minLength} characters`);
  if (field.maxLength !== undefined) parts.push(`at most ${field.maxLength} characters`);
  if (field.minItems) parts.push(`at least ${field.minItems} values`);
  if (field.maxItems !== undefined) parts.push(`at most ${field.maxItems} values`);
  if (field.pattern) parts.push(`like ${field.pattern}`);
  return parts.length ? `Takes ${parts.join(', ')}.` : '';
}

const inputTypes = /** @type {Record<string, string>} */ ({ date: 'date', email: 'email', uri: 'url' });

/** @param {any} props */
function TextField({ field, value, onChange, id, help }) {
  const [isShown, setShown] = useState(false);
  const text = typeof value === 'string' ? value : '';
  const set = (/** @type {any} */ event) => onChange(event.target.value === '' && !field.required ? undefined : event.target.value);
  const same = { id, value: text, onInput: set, 'aria-describedby': help, spellcheck: false, autocomplete: 'off' };
  if (field.secret) {
    return html`<div class="field-row"><input ...${same} type=${isShown ? 'text' : 'password'} autocomplete="new-password" /><button type="button" class="button small" aria-pressed=${String(isShown)} onClick=${() => setShown(!isShown)}>Show</button></div>`;
  }
  const type = inputTypes[field.format];
  if (type) return html`<input ...${same} type=${type} />`;
  return html`<textarea ...${same} rows=${Math.min(8, text.split('\n').length)} placeholder=${field.format ?? ''}></textarea>`;
}

/** @param {any} props */
function NumberField({ field, value, onChange, id, help }) {
  const [typed, setTyped] = useState(numberText(value));
  const known = parseNumber(typed, field.type === 'integer');
  useEffect(() => { if (numberText(value) !== numberText(known)) setTyped(numberText(value)); }, [numberText(value)]);
  const isWrong = typed !== '' && known === undefined;
  return html`<input id=${id} type="text" inputmode="decimal" autocomplete="off" value=${typed} aria-describedby=${help} aria-invalid=${isWrong ? 'true' : undefined}
    onInput=${(/** @type {any} */ event) => { setTyped(event.target.value); onChange(parseNumber(event.target.value, field.type === 'integer')); }} />
    ${isWrong && html`<p class="bad-text">That is no ${field.type === 'integer' ? 'whole number' : 'number'}.</p>`}`;
}

/** @param {any} props */
function ChoiceField({ field, value, onChange, id, help }) {
  const values = field.type === 'boolean' ? [true, false] : field.values;
  const chosen = values.findIndex((/** @type {any} */ one) => JSON.stringify(one) === JSON.stringify(value));
  const label = (/** @type {number} */ n) => field.labels?.[n] || (typeof values[n] === 'string' ? values[n] : JSON.stringify(values[n]));
  return html`<select id=${id} aria-describedby=${help} value=${String(chosen)} onChange=${(/** @type {any} */ event) => onChange(values[Number(event.target.value)])}>
    <option value="-1">–</option>${values.map((/** @type {any} */ _, /** @type {number} */ n) => html`<option key=${n} value=${String(n)}><${Text} text=${label(n)} /></option>`)}</select>`;
}

/** @param {any} props */
function FileField({ field, value, onChange, id, help }) {
  const read = async (/** @type {any} */ event) => {
    const file = event.target.files[0];
    if (!file) return;
    if (file.size > maxFile) { notify('The file is too large for the page', { hint: 'Use the command, which takes larger ones.', isProblem: true }); return; }
    if (!field.base64) { onChange(await file.text()); return; }
    const reader = new FileReader();
    reader.onload = () => { const url = String(reader.result); onChange(url.slice(url.indexOf(',') + 1)); };
    reader.readAsDataURL(file);
  };
  return html`<div class="field-row"><input id=${id} type="file" accept=${field.mediaType ?? ''} aria-describedby=${help} onChange=${read} />
    <span class="muted">${typeof value === 'string' ? `${value.length} characters${field.base64 ? ' of base64' : ''}` : 'no content'}</span>
    ${value !== undefined && html`<button type="button" class="button small" onClick=${() => onChange(undefined)}>Remove</button>`}</div>`;
}

/** @param {any} props */
function JsonField({ value, onChange, id, help }) {
  const shown = value === undefined ? '' : JSON.stringify(value, null, 2);
  const [typed, setTyped] = useState(shown);
  let known = /** @type {any} */ (undefined), problem = '';
  try { known = typed.trim() === '' ? undefined : parseJson(typed); } catch (err) { problem = String(/** @type {Error} */ (err).message); }
  useEffect(() => { if (!problem && JSON.stringify(known) !== JSON.stringify(value)) setTyped(shown); }, [shown]);
  return html`<textarea id=${id} class="mono" rows=${Math.min(10, typed.split('\n').length + 1)} value=${typed} spellcheck=${false} aria-describedby=${help} aria-invalid=${problem ? 'true' : undefined} placeholder="JSON"
    onInput=${(/** @type {any} */ event) => {
      setTyped(event.target.value);
      try { onChange(event.target.value.trim() === '' ? undefined : parseJson(event.target.value)); } catch { /* it is shown below */ }
    }}></textarea>${problem && html`<p class="bad-text">${problem}</p>`}`;
}

/** The fields of an object, without a frame. @param {Props} props */
export function Members({ field, value, onChange }) {
  const own = isObject(value) ? value : {};
  const set = (/** @type {string} */ name, /** @type {any} */ part) => {
    const next = withMember(own, name, part);
    onChange(!field.required && !Object.keys(next).length ? undefined : next);
  };
  return html`${(field.fields ?? []).map((/** @type {any} */ part) => html`<${Field} key=${part.path} field=${part} value=${Object.hasOwn(own, part.name) ? own[part.name] : undefined} onChange=${(/** @type {any} */ one) => set(part.name, one)} />`)}
    ${field.alternatives && html`<${Alternatives} field=${field} value=${value} onChange=${onChange} />`}
    ${field.items && html`<${MapField} field=${field} value=${value} onChange=${onChange} known=${new Set((field.fields ?? []).map((/** @type {any} */ f) => f.name))} />`}`;
}

/** @param {any} props */
function Alternatives({ field, value, onChange }) {
  const [chosen, setChosen] = useState(() => (value === undefined ? -1 : field.alternatives.findIndex((/** @type {any} */ one) => fits(one, value))));
  const id = useId(), one = field.alternatives[chosen], isMembers = field.type === 'object';
  const choose = (/** @type {any} */ event) => {
    const n = Number(event.target.value), next = field.alternatives[n];
    setChosen(n);
    if (isMembers) { // the members of the one before go, those of all stay
      let rest = isObject(value) ? value : {};
      for (const part of one?.fields ?? []) rest = withMember(rest, part.name, undefined);
      onChange({ ...rest, ...(next ? initial({ ...next, required: true, default: undefined }) : {}) });
    } else onChange(next ? initial({ ...next, required: true }) : undefined);
  };
  return html`<div class="field"><label for=${id}>One of</label>
    <select id=${id} value=${String(chosen)} onChange=${choose}><option value="-1">–</option>${field.alternatives.map((/** @type {any} */ other, /** @type {number} */ n) => html`<option key=${n} value=${String(n)}><${Text} text=${other.title} /></option>`)}</select>
    ${one && (one.type === 'object' ? html`<${Members} key=${chosen} field=${{ ...one, required: true }} value=${value} onChange=${onChange} />`
    : html`<${Field} key=${chosen} field=${{ ...one, name: '', required: true }} value=${value} onChange=${onChange} />`)}</div>`;
}

/** @param {any} props */
function ListField({ field, value, onChange }) {
  const all = Array.isArray(value) ? value : [];
  const set = (/** @type {any[]} */ next) => onChange(!next.length && !field.required ? undefined : next);
  return html`${all.map((one, n) => html`<div class="field-item" key=${n}><${Field} field=${{ ...field.items, title: `${n + 1}`, name: '' }} value=${one} onChange=${(/** @type {any} */ next) => set(all.with(n, next === undefined ? null : next))} />
    <button type="button" class="button small" aria-label=${`Remove value ${n + 1}`} onClick=${() => set(all.toSpliced(n, 1))}>Remove</button></div>`)}
    <button type="button" class="button small" onClick=${() => set([...all, initial(field.items) ?? (field.items.type === 'text' ? '' : null)])}>Add a value</button>`;
}

/** @param {any} props */
function MapField({ field, value, onChange, known = new Set() }) {
  const [name, setName] = useState(''), id = useId();
  const own = isObject(value) ? value : {}, names = Object.keys(own).filter((key) => !known.has(key));
  const add = () => { if (name && !Object.hasOwn(own, name) && !known.has(name)) { onChange(withMember(own, name, initial(field.items) ?? (field.items.type === 'text' ? '' : null))); setName(''); } };
  return html`${names.map((key) => html`<div class="field-item" key=${key}><${Field} field=${{ ...field.items, title: key, name: '' }} value=${own[key]} onChange=${(/** @type {any} */ one) => onChange(withMember(own, key, one === undefined ? null : one))} />
    <button type="button" class="button small" onClick=${() => onChange(withMember(own, key, undefined))}>Remove</button></div>`)}
    <div class="field-row"><label for=${id}>Another name</label><input id=${id} value=${name} autocomplete="off" onInput=${(/** @type {any} */ event) => setName(event.target.value)} /><button type="button" class="button small" disabled=${!name} onClick=${add}>Add</button></div>`;
}

const kinds = /** @type {Record<string, any>} */ ({
  text: TextField, number: NumberField, integer: NumberField, boolean: ChoiceField, choice: ChoiceField, constant: ChoiceField,
  object: Members, list: ListField, map: MapField, oneOf: Alternatives, file: FileField, json: JsonField,
});
