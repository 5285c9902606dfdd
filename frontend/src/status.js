/** What happens, for eyes and for screen readers: one line of status, and errors with their remedy. */
import { h } from "./dom.js";
import { printable } from "./text.js";

const line = h("p", { id: "status", role: "status" });

/** The line of status. */
export const statusLine = () => line;

/** Say something in the line of status. */
export function announce(text) {
  line.textContent = printable(text);
}

/** Show an error of the server. */
export function problem(error) {
  const { id = "", happened = String(error), expected = "", remedy = "" } = error;
  return h(
    "div",
    { class: "problem", role: "alert" },
    h("p", {}, h("b", {}, happened), id && h("span", { class: "soft" }, ` ${id}`)),
    expected && h("p", {}, expected),
    remedy && h("p", {}, remedy),
  );
}
