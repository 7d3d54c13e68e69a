// The view of one recording, for the page and for a file that stands alone. It has no dependencies. Everything that is
// shown comes from servers and clients, so it is only ever put into text nodes and attributes.

const PAGE = 300; // messages that are in the list at once
const BARS = 200; // of the timeline

const TEXT = /** @type {Record<string, string>} */ ({ time: "its time was over", stopped: "it was stopped", full: "it had its largest size", failed: "the file could not be written", shutdown: "the workbench ended" });

/**
 * Makes an element. Children are elements or texts.
 * @param {string} name @param {Record<string, any>} [attributes] @param {...(Element|string)} children
 * @returns {any} an element of that kind
 */
function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value != null) made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.map((child) => (typeof child === "string" ? plain(child) : child)));
  return made;
}

/**
 * @typedef {object} Entry a message, or what happened
 * @property {number} index
 * @property {string} kind "request", "notification", "answer", "text" or "note"
 * @property {string} title
 * @property {number} at
 * @property {string} from
 * @property {string} raw
 * @property {boolean} known exchanged before the recording began
 * @property {string} [method]
 * @property {string} [about]
 * @property {boolean} [failed]
 * @property {Entry} [request]
 * @property {Entry} [answer]
 * @property {number} [took]
 * @property {number} [answerTook]
 */
/** @typedef {{header: any, entries: Entry[], length: number}} Recording */
/** @typedef {{actions?: (entry: Entry) => Element[]}} Options */

/** Writes JSON as people read it. Numbers stay as they were recorded. @param {string} text */
export function pretty(text) {
  try {
    const { rawJSON } = /** @type {any} */ (JSON);
    const exact = (/** @type {string} */ _key, /** @type {any} */ value, /** @type {any} */ context) =>
      typeof value === "number" && context?.source !== undefined && String(value) !== context.source && rawJSON
        ? rawJSON(context.source) : value;
    return JSON.parse(text, /** @type {any} */ (exact));
  } catch {
    return text;
  }
}

/** Draws characters that nobody sees, or that turn the direction of a text, as JSON escapes them. @param {string} text */
const plain = (text) => text.replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu, (char) => `\\u{${/** @type {number} */ (char.codePointAt(0)).toString(16)}}`);

/** @param {any} value */
export const format = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

/** @param {number} value */
function seconds(value) {
  if (value < 1) return `${(value * 1000).toFixed(value < 0.01 ? 1 : 0)} ms`;
  if (value < 60) return `${value.toFixed(1)} s`;
  return `${Math.floor(value / 60)} min ${Math.floor(value % 60)} s`;
}

/** Reads the lines of a recording; what is not JSON, such as a line that was cut off, is left out. @param {string} text @returns {Recording} */
export function parse(text) {
  const entries = /** @type {Entry[]} */ ([]);
  let header = /** @type {any} */ ({});
  let open = /** @type {Map<string, Entry>} */ (new Map());
  for (const raw of text.split("\n")) {
    if (!raw.trim()) continue;
    let line;
    try {
      line = JSON.parse(raw);
    } catch {
      continue;
    }
    if (typeof line !== "object" || line === null) continue;
    if (line.recording !== undefined) {
      header = line;
      continue;
    }
    if (line.session) open = new Map();
    const entry = describe(line, raw);
    entry.index = entries.length;
    pair(entry, line, open);
    entries.push(entry);
  }
  return { header, entries, length: entries.length ? entries[entries.length - 1].at : 0 };
}

/** @param {any} line @param {string} raw @returns {Entry} */
function describe(line, raw) {
  const entry = { index: 0, at: Number(line.at) || 0, from: line.from === "server" ? "server" : "client", raw, known: line.known === true };
  const message = line.message;
  if (line.ended) return { ...entry, kind: "note", title: `The recording ended: ${TEXT[line.ended] ?? String(line.ended)}` };
  if (line.session) return { ...entry, kind: "note", title: `Session ${line.session} with the server begins` };
  if (line.lost) return { ...entry, kind: "note", title: `${line.lost} messages are missing here: there were too many to record` };
  if (line.skipped) return { ...entry, kind: "note", title: `A message of ${line.skipped} bytes was too long to be kept` };
  if (typeof message !== "object" || message === null) return { ...entry, kind: "text", title: String(line.text ?? "") };
  if (message.method !== undefined) {
    const params = typeof message.params === "object" && message.params !== null ? message.params : {};
    const about = params.name ?? params.uri ?? params.taskId ?? "";
    return { ...entry, kind: message.id === undefined ? "notification" : "request", method: String(message.method), about: typeof about === "string" ? about : "", title: String(message.method) };
  }
  const failed = message.error !== undefined || message.result?.isError === true;
  return { ...entry, kind: "answer", failed, title: failed ? "error" : "answer" };
}

/** Connects a request with its answer, which the other side sends. @param {Entry} entry @param {any} line @param {Map<string, Entry>} open */
function pair(entry, line, open) {
  if (entry.kind === "request") {
    open.set(entry.from + JSON.stringify(line.message.id), entry);
  } else if (entry.kind === "answer") {
    const asker = entry.from === "client" ? "server" : "client";
    const key = asker + JSON.stringify(line.message.id);
    const request = open.get(key);
    if (!request) return;
    open.delete(key);
    entry.request = request;
    entry.took = request.answerTook = Math.max(0, entry.at - request.at);
    entry.method = request.method;
    entry.about = request.about;
    request.answer = entry;
    request.failed = entry.failed;
  }
}

/** What a person can try again: the tool and its arguments, as recorded. @param {Entry} entry */
export function callOf(entry) {
  const request = entry.request ?? entry;
  if (request.kind !== "request" || request.from !== "client" || request.method !== "tools/call") return null;
  const params = pretty(request.raw).message?.params ?? {};
  return typeof params.name === "string" ? { tool: params.name, arguments: JSON.stringify(params.arguments ?? {}) } : null;
}

/**
 * Shows a recording in an element. options.actions(entry) returns elements to show with a message.
 * Returns a function that ends it.
 * @param {HTMLElement} root @param {string} text @param {Options} [options]
 */
export function showRecording(root, text, options = {}) {
  const view = new View(root, parse(text), options);
  return () => view.end();
}

class View {
  at = 0;
  selected = -1;
  page = 0;
  playing = 0;
  last = 0;
  /** @type {Map<number, HTMLButtonElement>|undefined} */
  rows;

  /** @param {HTMLElement} root @param {Recording} recording @param {Options} options */
  constructor(root, recording, options) {
    this.root = root;
    this.recording = recording;
    this.options = options;
    this.shown = recording.entries;
    this.build();
    this.applyFilter();
    this.select(recording.entries.length ? 0 : -1);
  }

  build() {
    const { header, entries, length } = this.recording;
    const began = new Date(header.at);
    const facts = [
      Number.isNaN(began.getTime()) ? "" : began.toLocaleString(), seconds(length),
      `${entries.filter((e) => e.kind !== "note").length} messages`, String(header.by ?? ""),
    ].filter(Boolean).join(" · ");
    this.range = make("input", {
      type: "range", min: 0, max: Math.max(1, Math.ceil(length * 1000)), step: 1, value: 0, "aria-label": "Time in the recording",
      oninput: () => this.scrub(Number(this.range.value) / 1000),
    });
    this.play = make("button", { type: "button", class: "button small", onclick: () => this.toggle() }, "Play");
    this.speed = make("select", { "aria-label": "Speed" }, ...[["1", "as it was"], ["5", "5 × faster"], ["20", "20 × faster"], ["100", "100 × faster"]].map(([value, label]) => make("option", { value }, label)));
    this.clock = make("output", { class: "rec-clock" });
    this.filter = make("input", { type: "search", placeholder: "Filter: method, tool, text", "aria-label": "Filter messages", oninput: () => this.applyFilter() });
    this.kind = make("select", { "aria-label": "Kind of messages", onchange: () => this.applyFilter() },
      ...[["", "all messages"], ["calls", "tool calls"], ["failed", "errors"], ["client", "from the client"], ["server", "from the server"]].map(([value, label]) => make("option", { value }, label)));
    this.list = make("ol", { class: "rec-messages", "aria-label": "Messages", onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event) });
    this.count = make("p", { class: "rec-count", role: "status" });
    this.earlier = make("button", { type: "button", class: "button small", onclick: () => this.turn(-1) }, "Earlier");
    this.later = make("button", { type: "button", class: "button small", onclick: () => this.turn(1) }, "Later");
    this.detail = make("section", { class: "rec-detail", "aria-label": "Message", tabindex: "-1" });
    this.root.replaceChildren(make("div", { class: "recording" },
      make("header", {}, make("h1", {}, String(header.server ?? "Recording")), make("p", {}, facts)),
      make("div", { class: "rec-timeline" }, this.bars(), this.range, make("div", { class: "rec-controls" }, this.play, this.speed, this.clock)),
      make("div", { class: "rec-filters" }, this.filter, this.kind, this.count),
      make("div", { class: "rec-panes" }, make("div", { class: "rec-pane" }, this.list, make("div", { class: "rec-pages" }, this.earlier, this.later)), this.detail)));
  }

  /** Draws how many messages there were when. */
  bars() {
    const { entries, length } = this.recording;
    const counts = new Array(BARS).fill(0);
    const failed = new Array(BARS).fill(false);
    for (const entry of entries) {
      const bar = Math.min(BARS - 1, Math.floor((entry.at / (length || 1)) * BARS));
      counts[bar]++;
      failed[bar] ||= entry.kind === "answer" && entry.failed;
    }
    const most = entries.length ? Math.max(...counts) : 1;
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    for (const [key, value] of [["viewBox", `0 0 ${BARS} 20`], ["preserveAspectRatio", "none"], ["aria-hidden", "true"]]) svg.setAttribute(key, value);
    counts.forEach((count, i) => {
      if (!count) return;
      const bar = document.createElementNS(space, "rect");
      const height = 3 + (17 * Math.log(1 + count)) / Math.log(1 + most);
      for (const [key, value] of /** @type {[string, any][]} */ ([["x", i], ["y", 20 - height], ["width", 0.8], ["height", height], ["class", failed[i] ? "rec-failed" : "rec-ok"]])) bar.setAttribute(key, String(value));
      svg.append(bar);
    });
    return svg;
  }

  applyFilter() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = /** @type {Record<string, (e: Entry) => boolean>} */ ({
      "": () => true, calls: (e) => e.method === "tools/call", failed: (e) => e.failed === true,
      client: (e) => e.from === "client" && e.kind !== "note", server: (e) => e.from === "server" && e.kind !== "note",
    })[this.kind.value];
    this.shown = this.recording.entries.filter((e) => {
      if (!fits(e)) return false;
      if (!words.length) return true;
      const text = `${e.title} ${e.method ?? ""} ${e.about ?? ""} ${e.raw}`.toLowerCase();
      return words.every((/** @type {string} */ word) => text.includes(word));
    });
    this.count.textContent = this.shown.length === this.recording.entries.length ? "" : `${this.shown.length} of ${this.recording.entries.length}`;
    this.follow();
    this.draw();
  }

  /** Turns to the page with the selected message, or the one before it. */
  follow() {
    let place = this.shown.findIndex((e) => e.index >= this.selected);
    if (place < 0) place = this.shown.length - 1;
    this.page = Math.max(0, Math.floor(place / PAGE));
  }

  draw() {
    const first = this.page * PAGE;
    const rows = this.shown.slice(first, first + PAGE);
    const drawn = this.rows = new Map();
    this.list.replaceChildren(...rows.map((entry) => {
      const row = make("button", { type: "button", tabindex: "-1", class: `rec-row rec-${entry.kind}${entry.failed ? " rec-failed" : ""}`, onclick: () => this.select(entry.index, true) },
        make("span", { class: "rec-at" }, entry.known ? "before" : `+${entry.at.toFixed(3)}`),
        make("span", { class: "rec-from" }, entry.kind === "note" ? "" : entry.from === "client" ? "client →" : "← server"),
        make("span", { class: entry.about ? "rec-what" : "rec-what rec-wide" }, entry.kind === "answer" ? `${entry.failed ? "error" : "answer"}${entry.method ? ` to ${entry.method}` : ""}` : entry.title.slice(0, 300)),
        ...(entry.about ? [make("span", { class: "rec-about" }, entry.about.slice(0, 200))] : []),
        make("span", { class: "rec-took" }, this.time(entry)));
      drawn.set(entry.index, row);
      return make("li", {}, row);
    }));
    const pages = Math.ceil(this.shown.length / PAGE);
    this.earlier.disabled = this.page === 0;
    this.later.disabled = this.page >= pages - 1;
    this.earlier.parentElement.hidden = pages <= 1;
    this.mark();
  }

  /** How long an answer took; of what was before the recording it is not known. @param {Entry} entry */
  time(entry) {
    if (entry.known) return "";
    if (entry.kind === "request") return entry.answer ? seconds(entry.answerTook ?? 0) : "no answer";
    return entry.took === undefined ? "" : seconds(entry.took);
  }

  /** @param {number} by */
  turn(by) {
    this.page += by;
    this.draw();
  }

  /** Marks the selected row, and those that are later than the time of the timeline. */
  mark() {
    let focusable = /** @type {HTMLElement|null} */ (null);
    for (const [index, row] of this.rows ?? []) {
      const is = index === this.selected;
      row.classList.toggle("rec-later", this.recording.entries[index].at > this.at + 0.0005);
      if (is) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
      row.tabIndex = -1;
      if (is || !focusable) focusable = row;
    }
    if (focusable) focusable.tabIndex = 0;
    this.clock.textContent = `${this.at.toFixed(2)} s of ${this.recording.length.toFixed(2)} s`;
    this.range.setAttribute("aria-valuetext", `${this.at.toFixed(2)} seconds`);
  }

  /** Goes to a time: the last message before it is selected. @param {number} at */
  scrub(at) {
    this.at = at;
    let found = -1;
    for (const entry of this.shown) {
      if (entry.at > at + 0.0005) break;
      found = entry.index;
    }
    this.pick(found);
  }

  /** @param {number} index @param {boolean} [focus] */
  select(index, focus = false) {
    const entry = this.recording.entries[index];
    if (entry) {
      this.at = entry.at;
      this.range.value = String(Math.round(entry.at * 1000));
    }
    this.pick(index, focus);
  }

  /** @param {number} index @param {boolean} [focus] */
  pick(index, focus = false) {
    const changed = index !== this.selected;
    this.selected = index;
    const page = this.page;
    this.follow();
    if (page !== this.page || !this.rows) this.draw();
    else this.mark();
    const row = this.rows?.get(index);
    if (row) row.scrollIntoView({ block: "nearest" });
    if (focus) row?.focus();
    if (changed) this.drawDetail();
  }

  drawDetail() {
    const entry = /** @type {Entry|undefined} */ (this.recording.entries[this.selected]);
    if (!entry) {
      this.detail.replaceChildren(make("p", {}, "No message was recorded before this time."));
      return;
    }
    const line = pretty(entry.raw);
    const content = line?.message ?? line?.text ?? entry.title;
    const actions = make("p", { class: "rec-actions" });
    const other = entry.answer ?? entry.request;
    if (other) actions.append(make("button", { type: "button", class: "button small", onclick: () => this.select(other.index) }, entry.answer ? "Show the answer" : "Show the request"));
    actions.append(...(this.options.actions?.(entry) ?? []));
    this.detail.replaceChildren(
      make("h2", {}, [entry.method ?? entry.title.slice(0, 200), entry.about?.slice(0, 200)].filter(Boolean).join(" · ")),
      make("p", { class: "rec-facts" }, [
        entry.kind === "note" ? "" : `${entry.kind} from the ${entry.from}`, entry.known ? "exchanged before the recording began" : `after ${seconds(entry.at)}`,
        entry.kind === "request" && !entry.known ? (entry.answer ? `answered in ${seconds(entry.answerTook ?? 0)}` : "no answer was recorded") : "",
        entry.failed ? "failed" : "",
      ].filter(Boolean).join(" · ")),
      actions, make("pre", { tabindex: "0" }, format(content)));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const by = /** @type {Record<string, number>} */ ({ ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity })[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey || !this.shown.length) return;
    event.preventDefault();
    event.stopPropagation(); // the page has keys of its own
    const place = this.shown.findIndex((e) => e.index === this.selected);
    const next = Math.min(this.shown.length - 1, Math.max(0, place + by));
    this.select(this.shown[next].index, true);
  }

  toggle() {
    if (this.playing) {
      this.pause();
      return;
    }
    if (this.at >= this.recording.length) this.at = 0;
    this.play.textContent = "Pause";
    this.last = performance.now();
    const step = (/** @type {number} */ now) => {
      this.at = Math.min(this.recording.length, this.at + ((now - this.last) / 1000) * Number(this.speed.value));
      this.last = now;
      this.range.value = String(Math.round(this.at * 1000));
      this.scrub(this.at);
      if (this.at >= this.recording.length) this.pause();
      else this.playing = requestAnimationFrame(step);
    };
    this.playing = requestAnimationFrame(step);
  }

  pause() {
    cancelAnimationFrame(this.playing);
    this.playing = 0;
    this.play.textContent = "Play";
  }

  end() {
    this.pause();
    this.root.replaceChildren();
  }
}
