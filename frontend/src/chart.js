/** Charts over ticks: all share one range, one cursor, the marks of tick and difference, and the same gestures. */
import uPlot from "uplot";
import { any, view } from "./view.js";

const CLICK_PX = 4;
const WHEEL = 0.0015;
const narrow = matchMedia("(max-width: 640px)");
const dark = matchMedia("(prefers-color-scheme: dark)");

/** Return a colour of the style sheet. */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Width of the names, or of a y axis, on the left of each chart. The style sheet has the same numbers. */
export const gutter = () => (narrow.matches ? 96 : 176);

/** The axis of ticks. */
export const tickAxis = () => ({
  ...themed(),
  size: 28,
  incrs: [0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((power) => [1, 2, 5].map((each) => each * 10 ** power)),
  values: (_, splits) => splits.map((each) => each.toLocaleString("en-US")),
});

/** The look of an axis, asked at each drawing because the colour scheme can change. */
export const themed = () => ({
  stroke: () => colour("--soft"),
  grid: { stroke: () => colour("--line"), width: 1 },
  ticks: { stroke: () => colour("--line"), width: 1 },
  font: "12px system-ui, sans-serif",
});

/** Make a chart in an element; call the result's `end` when the element leaves the page. */
export function makeChart(host, { height, axes, series, y = {}, draw = null, onCursor = null }, data) {
  const [min, max] = view.window;
  const chart = new uPlot(
    {
      width: Math.max(host.clientWidth, 50),
      height,
      padding: [0, 16, 0, 12], // room for the first and the last number of an axis
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        sync: { key: "ticks" },
        drag: { x: false, y: false, setScale: false },
        bind: { dblclick: () => null },
      },
      scales: { x: { time: false, min, max }, y },
      axes,
      series: [{}, ...series],
      hooks: {
        draw: [(each) => draw?.(each), drawMarks],
        setCursor: onCursor ? [onCursor] : [],
      },
    },
    data,
    host,
  );
  const rescale = () => chart.setScale("x", { min: view.window[0], max: view.window[1] });
  const redraw = () => chart.redraw(false);
  const stop = view.listen((changed) => {
    if (any(changed, "range", "run", "other", "runs")) rescale();
    else if (any(changed, "tick", "difference", "component")) redraw();
  });
  const watch = new ResizeObserver(() => {
    if (host.clientWidth && host.clientWidth !== chart.width) chart.setSize({ width: host.clientWidth, height });
  });
  watch.observe(host);
  dark.addEventListener("change", redraw);
  attachGestures(chart);
  rescale();
  return {
    chart,
    setData(found) {
      chart.setData(found, false);
      rescale();
    },
    end() {
      stop();
      watch.disconnect();
      dark.removeEventListener("change", redraw);
      chart.destroy();
    },
  };
}

/** Mark the tick and the first difference. */
function drawMarks({ ctx, bbox, valToPos }) {
  const parting = view.difference?.tick ?? null;
  for (const [tick, name] of [[parting, "--mark"], [view.tick, "--ink"]]) {
    if (tick === null) continue;
    const left = valToPos(tick, "x", true);
    const right = valToPos(tick + 1, "x", true);
    if (right < bbox.left || left > bbox.left + bbox.width) continue;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.fillStyle = colour(name);
    ctx.fillRect(left, bbox.top, 2 * devicePixelRatio, bbox.height);
    ctx.globalAlpha = 0.15;
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
    ctx.restore();
  }
}

/** Wheel and two fingers zoom, drag pans, shift and drag selects a range, a click chooses a tick, two show all. */
function attachGestures(chart) {
  const { over } = chart;
  const tickAt = (x) => chart.posToVal(x - over.getBoundingClientRect().left, "x");
  const fingers = new Map();
  let drag = null;

  over.addEventListener("wheel", (event) => {
    event.preventDefault();
    const [first, end] = view.window;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) view.pan((event.deltaX * (end - first)) / over.clientWidth);
    else view.zoom(Math.exp(event.deltaY * WHEEL), tickAt(event.clientX));
  }, { passive: false });

  over.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    over.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, event.clientX);
    if (fingers.size > 1) return end(); // neither a drag nor a click
    const x = event.clientX;
    drag = { x, window: view.window, start: tickAt(x), selects: event.shiftKey, moved: false };
  });

  over.addEventListener("pointermove", (event) => {
    if (fingers.size > 1) return pinch(event.pointerId, event.clientX);
    if (!drag) return;
    const distance = event.clientX - drag.x;
    drag.moved ||= Math.abs(distance) > CLICK_PX;
    if (!drag.moved) return;
    if (drag.selects) {
      const left = over.getBoundingClientRect().left;
      const [from, to] = [drag.x - left, event.clientX - left].sort((a, b) => a - b);
      chart.setSelect({ left: from, width: to - from, top: 0, height: over.clientHeight }, false);
    } else {
      const [first, end] = drag.window;
      const ticks = (-distance * (end - first)) / over.clientWidth;
      view.set({ range: [first + ticks, end + ticks] });
    }
  });

  over.addEventListener("pointerup", (event) => {
    const done = drag;
    end(event.pointerId);
    if (!done) return;
    if (!done.moved) view.set({ tick: Math.floor(done.start) });
    else if (done.selects) view.set({ range: [done.start, tickAt(event.clientX)].sort((a, b) => a - b) });
  });
  over.addEventListener("pointercancel", (event) => end(event.pointerId));
  over.addEventListener("dblclick", () => view.set({ range: null }));

  /** A finger moves: the tick under the other one stays where it is. */
  function pinch(moving, x) {
    if (!fingers.has(moving)) return; // a mouse that hovers
    const resting = fingers.get([...fingers.keys()].find((each) => each !== moving));
    const distance = (at) => Math.max(Math.abs(at - resting), CLICK_PX);
    view.zoom(distance(fingers.get(moving)) / distance(x), tickAt(resting));
    fingers.set(moving, x);
  }

  function end(finger) {
    fingers.delete(finger);
    drag = null;
    chart.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
  }
}
