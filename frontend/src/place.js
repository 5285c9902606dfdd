/** A line of source code: its name, and the lines around it. */
import { code, h, lines } from "./dom.js";
import { printableLines } from "./text.js";

/** Name a line, as an error of Python does. */
export const namePlace = ({ file, line, function: where }) => [code(`${file}:${line}`), " in ", code(where)];

/** Show the lines around one; a source that is not as recorded has at most the operation. */
export function showLines({ file, line, excerpt, operation = "" }) {
  const rows = excerpt.length ? excerpt : [[line, operation]];
  const toRow = ([number, text]) =>
    h("span", { class: number === line ? "row lit" : "row" }, h("span", { class: "number" }, number), toText(text));
  return lines(`lines of ${file}`, rows.map(toRow));
}

const toText = (text) => document.createTextNode(printableLines(text));
