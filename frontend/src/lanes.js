/** Lanes of one group of tracks: names on the left, and one chart in which each track has a row of bars. */
import { colour, makeChart, tickAxis } from "./chart.js";
import { button, fill, h } from "./dom.js";
import { commas, nameTick } from "./text.js";
import { any, CONSTRUCTION, Part, view } from "./view.js";

const LANE_PX = 24; // the least size of a target of the pointer
const LANES_MAX = 8;
const AXIS_PX = 28;
const LOWEST = 0.2;
/** Groups whose counts are shares of something. */
const SHARES = ["component", "stream"];
const TITLES = {
  points: "Compare-points",
  journal: "Journal",
  component: "Changes of components",
  stream: "Streams that moved, from snapshot to snapshot",
  effect: "Effects",
  actor: "Actors",
};

class Lanes extends Part {
  #data = null;
  #tracks = [];
  #all = false;
  #chart = null;
  #names = [];

  get group() {
    return this.getAttribute("group");
  }

  refresh(changed) {
    if (any(changed, "component")) this.#markChosen();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#chart?.end();
  }

  /** Show counts; the chart is made anew only when there are other tracks. The last group has an axis for all. */
  show(data, isLast) {
    const tracks = data.tracks.filter((each) => each.group === this.group);
    const isSame = this.#chart !== null && String(tracks.map(toName)) === String(this.#tracks.map(toName));
    [this.isLast, this.isShare] = [isLast, SHARES.includes(this.group)];
    [this.#data, this.#tracks] = [data, tracks];
    if (isSame) this.#chart.chart.redraw(false);
    else this.#rebuild();
    this.count();
  }

  /** Write beside each lane how much of it is visible. */
  count() {
    if (!this.#data) return;
    const [first, end] = view.window;
    const isVisible = (_, bin) => this.#edge(bin) < end && this.#edge(bin + 1) > first;
    // A bin that reaches over the visible ticks counts events of others too.
    const reachesOver = (bin) => this.#edge(bin) < Math.floor(first) || this.#edge(bin + 1) > Math.ceil(end);
    this.#names.forEach((element, lane) => {
      const { name, counts, most } = this.#tracks[lane];
      const of = this.isShare ? most : counts;
      const sum = (each) => each.filter(isVisible).reduce((total, count) => total + count, 0);
      const isAbout = !this.#data.exact || of.some((count, bin) => count > 0 && isVisible(count, bin) && reachesOver(bin));
      const share = commas(sum(counts)) + (this.isShare ? `/${commas(sum(most))}` : "");
      fill(element, h("span", { class: "name" }, name), " ", h("span", { class: "soft" }, isAbout && "about ", share));
      element.title = element.textContent;
    });
  }

  #rebuild() {
    this.#chart?.end();
    const shown = this.#all ? this.#tracks : this.#tracks.slice(0, LANES_MAX);
    this.hidden = shown.length === 0;
    this.#names = shown.map(({ name }) => (this.group === "component" ? chooser(name) : h("span", { class: "lane" })));
    const hidden = this.#tracks.length - shown.length;
    const label = `${TITLES[this.group]} over the visible ticks`;
    const on = { mouseleave: () => fill(this.readout) };
    const host = h("div", { class: "plot", role: "img", "aria-label": label, on });
    fill(
      this,
      h("h4", {}, TITLES[this.group]),
      h("div", { class: "lanes" }, h("div", { class: "names" }, this.#names), host),
      hidden > 0 && button(`show ${commas(hidden)} more`, () => this.#showAll(), { class: "more" }),
    );
    const options = {
      height: shown.length * LANE_PX + (this.isLast ? AXIS_PX : 0),
      axes: [this.isLast ? tickAxis() : { show: false }, { show: false }],
      series: [{ show: false }],
      y: { range: [0, 1] },
      draw: (chart) => shown.forEach((_, lane) => this.#draw(chart, lane)),
      onCursor: (chart) => this.#read(chart),
    };
    this.#chart = makeChart(host, options, [[CONSTRUCTION, view.ticks], [null, null]]);
    this.#markChosen();
  }

  #showAll() {
    this.#all = true;
    this.#rebuild();
    this.count();
  }

  #edge(bin) {
    const { from, to, width } = this.#data;
    return Math.min(from + bin * width, to + 1);
  }

  #draw({ ctx, bbox, scales }, lane) {
    const { name, counts, most } = this.#tracks[lane];
    const highest = Math.max(...counts, 1);
    const pixel = devicePixelRatio;
    const bottom = bbox.top + (lane + 1) * LANE_PX * pixel;
    const per = bbox.width / (scales.x.max - scales.x.min);
    const toX = (tick) => bbox.left + Math.min(Math.max((tick - scales.x.min) * per, 0), bbox.width);
    ctx.fillStyle = colour(this.group === "component" && name === view.component ? "--v4" : "--v3");
    ctx.beginPath();
    counts.forEach((count, bin) => {
      const [left, right] = [toX(this.#edge(bin)), toX(this.#edge(bin + 1))];
      if (!count || right <= left) return;
      const share = count / (this.isShare ? Math.max(most[bin], count) : highest);
      const tall = Math.max(share, LOWEST) * (LANE_PX - 4) * pixel;
      ctx.rect(left, bottom - tall, Math.max(right - left, pixel), tall);
    });
    ctx.fill();
    ctx.fillStyle = colour("--line");
    ctx.fillRect(bbox.left, bottom - pixel, bbox.width, pixel);
  }

  /** Say what is under the cursor; charts that only follow another chart's cursor say nothing. */
  #read(chart) {
    if (!chart.over.matches(":hover")) return;
    const { left, top } = chart.cursor;
    const tick = Math.floor(chart.posToVal(left, "x"));
    const bin = Math.floor((tick - this.#data.from) / this.#data.width);
    const track = this.#names.length && this.#tracks[Math.floor(top / LANE_PX)];
    const count = track?.counts?.[bin];
    if (left < 0 || count === undefined) return fill(this.readout);
    const [start, last] = [this.#edge(bin), this.#edge(bin + 1) - 1];
    const where = last <= start ? nameTick(tick) : `ticks ${commas(start)} to ${commas(last)}`;
    const of = this.isShare ? ` of ${commas(track.most[bin])}` : "";
    fill(this.readout, `${where}, ${track.name}: ${this.#data.exact ? "" : "about "}${commas(count)}${of}`);
  }

  #markChosen() {
    for (const each of this.#names) {
      if (each.component) each.setAttribute("aria-pressed", String(each.component === view.component));
    }
  }
}

const toName = ({ name }) => JSON.stringify(name);

/** Make the name of a component, which chooses it for the steps from change to change. */
function chooser(name) {
  const made = button("", () => view.set({ component: view.component === name ? "" : name }), { class: "lane" });
  made.component = name;
  return made;
}

customElements.define("twice-lanes", Lanes);
