/** What happened in the tick: inputs, reads of the world, printed text, compare-points. */
import { code, cut, fill, h, lines, note, section, table, tag } from "./dom.js";
import { namePlace, showLines } from "./place.js";
import { problem } from "./status.js";
import { commas, nameTick, pluralize, printableLines } from "./text.js";
import { any, Part, view } from "./view.js";

const PRINTED_MAX = 4000;
const DIGEST_MAX = 24;
const LATE_MAX = 4;
const READ = ["operation", "result", "actor"];

class Journal extends Part {
  build() {
    this.title_ = h("span");
    this.columns = h("div", { class: "columns" });
    this.append(section("journal", this.title_, this.columns));
  }

  refresh(changed) {
    if (!any(changed, "moments")) return;
    const { moments } = view;
    const [{ tick = view.tick } = {}] = moments;
    fill(this.title_, nameTick(tick));
    fill(this.columns, moments.map((moment) => h("div", {}, toParts(moment, moments.length > 1))));
  }
}

function toParts(moment, isPair) {
  const name = isPair && h("h3", {}, view.runs[moment.run]?.name);
  if (moment.end) return [name, note(moment.end)];
  if (moment.error) return [name, problem(moment.error)];
  const { omitted = {} } = moment;
  const part = (title, rows, rest, noun, names = null) => [
    h(isPair ? "h4" : "h3", {}, title),
    !rows.length ? note("none") : names ? table(title, names, rows) : rows,
    rest > 0 && note(`${pluralize(rest, noun)} not shown`),
  ];
  const printed = Object.entries(moment.printed).map(toPrinted);
  return [
    name,
    moment.times > 1 && note(`The run went back and came here ${moment.times} times. What follows is of all of them, in their order.`),
    part("Inputs", moment.inputs.map(toInput), omitted.inputs, "more input", ["name", "value"]),
    part("Reads of the world", moment.effects.map(toRead), omitted.effects, "more read", READ),
    moment.late_actors.length > 0 && note(toLate(moment.late_actors, omitted.late_actors)),
    moment.effects.some(({ place }) => place === undefined) && note("The exact state comes with the line of each read."),
    moment.unlocated && problem(moment.unlocated),
    part("Printed", printed, omitted.printed, "more line"),
    part("Compare-points", moment.compare_points.map(toPoint), omitted.compare_points, "more compare-point"),
  ];
}

const toInput = ({ name, text, substituted }) => [[name, substituted && tag("substituted", "unsure")], cut(text)];

function toRead({ operation, arguments_text: given, strict, text, actor, place }) {
  const call = cut(given === undefined ? operation : `${operation}(${given})`);
  return [[call, !strict && tag("not compared"), toPlace(place)], cut(text), actor];
}

/** Say whose reads can be of an earlier tick: a thread's are written when it ends. */
function toLate(actors, more = 0) {
  const rest = actors.length - LATE_MAX + more;
  const names = [...actors.slice(0, LATE_MAX), ...(rest > 0 ? [`${commas(rest)} more`] : [])];
  return `Reads of ${names.join(", ")} can be of an earlier tick. The run wrote them down in this one.`;
}

/** Show the line that made a read; there is none of the user's where a library acted by itself. */
function toPlace(place) {
  if (place === undefined) return false;
  if (place === null) return note("the replay did not make this read");
  if (!place.file) return note("no line of yours");
  return h("details", {}, h("summary", {}, namePlace(place)), showLines(place));
}

function toPrinted([stream, text]) {
  return [note(stream), lines(`printed to ${stream}`, cut(text, PRINTED_MAX, printableLines))];
}

function toPoint({ index, name, root, chain, digests }) {
  const short = root.length > DIGEST_MAX ? `${root.slice(0, DIGEST_MAX)}…` : root;
  const all = [["root", root], ["chain", chain], ...Object.entries(digests)];
  return h("details", {},
    h("summary", {}, `${commas(index)} ${name} `, code(short)),
    h("dl", {}, all.map(([key, digest]) => [h("dt", {}, key), h("dd", {}, code(digest))])));
}

customElements.define("twice-journal", Journal);
