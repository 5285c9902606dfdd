/** A tree of a state, by the tree pattern of WAI-ARIA. Children are made when their parent is opened. */
import { cut, fill, h, tag } from "./dom.js";
import { childrenOf, findParting, hasDifference, isHidden, isLeafNode, searchLeaves, toRoots } from "./nodes.js";
import { commas } from "./text.js";
import { view } from "./view.js";

const CHILDREN_STEP = 100;
const TEXT_MAX = 120;
const BEFORE_PARTING = 20;
const FOUND_MAX = 200;
const OPEN_AT_FIRST_MAX = 12;

class Tree extends HTMLElement {
  #roots = [];
  #changed = new Set();
  #filter = { query: "", differing: false };
  #open = null;
  #shown = new Map();
  #rows = [];
  #active = "";

  connectedCallback() {
    this.setAttribute("role", "tree");
    this.addEventListener("keydown", (event) => this.#onKey(event));
    this.addEventListener("click", (event) => this.#onClick(event));
    this.addEventListener("focusin", (event) => this.#onFocus(event));
  }

  /**
   * Show one state, or two side by side; what is open stays open.
   *
   * With a query, or when only differing values are asked for, show the leaves that fit in a flat list.
   */
  show(states, changed, filter) {
    this.#roots = toRoots(states);
    this.#changed = new Set(changed);
    this.#filter = filter;
    if (this.#open === null && this.#roots.length) {
      this.#open = new Set(this.#roots.length > OPEN_AT_FIRST_MAX ? [] : this.#roots.map(({ path }) => path));
    }
    this.#render();
  }

  #render() {
    const hadFocus = this.contains(document.activeElement);
    const { query, differing } = this.#filter;
    if (query || differing) {
      const { found, isWhole } = searchLeaves(this.#roots, query, differing, FOUND_MAX);
      const flat = { level: 1, siblings: found.length, isFound: true };
      this.#rows = found.map((node, at) => ({ ...node, ...flat, label: node.path, position: at + 1 }));
      this.found = isWhole ? commas(found.length) : `the first ${commas(found.length)}`;
    } else {
      this.#rows = [...this.#visible(this.#roots)];
      this.found = "";
    }
    this.hidesDifference = this.#rows.some(isHidden);
    fill(this, this.#rows.map((row) => this.#toElement(row)));
    const at = Math.max(this.#rows.findIndex(({ path }) => path === this.#active), 0);
    this.#activate(at, false);
    if (hadFocus) this.children[at]?.focus({ preventScroll: true });
  }

  *#visible(nodes, parent = "") {
    const most = this.#shown.get(parent) ?? CHILDREN_STEP;
    for (const node of nodes.slice(0, most)) {
      yield node;
      if (this.#open?.has(node.path) && !isLeafNode(node)) yield* this.#visible(childrenOf(node), node.path);
    }
    if (nodes.length > most) {
      const { level, siblings } = nodes[most];
      const label = `show more of ${commas(siblings)}`;
      yield { more: parent, path: `${parent} more`, label, level, position: most + 1, siblings, sides: [] };
    }
  }

  #toElement(row) {
    const isLeaf = isLeafNode(row);
    const isOpen = !isLeaf && !row.isFound && this.#open?.has(row.path);
    const differs = hasDifference(row);
    const parting = isLeaf && differs ? findParting(row) : 0;
    const from = parting > TEXT_MAX - BEFORE_PARTING ? parting - BEFORE_PARTING : 0;
    const key = h("span", { class: "key" },
      h("span", { class: "twisty", "aria-hidden": "true" }, isLeaf ? "" : isOpen ? "▾" : "▸"),
      row.level > 1 ? row.label.replace(/^\./, "") : row.label,
      this.#changed.has(row.component) && tag("changed", "unsure"),
      differs && tag(isHidden(row) ? "differs in a part that is not shown" : "differs", "bad"),
      isNumber(row) && h("span", { class: "plotter" }, view.plots.includes(row.path) ? "plotted" : "plot"));
    key.style.setProperty("--level", row.level - 1);
    return h("div", {
      role: "treeitem", tabindex: "-1",
      class: `row ${differs && isLeaf ? "differs" : ""} ${row.more === undefined ? "" : "more"}`,
      "aria-level": row.level, "aria-posinset": row.position, "aria-setsize": row.siblings,
      "aria-expanded": isLeaf ? null : String(isOpen),
    }, key, row.sides.map((side) => toValue(side, from)));
  }

  #activate(at, focuses = true) {
    this.querySelector('[tabindex="0"].row')?.setAttribute("tabindex", "-1");
    if (!this.#rows[at]) return;
    this.#active = this.#rows[at].path;
    this.children[at].setAttribute("tabindex", "0");
    if (focuses) this.children[at].focus();
  }

  #onFocus({ target }) {
    const at = [...this.children].indexOf(target);
    if (at >= 0 && this.#rows[at].path !== this.#active) this.#activate(at, false);
  }

  #onClick({ target }) {
    const at = [...this.children].indexOf(target.closest(".row"));
    if (at < 0) return;
    this.#activate(at);
    target.closest(".plotter") ? this.#togglePlot(this.#rows[at]) : this.#toggle(this.#rows[at]);
  }

  #onKey(event) {
    const at = this.#rows.findIndex(({ path }) => path === this.#active);
    if (at < 0 || event.ctrlKey || event.altKey || event.metaKey || !event.target.matches(".row")) return;
    const row = this.#rows[at];
    const isOpen = this.children[at].getAttribute("aria-expanded") === "true";
    const parent = this.#rows.findLastIndex((each, index) => index < at && each.level < row.level);
    const actions = {
      ArrowDown: () => this.#activate(Math.min(at + 1, this.#rows.length - 1)),
      ArrowUp: () => this.#activate(Math.max(at - 1, 0)),
      Home: () => this.#activate(0),
      End: () => this.#activate(this.#rows.length - 1),
      ArrowRight: () => (isOpen ? this.#activate(at + 1) : this.#toggle(row)),
      ArrowLeft: () => (isOpen ? this.#toggle(row) : parent >= 0 && this.#activate(parent)),
      Enter: () => (isNumber(row) ? this.#togglePlot(row) : this.#toggle(row)),
    };
    actions[" "] = actions.Enter;
    if (event.shiftKey || !(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }

  #toggle(row) {
    if (row.more !== undefined) this.#shown.set(row.more, (this.#shown.get(row.more) ?? CHILDREN_STEP) + CHILDREN_STEP);
    else if (isLeafNode(row)) return;
    else if (!this.#open.delete(row.path)) this.#open.add(row.path);
    this.#render();
  }

  #togglePlot({ path }) {
    const others = view.plots.filter((each) => each !== path);
    view.set({ plots: others.length < view.plots.length ? others : [...others, path] });
  }
}

/** Show a value from a character on; one that is cut says so, and how large it is. */
function toValue({ text, size, parts = [], cut: shown, mark }, from) {
  const told = shown ?? (parts.length < size && mark && `${commas(parts.length)} of ${commas(size)} shown`);
  return h("span", { class: "value" }, from > 0 && "…", cut(text.slice(from), TEXT_MAX), told && tag(told));
}

const isNumber = (row) => isLeafNode(row) && row.sides.some((side) => side.is_number);

customElements.define("twice-tree", Tree);
