/** What the shown runs are: program, seed, ending, caveats; and the choice of runs. */
import { get } from "./api.js";
import { button, cut, fill, h, labelled, nextCommands } from "./dom.js";
import { announce, problem } from "./status.js";
import { pluralize } from "./text.js";
import { any, Part, view } from "./view.js";

class Header extends Part {
  build() {
    this.chooser = h("div", { class: "bar" });
    this.cards = h("div", { class: "columns" });
    this.append(this.chooser, this.cards);
  }

  refresh(changed) {
    if (!any(changed, "runs", "run", "other")) return;
    const option = (chosen) => (run, number) => h("option", { value: number, selected: number === chosen }, run.name);
    const toNumber = ({ value }) => (value === "" ? null : Number(value));
    const chooser = (label, key, ...options) =>
      labelled(label, h("select", { on: { change: ({ target }) => view.set({ [key]: toNumber(target) }) } }, options));
    fill(this.chooser, view.runs.length > 1 && [
      chooser("run", "run", view.runs.map(option(view.run))),
      chooser("beside it", "other", h("option", { value: "" }, "none"), view.runs.map(option(view.other))),
    ], view.runs.some((run) => run.state !== "complete") && button("read anew", readAnew));
    fill(this.cards, view.shown.map((number) => toCard(view.runs[number])));
    document.title = `${view.shown.map((number) => view.runs[number].name).join(" and ")} · twice view`;
  }
}

/** A program may still be writing its record. */
async function readAnew() {
  try {
    view.set({ runs: (await get("session")).runs });
  } catch (error) {
    announce(problem(error).textContent);
  }
}

function toCard(run) {
  const counts = [["ticks", "tick"], ["points", "compare-point"], ["snapshots", "snapshot"]];
  const facts = [run.name, ...counts.map(([key, noun]) => pluralize(run[key], noun))];
  return h("header", { class: run.mood },
    h("p", { class: "verdict" }, `${run.ending}, record ${run.state}`),
    h("h2", {}, `${run.program}, seed ${run.seed}`),
    h("p", {}, facts.join(" · ")),
    run.exception && h("p", { class: "warning" }, cut(run.exception)),
    run.caveats.map((text) => h("p", { class: "warning" }, cut(String(text)))),
    run.parent && h("p", {}, run.parent),
    nextCommands(run.next ? [run.next] : []));
}

customElements.define("twice-header", Header);
