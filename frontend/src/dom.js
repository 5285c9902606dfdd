/** Elements. Each text of the page passes through here and is made printable; none is ever markup. */
import { commas, printable } from "./text.js";

const PROPERTIES = new Set(["checked", "disabled", "hidden", "value"]);
const STEP = 20000;
const ROWS_STEP = 50;

/** Make an element; `on` holds its listeners, strings become text. */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (PROPERTIES.has(name)) element[name] = value;
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : printable(value));
    }
  }
  element.append(...toNodes(children));
  return element;
}

/** Replace what an element holds. */
export const fill = (element, ...children) => element.replaceChildren(...toNodes(children));

function toNodes(children) {
  return children
    .flat(Infinity)
    .filter((each) => each !== null && each !== undefined && each !== false)
    .map((each) => (each instanceof Node ? each : document.createTextNode(printable(each))));
}

/** Make a button. */
export const button = (label, click, props = {}) => h("button", { type: "button", on: { click }, ...props }, label);

/** Make a paragraph of lesser weight. */
export const note = (...children) => h("p", { class: "soft" }, ...children);

/** Make a small label. */
export const tag = (text, mood = "") => h("span", { class: `tag ${mood}` }, text);

/** Make a piece of code, in one line. */
export const code = (text) => h("code", {}, text);

/** Make a block of text with its lines, which can be scrolled by keyboard. */
export const lines = (label, ...children) => h("pre", { tabindex: "0", "aria-label": label }, ...children);

/** Make commands that can follow. */
export const nextCommands = (commands) => commands.map((each) => h("p", { class: "next" }, "next ", code(each)));

/** Make a control with its label. */
export const labelled = (label, control) => h("label", {}, h("span", {}, label), control);

/** Return a text of which the first characters are shown, with a button for more. */
export function cut(text, limit = 300, toShown = printable) {
  if (text.length <= limit) return document.createTextNode(toShown(text));
  let shown = limit;
  const body = document.createTextNode("");
  const more = button("", (event) => {
    event.stopPropagation(); // the row around it would open or close
    shown += STEP;
    update();
  }, { class: "more" });
  const update = () => {
    body.data = toShown(text.slice(0, shown));
    more.textContent = `show more of ${commas(text.length)} characters`;
    more.hidden = shown >= text.length;
  };
  update();
  return h("span", {}, body, more);
}

/** Make a section with a heading, which names it for assistive technology. */
export function section(id, title, ...children) {
  return h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...children);
}

/** Make a table whose cells carry their labels, for narrow screens; a button shows more rows. */
export function table(caption, names, rows) {
  const toCell = (cell, at) => h("td", { "data-label": names[at] }, h("div", {}, cell));
  const toRow = (cells) => h("tr", {}, cells.map(toCell));
  const head = h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, name))));
  const body = h("tbody");
  const extend = () => {
    body.append(...rows.slice(body.rows.length, body.rows.length + ROWS_STEP).map(toRow));
    more.textContent = `show more of ${commas(rows.length)}`;
    more.hidden = body.rows.length >= rows.length;
  };
  const more = button("", extend, { class: "more" });
  extend();
  // A table that scrolls must be reachable by keyboard.
  const reachable = { class: "wide", role: "group", tabindex: "0", "aria-label": caption };
  return [h("div", reachable, h("table", {}, head, body)), more];
}
