/** A branch from the tick: other inputs, executed, and shown beside its parent. */
import { post } from "./api.js";
import { fill, h, labelled, section } from "./dom.js";
import { announce, problem } from "./status.js";
import { commas } from "./text.js";
import { any, Part, view } from "./view.js";

class Branch extends Part {
  #offered = "";

  build() {
    this.explanation = h("p", { class: "note" });
    this.inputs = h("div", { class: "bar" });
    this.onwards = h("input", { type: "checkbox" });
    this.submit = h("button", {}, "branch: executes the program");
    this.outcome = h("div");
    this.form = h("form", { on: { submit: (event) => this.#branch(event) } },
      this.inputs, h("div", { class: "bar" }, labelled("in the ticks after it as well", this.onwards), this.submit));
    this.append(section("branch", "Branch", this.explanation, this.form, this.outcome));
  }

  refresh(changed) {
    if (!any(changed, "moments", "runs", "run")) return;
    const { name, can_branch: canBranch, why_not: whyNot } = view.runs[view.run];
    const [moment] = view.moments;
    const recorded = (moment?.run === view.run && moment.inputs) || [];
    const inputs = [...new Map(recorded.map((each) => [each.name, each])).values()];
    const canChange = canBranch && inputs.length > 0;
    this.form.hidden = !canChange;
    fill(this.explanation, !canBranch ? whyNot : canChange
      ? `${name} is executed with other inputs at tick ${commas(moment.tick)}. The branch is a record of its own.`
      : "This tick has no inputs to change. Go to a tick that has.");
    const offered = JSON.stringify([moment?.tick, inputs.map((each) => [each.name, each.text])]);
    if (offered === this.#offered) return; // keep what is typed
    this.#offered = offered;
    fill(this.inputs, inputs.map(({ name: input, text }) =>
      labelled(input, Object.assign(h("input", { type: "text", value: text }), { input, recorded: text }))));
  }

  async #branch(event) {
    event.preventDefault();
    const fields = [...this.inputs.querySelectorAll("input")];
    const changed = fields.filter((each) => each.value !== each.recorded);
    const warning = h("p", { class: "warning", role: "alert" }, "Change the value of an input first.");
    if (!changed.length) return fill(this.outcome, warning);
    const { run, tick } = view;
    const inputs = Object.fromEntries(changed.map((each) => [each.input, each.value]));
    this.submit.disabled = true;
    fill(this.outcome, h("progress", { "aria-label": "executing" }));
    announce("Executing the program.");
    try {
      const made = (await post("branch", { run, tick, inputs, onwards: this.onwards.checked })).run;
      const runs = [...view.runs.slice(0, made.run), made];
      view.set({ runs, run, other: made.run });
      fill(this.outcome, h("p", {}, `The branch is ${made.name}.`));
      announce(`The branch ${made.name} is shown beside ${view.runs[run].name}.`);
    } catch (error) {
      fill(this.outcome, problem(error));
    } finally {
      this.submit.disabled = false;
    }
  }
}

customElements.define("twice-branch", Branch);
