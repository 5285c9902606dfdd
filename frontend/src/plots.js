/** Plots of numbers in the state, over the snapshots of the shown runs. */
import uPlot from "uplot";
import { get, latest } from "./api.js";
import { colour, gutter, makeChart, themed, tickAxis } from "./chart.js";
import { button, fill, h, labelled, section } from "./dom.js";
import { problem } from "./status.js";
import { commas, printable } from "./text.js";
import { any, Part, view } from "./view.js";

const HEIGHT_PX = 140;
const COLOURS = ["--v4", "--unsure"];

class Plots extends Part {
  #askPaths = latest(async (signal) => {
    const { run, tick } = view;
    const { paths } = await get("paths", { run, tick }, signal);
    fill(this.list, paths.map(({ path, text }) => h("option", { value: path }, text)));
  });

  build() {
    this.list = h("datalist", { id: "paths" });
    this.problems = h("div");
    const on = { focus: () => this.#askPaths().catch((error) => fill(this.problems, problem(error))) };
    this.path = h("input", { type: "text", list: "paths", autocomplete: "off", on });
    this.plots = h("div");
    const add = (event) => {
      event.preventDefault();
      const path = this.path.value.trim();
      if (path && !view.plots.includes(path)) view.set({ plots: [...view.plots, path] });
      this.path.value = "";
    };
    const field = labelled("path of a number", this.path);
    const form = h("form", { class: "bar", on: { submit: add } }, field, this.list, h("button", {}, "plot"));
    this.append(section("plots", "Plots", form, this.problems, this.plots));
  }

  refresh(changed) {
    if (!any(changed, "plots", "run", "other", "runs")) return;
    const kept = changed.has("plots") && !any(changed, "run", "other", "runs") ? [...this.plots.children] : [];
    const make = (path) => Object.assign(h("twice-plot"), { path });
    const made = view.plots.map((path) => kept.find((each) => each.path === path) ?? make(path));
    // An element that stays is not taken out, which would make its chart anew.
    for (const each of [...this.plots.children]) if (!made.includes(each)) each.remove();
    for (const each of made) if (!each.isConnected) this.plots.append(each);
  }
}

class Plot extends Part {
  #chart = null;
  #found = [];

  build() {
    this.now = h("div", { class: "key" });
    this.host = h("div", { class: "plot" });
    const remove = () => view.set({ plots: view.plots.filter((each) => each !== this.path) });
    const named = { "aria-label": `remove the plot of ${this.path}` };
    const head = h("div", { class: "bar" }, h("h3", {}, this.path), button("remove", remove, named));
    this.problems = h("div");
    this.append(head, this.problems, this.now, this.host);
    this.#load(view.shown);
  }

  refresh(changed) {
    if (any(changed, "tick")) this.#showValues();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#chart?.end();
  }

  async #load(shown) {
    const answers = await Promise.allSettled(shown.map((run) => get("values", { run, path: this.path })));
    if (!this.isConnected) return;
    // One of two runs may lack the path; the other is shown all the same.
    this.#found = answers.flatMap(({ value }, side) => (value ? [{ ...value, run: shown[side], side }] : []));
    fill(this.problems, answers.filter(({ reason }) => reason).map(({ reason }) => problem(reason)));
    this.#showValues();
    if (!this.#found.some(({ ticks }) => ticks.length)) return;
    const data = uPlot.join(this.#found.map(({ ticks, values }) => [ticks, values]));
    const series = this.#found.map(({ side }) => ({
      stroke: () => colour(COLOURS[side]),
      width: 2,
      dash: side ? [6, 4] : undefined,
      spanGaps: false, // what is no number is a gap; a tick that only the other run has a snapshot of is none
      points: { size: 5 },
    }));
    const axes = [tickAxis(), { ...themed(), size: gutter }];
    this.host.setAttribute("role", "img");
    this.host.setAttribute("aria-label", `${printable(this.path)} over the visible ticks`);
    this.#chart = makeChart(this.host, { height: HEIGHT_PX, axes, series }, data);
  }

  /** The values before the tick stand as text beside the chart, which only eyes can read. */
  #showValues() {
    fill(this.now, this.#found.map(({ run, side, ticks, texts, shown, of }) => {
      const index = ticks.findLastIndex((tick) => tick <= view.tick);
      const last = `${texts[index]} before tick ${commas(ticks[index] ?? 0)}`;
      const value = index < 0 ? "no snapshot yet" : last;
      const part = shown < of ? ` (${commas(shown)} of ${commas(of)} snapshots)` : "";
      return h("span", {}, h("i", { class: `swatch side${side}` }), `${view.runs[run].name}: ${value}${part}`);
    }));
  }
}

customElements.define("twice-plot", Plot);
customElements.define("twice-plots", Plots);
