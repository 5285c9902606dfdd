/** Where two runs part: the first difference, from the records alone; the line, by executing both programs. */
import { get, latest, post } from "./api.js";
import { button, code, cut, fill, h, lines, nextCommands, note, section, table } from "./dom.js";
import { announce, problem } from "./status.js";
import { nameTick, pluralize, printableLines } from "./text.js";
import { any, Part, view } from "./view.js";

const BACK = 10;

class Difference extends Part {
  #compare = latest(async (signal, a, b) => {
    try {
      view.set({ difference: await get("difference", { a, b }, signal) });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      view.set({ difference: { error } });
    }
  });

  build() {
    this.answer = h("div");
    this.button = button("diagnose: executes both programs", () => this.#diagnose());
    this.progress = note();
    this.verdict = h("div");
    const parts = [this.answer, h("p", {}, this.button), this.progress, this.verdict];
    this.append(section("difference", "First difference", parts));
  }

  refresh(changed) {
    this.hidden = view.other === null;
    if (any(changed, "runs", "run", "other")) {
      view.set({ difference: null });
      fill(this.verdict);
      if (view.other !== null) this.#compare(view.run, view.other);
    }
    if (any(changed, "difference")) fill(this.answer, view.difference ? toAnswer(view.difference) : note("Comparing."));
  }

  async #diagnose() {
    const [a, b] = view.shown;
    const seconds = this.#count();
    this.button.disabled = true;
    fill(this.verdict);
    announce("Executing both programs. This takes seconds to minutes.");
    try {
      const found = await post("diagnose", { a, b });
      if (a !== view.run || b !== view.other) return;
      fill(this.verdict, toVerdict(found, [a, b].map((number) => view.runs[number].name)));
      announce(`The diagnosis says: ${found.result}.`);
    } catch (error) {
      fill(this.verdict, problem(error));
    } finally {
      clearInterval(seconds);
      fill(this.progress);
      this.button.disabled = false;
    }
  }

  /** Count the seconds, so that a long execution is seen to go on. */
  #count() {
    let passed = 0;
    const bar = h("progress", { "aria-label": "executing" });
    const show = () => fill(this.progress, bar, ` executing both programs: ${pluralize(passed, "second")}`);
    show();
    return setInterval(() => {
      passed += 1;
      show();
    }, 1000);
  }
}

function toAnswer({ error, equal, tick, name, columns = [], last_agreement: agreement, shorter, within }) {
  if (error) return problem(error);
  if (equal) return h("p", {}, "The two runs are equal at every compare-point.", within && ` ${within}`);
  const [a, b] = view.shown.map((number) => view.runs[number].name);
  const jump = (label, to) => button(label, () => view.goTo(to));
  const where = [` (${name})`, columns.length > 0 && ` in ${columns.join(", ")}`, "."];
  return [
    tick === null
      ? h("p", {}, "The runs differ, and no compare-point says where.")
      : h("p", {}, h("b", {}, `They part at ${nameTick(tick)}`), where),
    agreement && note(`last agreement: ${agreement.name} of ${nameTick(agreement.tick)}`),
    shorter && note(`${shorter === "a" ? a : b} is the shorter run.`),
    within && note(within),
    tick !== null && h("p", { class: "bar" },
      jump("go to the difference", tick),
      jump(`${BACK} ticks before it`, tick - BACK)),
  ];
}

function toVerdict({ result, inputs, channels, lines: operations, fields, caveats, next }, names) {
  return [
    h("h3", {}, `${result}${channels.length ? `: ${channels.join(", ")}` : ""}`),
    inputs.length > 0 && table("different inputs", ["input", ...names], inputs.map(toField)),
    operations.map((each) => toOperation(each, names)),
    fields.length > 0 && table("differing fields", ["field", ...names], fields.map(toField)),
    caveats.map((text) => h("p", { class: "warning" }, text)),
    nextCommands(next),
  ];
}

function toOperation({ file, line, function: where, operation, name, a, b, excerpt }, names) {
  const rows = excerpt.length ? excerpt : [[line, operation]];
  const toRow = ([number, text]) =>
    h("span", { class: number === line ? "row lit" : "row" }, h("span", { class: "number" }, number), toText(text));
  const toValue = (value, at) =>
    h("div", {}, h("b", {}, [name, names[at]].filter(Boolean).join(" in ")), code(cut(String(value))));
  return h("div", {},
    h("p", {}, code(`${file}:${line}`), " in ", code(where)),
    lines(`lines of ${file}`, rows.map(toRow)),
    h("div", { class: "values" }, [a, b].map(toValue)));
}

const toField = ({ path, what, a, b }) => [path ?? what, cut(String(a)), cut(String(b))];
const toText = (text) => document.createTextNode(printableLines(text));

customElements.define("twice-difference", Difference);
