/** The state of the page: which run, tick, range and plots are shown. Parts change it here and are told of changes. */

const SPAN_MIN = 4;

/** The tick of the construction, which is before all others. */
export const CONSTRUCTION = -1;

class View extends EventTarget {
  runs = [];
  run = 0;
  /** Number of the run beside the first, or null. */
  other = null;
  tick = 0;
  /** Visible ticks from the first to before the end, or null for all. */
  range = null;
  component = "";
  plots = [];
  /** Answers to the state above: moments of the one or two runs, and their first difference. */
  moments = [];
  difference = null;
  #changed = new Set();

  /** The numbers of the runs that are shown. */
  get shown() {
    return this.other === null ? [this.run] : [this.run, this.other];
  }

  /** How many ticks the longest of the shown runs has. */
  get ticks() {
    return Math.max(...this.shown.map((number) => this.runs[number]?.ticks ?? 0));
  }

  /** The visible ticks. */
  get window() {
    return this.range ?? [CONSTRUCTION, this.ticks];
  }

  /** Change the state; parts hear of all changes of a task at once. */
  set(patch) {
    for (const [key, value] of Object.entries(patch)) this.#assign(key, value);
    if (this.#has(this.run) === false) this.#assign("run", 0);
    if (this.other === this.run || this.#has(this.other) === false) this.#assign("other", null);
    this.#assign("tick", Math.min(Math.max(Math.trunc(this.tick) || 0, CONSTRUCTION), this.ticks - 1));
    this.#assign("range", this.#fit(this.range));
  }

  /** Go to a tick, and take the visible range along. */
  goTo(tick) {
    const [first, end] = this.window;
    const span = end - first;
    const within = tick >= first && tick < end;
    this.set({ tick, range: within ? this.range : [tick - span / 2, tick + span / 2] });
  }

  /** Zoom by a factor, with one tick kept in its place. */
  zoom(factor, at = this.tick) {
    const [first, end] = this.window;
    const span = Math.max((end - first) * factor, Math.min(SPAN_MIN, this.ticks - CONSTRUCTION));
    const share = (Math.min(Math.max(at, first), end) - first) / (end - first);
    this.set({ range: [at - share * span, at + (1 - share) * span] });
  }

  /** Move the visible range by ticks. */
  pan(ticks) {
    const [first, end] = this.window;
    this.set({ range: [first + ticks, end + ticks] });
  }

  /** Call a listener with the names of what changed. */
  listen(listener) {
    const heard = (event) => listener(event.detail);
    this.addEventListener("change", heard);
    return () => this.removeEventListener("change", heard);
  }

  #has(number) {
    return number === null || this.runs.length === 0 || number in this.runs;
  }

  #assign(key, value) {
    if (same(this[key], value)) return;
    this[key] = value;
    if (this.#changed.size === 0) queueMicrotask(() => this.#tell());
    this.#changed.add(key);
  }

  #tell() {
    const detail = this.#changed;
    this.#changed = new Set();
    this.dispatchEvent(new CustomEvent("change", { detail }));
  }

  #fit(range) {
    if (range === null || !this.runs.length) return range;
    const all = this.ticks - CONSTRUCTION;
    const span = Math.min(range[1] - range[0], all);
    const first = Math.min(Math.max(range[0], CONSTRUCTION), this.ticks - span);
    return span >= all || !(span > 0) ? null : [first, first + span];
  }
}

function same(a, b) {
  if (!Array.isArray(a) || !Array.isArray(b)) return Object.is(a, b);
  return a.length === b.length && a.every((each, at) => Object.is(each, b[at]));
}

export const view = new View();

/** A part of the page: it is built once, then refreshed with the names of what changed. */
export class Part extends HTMLElement {
  #stop = () => {};

  connectedCallback() {
    this.build();
    this.refresh(new Set(["runs", "run", "other", "tick", "range", "component", "plots", "moments", "difference"]));
    this.#stop = view.listen((changed) => this.refresh(changed));
  }

  disconnectedCallback() {
    this.#stop();
  }

  build() {}

  refresh() {}
}

/** Return whether one of the names is among those that changed. */
export const any = (changed, ...names) => names.some((name) => changed.has(name));
