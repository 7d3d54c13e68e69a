// @ts-check
// The form of a server's question, from its schema: flat, of texts, numbers, yes or no, and choices.
import { Text, html, useId, useMemo, useState } from '../ui.js';

/** @typedef {{name: string, title: string, description: string, kind: string, isRequired: boolean, options: {value: string, title: string}[]|null, schema: any}} Field */

/** @param {any} schema @returns {{value: string, title: string}[]|null} */
function optionsOf(schema) {
  if (Array.isArray(schema?.enum)) return schema.enum.map((/** @type {any} */ value, /** @type {number} */ n) => ({ value: String(value), title: String(schema.enumNames?.[n] ?? value) }));
  const choices = schema?.oneOf ?? schema?.anyOf;
  if (!Array.isArray(choices)) return null;
  return choices.filter((one) => one?.const !== undefined).map((one) => ({ value: String(one.const), title: String(one.title ?? one.const) }));
}

/** @param {any} schema @returns {Field[]} */
function fieldsOf(schema) {
  const required = Array.isArray(schema?.required) ? schema.required : [];
  return Object.entries(schema?.properties ?? {}).map(([name, /** @type {any} */ field]) => ({
    name, schema: field, title: String(field?.title ?? name), description: String(field?.description ?? ''), isRequired: required.includes(name),
    kind: String(field?.type ?? 'string'), options: optionsOf(field?.type === 'array' ? field?.items : field),
  }));
}

/** What is entered first: nothing, unless the field is required. A default of another is the server's to fill in. @param {Field} field */
function initial({ kind, isRequired, schema }) {
  const given = isRequired ? schema?.default : undefined;
  if (kind === 'boolean') return isRequired ? given === true : undefined;
  if (kind === 'array') return Array.isArray(given) ? given.map(String) : [];
  if (given !== undefined && given !== null) return String(given);
  return '';
}

/** The value to send; undefined to leave the field out. @param {Field} field @param {any} entered */
function valueOf({ kind, isRequired, schema }, entered) {
  if (kind === 'boolean') return entered;
  if (kind === 'array') return entered.length || isRequired ? entered : undefined;
  if (entered === '' && !(isRequired && kind === 'string')) return undefined;
  if (kind === 'number' || kind === 'integer') {
    const number = Number(entered);
    return Number.isFinite(number) ? number : entered;
  }
  if (schema?.format === 'date-time' && /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(entered) && !/(Z|[+-]\d\d:\d\d)$/i.test(entered)) return new Date(entered).toISOString();
  return entered;
}

/** What the server takes if an optional field is left out. @param {Field} field */
function defaultOf({ kind, isRequired, options, schema }) {
  const given = schema?.default;
  if (isRequired || given === undefined || given === null) return '';
  if (kind === 'boolean') return given ? 'Yes' : 'No';
  return (Array.isArray(given) ? given : [given]).map((one) => options?.find((option) => option.value === String(one))?.title ?? String(one)).join(', ');
}

/** What is said about a field. @param {Field} field */
const about = (field) => [field.description, defaultOf(field) && `Default: ${defaultOf(field)}`].filter(Boolean).join('\n');

const inputTypes = /** @type {Record<string, string>} */ ({ email: 'email', uri: 'url', date: 'date', 'date-time': 'datetime-local', password: 'password' });

/** @param {{field: Field, id: string, entered: any, onEnter: (value: any) => void}} props */
function Input({ field, id, entered, onEnter }) {
  const { kind, options, schema, isRequired } = field, describedby = about(field) ? `${id}-about` : undefined;
  /** @param {any} event */
  const onInput = (event) => onEnter(event.target.value);
  if (kind === 'boolean' && !isRequired) { // a box could not show that nobody has answered
    return html`<select id=${id} aria-describedby=${describedby} value=${String(entered ?? '')} onChange=${(/** @type {any} */ event) => onEnter(event.target.value ? event.target.value === 'true' : undefined)}>
      <option value="">–</option><option value="true">Yes</option><option value="false">No</option></select>`;
  }
  if (kind === 'boolean') return html`<input id=${id} type="checkbox" aria-describedby=${describedby} checked=${entered} onChange=${(/** @type {any} */ event) => onEnter(event.target.checked)} />`;
  if (kind === 'array') {
    return html`<div role="group" aria-labelledby=${`${id}-name`} aria-describedby=${describedby}>${(options ?? []).map((option) => html`<label key=${option.value}><input type="checkbox" checked=${entered.includes(option.value)}
      onChange=${(/** @type {any} */ event) => onEnter(event.target.checked ? [...entered, option.value] : entered.filter((/** @type {string} */ one) => one !== option.value))} /> <${Text} text=${option.title} /></label> `)}</div>`;
  }
  if (options) {
    return html`<select id=${id} required=${isRequired} aria-describedby=${describedby} value=${entered} onChange=${onInput}><option value="">–</option>
      ${options.map((option) => html`<option key=${option.value} value=${option.value}>${option.title}</option>`)}</select>`;
  }
  if (kind === 'number' || kind === 'integer') {
    return html`<input id=${id} type="number" step=${kind === 'integer' ? 1 : 'any'} min=${schema?.minimum} max=${schema?.maximum} required=${isRequired} aria-describedby=${describedby} value=${entered} onInput=${onInput} />`;
  }
  return html`<input id=${id} type=${inputTypes[schema?.format] ?? 'text'} minlength=${schema?.minLength} maxlength=${schema?.maxLength} required=${isRequired && (schema?.minLength ?? 0) > 0}
    autocomplete="off" spellcheck=${false} aria-describedby=${describedby} value=${entered} onInput=${onInput} />`;
}

/**
 * @param {{schema: any, onAnswer: (result: any, done: string) => Promise<any>}} props
 */
export function QuestionForm({ schema, onAnswer }) {
  const id = useId(), fields = useMemo(() => fieldsOf(schema), [JSON.stringify(schema)]);
  const [entered, setEntered] = useState(() => fields.map(initial));
  const [isBusy, setBusy] = useState(false);
  /** @param {any} result @param {string} done */
  const answer = async (result, done) => {
    setBusy(true);
    await onAnswer(result, done);
    setBusy(false);
  };
  /** @param {Event} event */
  const onSubmit = (event) => {
    event.preventDefault();
    const pairs = fields.map((field, n) => [field.name, valueOf(field, entered[n])]).filter(([, value]) => value !== undefined);
    void answer({ action: 'accept', content: Object.fromEntries(pairs) }, 'The server was answered');
  };
  return html`<form onSubmit=${onSubmit}>
    <dl class="facts section">${fields.map((field, n) => html`<div key=${field.name}>
      <dt><label id=${`${id}-${n}-name`} for=${field.kind === 'array' ? undefined : `${id}-${n}`}><${Text} text=${field.title} />${field.isRequired && ' *'}</label></dt>
      <dd><${Input} field=${field} id=${`${id}-${n}`} entered=${entered[n]} onEnter=${(/** @type {any} */ value) => setEntered(entered.map((one, at) => (at === n ? value : one)))} />
        ${about(field) && html`<p class="muted field-help" id=${`${id}-${n}-about`}><${Text} text=${about(field)} lines /></p>`}</dd></div>`)}</dl>
    ${fields.some((field) => field.isRequired) && html`<p class="muted">* required</p>`}
    <p class="muted">The server gets what you enter. Enter no password that is not for it.</p>
    <div class="buttons section">
      <button type="submit" class="button primary" disabled=${isBusy}>Answer</button>
      <button type="button" class="button danger" disabled=${isBusy} onClick=${() => answer({ action: 'decline' }, 'Declined')}>Decline</button>
      <button type="button" class="button" disabled=${isBusy} onClick=${() => answer({ action: 'cancel' }, 'Cancelled')}>Cancel</button>
    </div>
  </form>`;
}
