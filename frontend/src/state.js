/** The state at the tick: a tree of the nearest snapshot's values, of two runs side by side. */
import { get, latest } from "./api.js";
import { code, cut, fill, h, labelled, note, section, table } from "./dom.js";
import { makeExecution } from "./execution.js";
import { replay } from "./moments.js";
import { problem } from "./status.js";
import { commas, nameTick, pluralize, quotePath } from "./text.js";
import "./tree.js";
import { any, Part, view } from "./view.js";

class State extends Part {
  #askFields = latest((signal, a, b, tick) => get("fields", { a, b, tick }, signal));

  build() {
    const on = { input: () => this.refresh(new Set(["moments"])) };
    this.search = h("input", { type: "search", id: "search", autocomplete: "off", on });
    this.differing = h("input", { type: "checkbox", on });
    this.onlyDiffering = labelled("only differing", this.differing);
    this.notes = h("div");
    this.heads = h("div", { class: "row heads soft", "aria-hidden": "true" });
    this.found = h("p", { class: "soft", role: "status" });
    this.fields = h("div");
    this.tree = h("twice-tree", { "aria-label": "state" });
    // The state between two snapshots is in no record: only the program has it.
    const [controls, outcome] = makeExecution("", replay);
    [this.button, this.outcome] = [controls[0], outcome];
    this.frames = h("div", { class: "columns" });
    this.append(section("state", "State", this.notes, h("div", { class: "bar" }, controls), outcome, this.frames,
      h("div", { class: "bar" }, labelled("search paths and values", this.search), this.onlyDiffering),
      this.found, this.fields, this.heads, this.tree));
  }

  refresh(changed) {
    if (!any(changed, "moments", "plots", "tick")) return;
    const { moments } = view;
    const held = moments.filter(({ snapshot }) => snapshot);
    const isPair = held.length === 2;
    fill(this.button, isPair ? "exact state: executes both programs" : "exact state: executes the program");
    fill(this.frames, moments.flatMap(toFrames));
    if (changed.has("tick")) fill(this.outcome);
    this.onlyDiffering.hidden = this.heads.hidden = !isPair;
    for (const each of [this.tree, this.heads]) each.classList.toggle("pair", isPair);
    const toHead = ({ run }) => h("span", { class: "value" }, view.runs[run]?.name);
    fill(this.heads, h("span", { class: "key" }, "path"), held.map(toHead));
    fill(this.notes, moments.map(toNote), isPair && this.#warn());
    const states = held.map(({ snapshot }) => snapshot.state);
    const filter = { query: this.search.value.trim(), differing: isPair && this.differing.checked };
    this.tree.show(states, moments.flatMap((each) => each.changed ?? []), filter);
    const { found, hidesDifference } = this.tree;
    const isCut = states.some(({ omitted }) => omitted > 0);
    fill(this.found, found && `${found} found${isCut ? " in the parts that are shown" : ""}`);
    this.#compare(filter.differing && (hidesDifference || isCut));
  }

  /** Tell what differs among the parts that are not shown: the server compares the whole states. */
  async #compare(isAsked) {
    fill(this.fields);
    const { shown, tick, moments } = view;
    if (!isAsked) return;
    if (moments.some(({ snapshot }) => snapshot.number === null)) {
      fill(this.fields, note("Replayed states are compared in the parts that are shown."));
      return;
    }
    const found = await this.#askFields(...shown, tick).catch((error) => ({ error }));
    if (!found || moments !== view.moments || !this.differing.checked) return;
    const names = ["path", ...shown.map((run) => view.runs[run].name), "elements that differ"];
    const toRow = ({ path, a, b, differing, of }) => [path, cut(a), cut(b), `${commas(differing)} of ${commas(of)}`];
    fill(this.fields, found.error ? problem(found.error) : [
      table("differences of the whole states", names, found.fields.map(toRow)),
      found.notes.map((each) => note(each)),
    ]);
  }

  /** Values before different ticks differ without any fault of the runs. */
  #warn() {
    const [a, b] = view.moments.map(({ snapshot }) => snapshot?.tick);
    return a !== b && h("p", { class: "warning" }, "The nearest snapshots of the two runs lie before different ticks.");
  }
}

function toNote({ run, tick, end, error, snapshot }) {
  const { name = "", path = "" } = view.runs[run] ?? {};
  if (end) return note(end);
  if (error) return [h("p", {}, `${name}:`), problem(error)];
  if (!snapshot) return note(`${name}: there is no snapshot at or before ${nameTick(tick)}.`);
  const source = snapshot.number === null ? "replayed" : `from snapshot ${commas(snapshot.number)}`;
  const before = `${name}: the state before tick ${commas(snapshot.tick)}, ${source}.`;
  const { omitted } = snapshot.state;
  const [command, at] = snapshot.number === null ? ["replay", "--at"] : ["show", "--tick"];
  const whole = code(`twice ${command} ${quotePath(path)} ${at} ${tick} --json`);
  return note(before, omitted > 0 && [` ${pluralize(omitted, "part")} or more not shown: `, whole]);
}

/** Pictures are data of the page itself, which its policy allows. */
function toFrames({ run, tick, frames = [] }) {
  return frames.map(({ name, png }) => {
    const text = `${name} of ${view.runs[run]?.name} at ${nameTick(tick)}`;
    return h("figure", {}, h("img", { src: `data:image/png;base64,${png}`, alt: text }), h("figcaption", {}, text));
  });
}

customElements.define("twice-state", State);
