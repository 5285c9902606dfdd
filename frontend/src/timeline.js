/** The timeline of one run: what happened in each bin of its ticks, asked for as the visible range moves. */
import { debounce, get, latest } from "./api.js";
import { gutter } from "./chart.js";
import { fill, h, note } from "./dom.js";
import "./lanes.js";
import { problem } from "./status.js";
import { pluralize } from "./text.js";
import { any, CONSTRUCTION, Part, view } from "./view.js";

const BIN_PX = 3;
const BINS_MAX = 2000;
const PAUSE_MS = 80;
const GROUPS = ["points", "journal", "component", "stream", "effect", "actor"];

/**
 * Return the question for a range: bins of a power of two of ticks, aligned, so that they stay the same while the
 * range moves; half a width more on each side, so that there is something to show before the answer comes.
 */
function planBins([first, end], ticks, width) {
  const span = end - first;
  const most = Math.min(Math.max(width / BIN_PX, 40), BINS_MAX / 2 - 2);
  const size = 2 ** Math.max(0, Math.ceil(Math.log2(span / most)));
  const from = Math.max(CONSTRUCTION, Math.floor((first - span / 2) / size) * size);
  const stop = Math.min(end + span / 2, ticks);
  const bins = Math.max(1, Math.ceil((stop - from) / size));
  return { from, to: Math.min(from + bins * size, ticks) - 1, bins };
}

class Timeline extends Part {
  #asked = "";
  #groups = [];
  #ask = debounce(() => this.isConnected && this.#askNow(), PAUSE_MS);
  #fetch = latest(async (signal, question) => this.#show(await get("timeline", question, signal)));

  build() {
    this.number = Number(this.getAttribute("run"));
    this.notes = h("div");
    this.readout = h("p", { class: "readout soft", "aria-hidden": "true" });
    this.#groups = GROUPS.map((group) => {
      const lanes = h("twice-lanes", { group });
      lanes.readout = this.readout;
      return lanes;
    });
    const head = h("div", { class: "bar" }, h("h3", {}, view.runs[this.number].name), this.readout);
    fill(this, head, this.notes, this.#groups);
  }

  refresh(changed) {
    if (!any(changed, "range", "run", "other", "runs")) return;
    if (this.#asked) this.#ask();
    else this.#askNow(); // the first time somebody waits for it
  }

  #askNow() {
    const { ticks } = view.runs[this.number];
    const first = Math.min(view.window[0], ticks - 1);
    const end = Math.max(Math.min(view.window[1], ticks), first + 1);
    const question = { run: this.number, ...planBins([first, end], ticks, this.clientWidth - gutter()) };
    const asked = JSON.stringify(question);
    if (asked === this.#asked) return this.#groups.forEach((each) => each.count());
    this.#asked = asked;
    this.#fetch(question).catch((error) => {
      this.#asked = "";
      fill(this.notes, problem(error));
    });
  }

  #show(data) {
    fill(
      this.notes,
      !data.exact && note("sampled; zoom in for exact counts"),
      data.omitted > 0 && note(`${pluralize(data.omitted, "more track")} not shown`),
    );
    const last = this.#groups.findLast(({ group }) => data.tracks.some((each) => each.group === group));
    this.#groups.forEach((each) => each.show(data, each === last));
  }
}

customElements.define("twice-timeline", Timeline);
