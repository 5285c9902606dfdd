/** Where two runs part: the first difference, from the records alone; the line, by executing both programs. */
import { get, latest, post } from "./api.js";
import { button, code, cut, fill, h, nextCommands, note, section, table } from "./dom.js";
import { makeExecution } from "./execution.js";
import { namePlace, showLines } from "./place.js";
import { announce, problem } from "./status.js";
import { nameTick } from "./text.js";
import { any, Part, view } from "./view.js";

const BACK = 10;

class Difference extends Part {
  #compare = latest((signal, a, b) => get("difference", { a, b }, signal));

  build() {
    this.answer = h("div");
    const [controls, outcome] = makeExecution("diagnose: executes both programs", (execution) => this.#diagnose(execution));
    this.verdict = outcome;
    this.append(section("difference", "First difference", this.answer, h("p", { class: "bar" }, controls), outcome));
  }

  async refresh(changed) {
    this.hidden = view.other === null;
    if (any(changed, "difference")) fill(this.answer, view.difference ? toAnswer(view.difference) : note("Comparing."));
    if (!any(changed, "runs", "run", "other")) return;
    view.set({ difference: null });
    fill(this.verdict);
    if (this.hidden) return;
    const { shown } = view;
    const difference = await this.#compare(...shown).catch((error) => ({ error }));
    if (difference && String(shown) === String(view.shown)) view.set({ difference });
  }

  async #diagnose(execution) {
    const { shown } = view;
    const [a, b] = shown;
    const found = await post("diagnose", { a, b, execution });
    if (String(shown) !== String(view.shown)) return null; // others are shown by now
    announce(`The diagnosis says: ${found.result}.`);
    return toVerdict(found, shown.map((number) => view.runs[number].name));
  }
}

function toAnswer({ error, sentence, tick, name, columns = [], last_agreement: agreement, shorter, notes, others }) {
  if (error) return problem(error);
  const [a, b] = view.shown.map((number) => view.runs[number].name);
  const jump = (label, to) => button(label, () => view.goTo(to));
  const where = [name !== "tick" && ` (${name})`, columns.length > 0 && ` in ${columns.join(", ")}`, "."];
  return [
    h("p", {}, sentence || [h("b", {}, `They part at ${nameTick(tick)}`), where]),
    agreement && note(`last agreement: ${nameTick(agreement.tick)}`, agreement.name !== "tick" && ` (${agreement.name})`),
    shorter && note(`${shorter === "a" ? a : b} is the shorter run.`),
    notes.map((each) => note(each)),
    others.length > 0 && table("They also differ in", ["what", a, b], others.map(toField)),
    tick !== null && h("p", { class: "bar" },
      jump("go to the difference", tick),
      jump(`${BACK} ticks before it`, tick - BACK)),
  ];
}

function toVerdict({ result, inputs, channels, lines: operations, fields, outcome, notes, caveats, next }, names) {
  const compare = (title, key, rows) => rows.length > 0 && table(title, [key, ...names], rows.map(toField));
  return [
    h("h3", {}, `${result}${channels.length ? `: ${channels.join(", ")}` : ""}`),
    notes.map((text) => h("p", {}, cut(text))),
    compare("different inputs", "input", inputs),
    operations.map((each) => toOperation(each, names)),
    compare("differing fields", "field", fields),
    compare("different results", "result", outcome),
    caveats.map((text) => h("p", { class: "warning" }, text)),
    nextCommands(next),
  ];
}

function toOperation({ name, a, b, ...place }, names) {
  const toValue = (value, at) =>
    h("div", {}, h("b", {}, [name, names[at]].filter(Boolean).join(" in ")), code(cut(String(value))));
  return h("div", {},
    h("p", {}, namePlace(place)),
    showLines(place),
    h("div", { class: "values" }, [a, b].map(toValue)));
}

const toField = ({ path, what, a, b }) => [path ?? what, cut(String(a)), cut(String(b))];

customElements.define("twice-difference", Difference);
