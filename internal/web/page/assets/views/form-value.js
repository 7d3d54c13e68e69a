// @ts-check
// Values of forms, without anything that is drawn.

/** Parses JSON so that numbers keep their digits, where the browser can. @param {string} text */
export function parseJson(text) {
  const json = /** @type {any} */ (JSON);
  return json.rawJSON ? json.parse(text, (/** @type {string} */ _, /** @type {any} */ value, /** @type {any} */ context) =>
    (typeof value === 'number' && context?.source && String(value) !== context.source ? json.rawJSON(context.source) : value)) : JSON.parse(text);
}

/** @param {any} value */
const isRaw = (value) => /** @type {any} */ (JSON).isRawJSON?.(value) ?? false;
/** @param {any} value */
export const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value) && !isRaw(value);
/** A number as it was written. @param {any} value */
export const numberText = (value) => (isRaw(value) ? value.rawJSON : typeof value === 'number' ? String(value) : '');
/** A number of JSON, or undefined. @param {string} text @param {boolean} whole */
export function parseNumber(text, whole) {
  if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) || whole && /[.eE]/.test(text)) return undefined;
  return parseJson(text);
}

/** What has to be in a value from the beginning. @param {any} field @returns {any} undefined: nothing */
export function initial(field) {
  if (!field.required) return undefined;
  if (field.default !== undefined) return field.default;
  switch (field.type) {
    case 'constant': return field.values[0];
    case 'list': return [];
    case 'map': return {};
    case 'object': {
      const value = /** @type {Record<string, any>} */ (Object.create(null));
      for (const part of field.fields ?? []) {
        const own = initial(part);
        if (own !== undefined) value[part.name] = own;
      }
      return value;
    }
  }
  return undefined;
}

/** Whether a value may be one of a field, as far as its type says. @param {any} field @param {any} value @returns {boolean} */
export function fits(field, value) {
  if (value === null) return Boolean(field.nullable);
  switch (field.type) {
    case 'text': case 'file': return typeof value === 'string';
    case 'number': case 'integer': return typeof value === 'number' || isRaw(value);
    case 'boolean': return typeof value === 'boolean';
    case 'list': return Array.isArray(value);
    case 'map': return isObject(value);
    case 'constant': case 'choice': return field.values.some((/** @type {any} */ one) => JSON.stringify(one) === JSON.stringify(value));
    case 'object': {
      if (!isObject(value)) return false;
      return (field.fields ?? []).every((/** @type {any} */ part) => (Object.hasOwn(value, part.name) ? fits(part, value[part.name]) : !part.required || part.type !== 'constant'));
    }
    case 'oneOf': return field.alternatives.some((/** @type {any} */ one) => fits(one, value));
  }
  return true;
}

/** An object with another value of one member; undefined takes it out. @param {any} object @param {string} name @param {any} value */
export function withMember(object, name, value) {
  const next = /** @type {Record<string, any>} */ (Object.assign(Object.create(null), isObject(object) ? object : {}));
  if (value === undefined) delete next[name];
  else next[name] = value;
  return next;
}

const maxWords = 4000; // characters of the arguments in a command; more come from stdin

/** The arguments as words of the command 'call'. @param {any} form @param {Record<string, any>} value @returns {string[]} */
export function words(form, value) {
  const all = Object.entries(value), texts = new Set((form?.fields ?? []).filter((/** @type {any} */ f) => f.type === 'text').map((/** @type {any} */ f) => f.name));
  if (!all.length) return [];
  const plain = all.every(([name]) => /^[A-Za-z_][\w-]*$/.test(name));
  const made = plain ? all.map(([name, one]) => (typeof one === 'string' && texts.has(name) ? `${name}=${one}` : `${name}:=${JSON.stringify(one)}`)) : [JSON.stringify(value)];
  return made.join(' ').length > maxWords || made.some((word) => word.includes('\0')) ? ['-'] : made;
}
