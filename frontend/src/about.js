/** The identity of the shown runs, their random streams, and their reads of the world. */
import { fill, h, section, table } from "./dom.js";
import { commas } from "./text.js";
import { any, Part, view } from "./view.js";

class About extends Part {
  build() {
    this.columns = h("div", { class: "columns" });
    this.append(section("about", "About the run", this.columns));
  }

  refresh(changed) {
    if (!any(changed, "runs", "run", "other")) return;
    fill(this.columns, view.shown.map((number) => {
      const run = view.runs[number];
      const identity = [["path", run.path], ...run.identity.map(({ name, text }) => [name, text])];
      const streams = run.streams.map(({ name, kind, draws }) => [name, kind, draws]);
      const reads = run.reads.map(({ name, by, count }) => [name, by, count]);
      return h("div", {},
        h("h3", {}, run.name),
        toDetails("Identity", run, ["name", "value"], identity),
        toDetails("Random streams", run, ["stream", "kind", "draws"], streams),
        toDetails("Reads of the world", run, ["source", "by", "count"], reads));
    }));
  }
}

function toDetails(title, { name }, names, rows) {
  const summary = h("summary", {}, `${title} (${commas(rows.length)})`);
  return h("details", {}, summary, table(`${title} of ${name}`, names, rows));
}

customElements.define("twice-about", About);
