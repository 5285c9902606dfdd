/** The page: loads the session, then lays out its parts. */
import "uplot/dist/uPlot.min.css";
import "../../src/twice/report/templates/style.css";
import "./page.css";
import "./about.js";
import { follow } from "./address.js";
import { get } from "./api.js";
import "./branch.js";
import "./difference.js";
import { button, fill, h, section } from "./dom.js";
import "./header.js";
import "./journal.js";
import { followKeys } from "./keys.js";
import { followMoments } from "./moments.js";
import "./plots.js";
import "./state.js";
import { announce, problem, statusLine } from "./status.js";
import "./tickbar.js";
import { commas, nameTick } from "./text.js";
import "./timeline.js";
import { any, Part, view } from "./view.js";

const ZOOM = 2;

class Page extends HTMLElement {
  async connectedCallback() {
    fill(this, h("main", {}, h("h1", {}, "twice view"), h("p", { class: "soft" }, "Loading.")));
    try {
      const session = await get("session");
      view.set({ runs: session.runs });
    } catch (error) {
      return fill(this, h("main", {}, h("h1", {}, "twice view"), problem(error)));
    }
    follow();
    await null; // the first state is told before the parts listen: they ask for it themselves
    this.#lay();
    followMoments();
    view.listen((changed) => any(changed, "moments") && announce(describe(view.moments)));
  }

  #lay() {
    fill(
      this,
      h("header", { class: "top" }, h("h1", {}, "twice view"), statusLine(), followKeys()),
      h("main", {},
        h("twice-header"),
        h("twice-difference"),
        h("twice-timelines"),
        h("div", { class: "halves" }, h("twice-state"), h("twice-journal")),
        h("twice-plots"),
        h("twice-branch"),
        h("twice-about")),
    );
  }
}

/** The timelines of the shown runs, and the bar of the tick, which stays in sight. */
class Timelines extends Part {
  build() {
    this.timelines = h("div");
    this.range = h("span", { class: "soft" });
    const tools = h("div", { class: "bar", role: "group", "aria-label": "visible ticks" },
      button("zoom in", () => view.zoom(1 / ZOOM)),
      button("zoom out", () => view.zoom(ZOOM)),
      button("show all", () => view.set({ range: null })),
      this.range);
    const bar = h("twice-tick-bar", { role: "group", "aria-label": "tick" });
    this.append(section("timeline", "Timeline", tools, this.timelines), bar);
  }

  refresh(changed) {
    if (any(changed, "runs", "run", "other")) {
      fill(this.timelines, view.shown.map((run) => h("twice-timeline", { run })));
    }
    if (any(changed, "runs", "run", "other", "range")) {
      const [first, end] = view.window;
      fill(this.range, `ticks ${commas(Math.floor(first))} to ${commas(Math.ceil(end) - 1)}`);
    }
  }
}

/** Say what changed in the tick, of two runs in each. */
function describe(moments) {
  const nameRun = (run) => (moments.length > 1 ? `${view.runs[run]?.name}: ` : "");
  const toText = ({ run, end, error, sentence }) => end ?? nameRun(run) + (error?.happened ?? sentence);
  return moments.length ? `${nameTick(moments[0].tick)}: ${moments.map(toText).join("; ")}` : "";
}

customElements.define("twice-timelines", Timelines);
customElements.define("twice-page", Page);
