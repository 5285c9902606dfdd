/** Keys of the whole page, and the help that lists them. */
import { button, h, labelled } from "./dom.js";
import { stepToChange } from "./tickbar.js";
import { view } from "./view.js";

const TEN = 10;
const ZOOM = 2;
const PAN = 0.25;
const step = (ticks) => () => view.goTo(view.tick + ticks);
const pan = (share) => () => view.pan(share * (view.window[1] - view.window[0]));

/** Keys with their effect and its description. */
const KEYS = [
  ["ArrowLeft", step(-1), "← →", "one tick back or on"],
  ["ArrowRight", step(1)],
  ["shift ArrowLeft", step(-TEN), "shift ← →", "ten ticks back or on"],
  ["shift ArrowRight", step(TEN)],
  ["Home", () => view.goTo(0), "Home End", "the first or last tick"],
  ["End", () => view.goTo(view.ticks - 1)],
  ["n", () => stepToChange(1), "n p", "the next or previous change of the chosen component"],
  ["p", () => stepToChange(-1)],
  ["d", () => view.goTo(view.difference?.tick ?? view.tick), "d", "the first difference of two runs"],
  ["+", () => view.zoom(1 / ZOOM), "+ −", "zoom in or out at the tick"],
  ["-", () => view.zoom(ZOOM)],
  ["0", () => view.set({ range: null }), "0", "show all ticks"],
  ["[", pan(-PAN), "[ ]", "move the visible range"],
  ["]", pan(PAN)],
  ["/", () => document.getElementById("search")?.focus(), "/", "search the state"],
  ["?", () => help.showModal(), "?", "this help"],
];
const GESTURES = [
  ["wheel, two fingers", "zoom at the cursor, or where they are"],
  ["drag", "move the visible range"],
  ["shift and drag", "zoom into a range"],
  ["click, double-click", "choose a tick, show all ticks"],
  ["Enter on a number of the state", "plot it, or remove its plot"],
];

// Single letters can get in the way of speech input.
const letters = h("input", { type: "checkbox", checked: true });
const explained = [...KEYS.filter((each) => each.length > 2).map((each) => each.slice(2)), ...GESTURES];
const help = h("dialog", { "aria-labelledby": "help" },
  h("h2", { id: "help" }, "Keys"),
  h("dl", {}, explained.map(([keys, text]) => [h("dt", {}, keys), h("dd", {}, text)])),
  h("p", {}, labelled("keys of one letter or sign work", letters)),
  button("close", () => help.close()));

/** Make the button and the dialog of help, and follow the keys. */
export function followKeys() {
  document.addEventListener("keydown", onKey);
  return [button("keys", () => help.showModal()), help];
}

function onKey(event) {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || help.open) return;
  const isText = event.target.matches("input:not([type=checkbox]):not([type=range]), textarea, select");
  const isScrolled = event.target.matches(".wide, pre"); // arrows scroll it
  const isLetter = event.key.length === 1;
  if (isText || (isScrolled && !isLetter) || (isLetter && !letters.checked && event.key !== "?")) return;
  // A sign such as "?" needs shift on many keyboards, so that shift counts for named keys alone.
  const name = event.shiftKey && !isLetter ? `shift ${event.key}` : event.key;
  const found = KEYS.find(([key]) => key === name);
  if (!found) return;
  event.preventDefault();
  found[1]();
}
