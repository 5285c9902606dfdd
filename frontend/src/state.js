/** The state at the tick: a tree of the nearest snapshot's values, of two runs side by side. */
import { code, fill, h, labelled, note, section } from "./dom.js";
import { problem } from "./status.js";
import { commas, pluralize } from "./text.js";
import "./tree.js";
import { any, Part, view } from "./view.js";

class State extends Part {
  build() {
    const on = { input: () => this.refresh(new Set(["moments"])) };
    this.search = h("input", { type: "search", id: "search", autocomplete: "off", on });
    this.differing = h("input", { type: "checkbox", on });
    this.onlyDiffering = labelled("only differing", this.differing);
    this.notes = h("div");
    this.heads = h("div", { class: "row heads soft", "aria-hidden": "true" });
    this.found = h("p", { class: "soft", role: "status" });
    this.tree = h("twice-tree", { "aria-label": "state" });
    this.tree.addEventListener("rendered", () => this.#count());
    this.append(section("state", "State", this.notes,
      h("div", { class: "bar" }, labelled("search paths and values", this.search), this.onlyDiffering),
      this.found, this.heads, this.tree));
  }

  refresh(changed) {
    if (!any(changed, "moments", "plots")) return;
    const { moments } = view;
    const held = moments.filter(({ snapshot }) => snapshot);
    const isPair = held.length === 2;
    this.onlyDiffering.hidden = !isPair;
    this.tree.classList.toggle("pair", isPair);
    this.heads.classList.toggle("pair", isPair);
    this.heads.hidden = !isPair;
    const toHead = ({ run }) => h("span", { class: "value" }, view.runs[run]?.name);
    fill(this.heads, h("span", { class: "key" }, "path"), held.map(toHead));
    fill(this.notes, moments.map(toNote), isPair && this.#warn());
    const states = held.map(({ snapshot }) => snapshot.values);
    const filter = { query: this.search.value.trim(), differing: isPair && this.differing.checked };
    this.tree.show(states, moments.flatMap((each) => each.changed ?? []), filter);
  }

  /** Values before different ticks differ without any fault of the runs. */
  #warn() {
    const [a, b] = view.moments.map(({ snapshot }) => snapshot?.tick);
    return a !== b && h("p", { class: "warning" }, "The nearest snapshots of the two runs lie before different ticks.");
  }

  #count() {
    const { found } = this.tree.dataset;
    fill(this.found, found !== undefined && `${found} found`);
  }
}

function toNote({ run, tick, error, snapshot, omitted = {} }) {
  const { name = "", path = "" } = view.runs[run] ?? {};
  if (error) return [h("p", {}, `${name}:`), problem(error)];
  if (!snapshot) return note(`${name}: there is no snapshot at or before tick ${commas(tick)}.`);
  const before = `${name}: the state before tick ${commas(snapshot.tick)}, from snapshot ${commas(snapshot.number)}.`;
  const command = `twice show ${path} --tick ${tick} --json`;
  return note(before, omitted.values > 0 && [` ${pluralize(omitted.values, "more value")}: `, code(command)]);
}

customElements.define("twice-state", State);
