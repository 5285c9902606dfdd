/** A branch from the tick: other inputs, executed, and shown beside its parent. */
import { post } from "./api.js";
import { fill, h, labelled, section } from "./dom.js";
import { makeExecution } from "./execution.js";
import { announce } from "./status.js";
import { commas } from "./text.js";
import { any, Part, view } from "./view.js";

class Branch extends Part {
  #offered = "";

  build() {
    this.explanation = h("p", { class: "note" });
    this.inputs = h("div", { class: "bar" });
    this.onwards = h("input", { type: "checkbox" });
    const label = "branch: executes the program";
    const [controls, outcome] = makeExecution(label, (execution) => this.#branch(execution), { type: "submit" });
    this.form = h("form", { on: { submit: (event) => event.preventDefault() } },
      this.inputs, h("div", { class: "bar" }, labelled("in the ticks after it as well", this.onwards), controls));
    this.append(section("branch", "Branch", this.explanation, this.form, outcome));
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
    this.at = { run: view.run, tick: moment?.tick };
    const offered = JSON.stringify([this.at, inputs.map((each) => [each.name, each.toml])]);
    if (offered === this.#offered) return; // keep what is typed
    this.#offered = offered;
    // A value without a text from which it could be read again is not offered.
    fill(this.inputs, inputs.map(({ name: input, toml }) => {
      const recorded = toml ?? "";
      const field = h("input", { type: "text", value: recorded, placeholder: recorded ? null : "TOML: 1, \"text\", [1, 2]" });
      return labelled(input, Object.assign(field, { input, recorded }));
    }));
  }

  async #branch(execution) {
    const fields = [...this.inputs.querySelectorAll("input")];
    const changed = fields.filter((each) => each.value !== each.recorded);
    if (!changed.length) return h("p", { class: "warning", role: "alert" }, "Change the value of an input first.");
    const { run, tick } = this.at; // whose inputs were changed; the page may be at another tick by now
    const inputs = Object.fromEntries(changed.map((each) => [each.input, each.value]));
    const made = await post("branch", { run, tick, inputs, onwards: this.onwards.checked, execution });
    view.set({ runs: made.runs, run, other: made.run });
    announce(`The branch ${made.name} is shown beside ${view.runs[run].name}.`);
    return h("p", {}, `The branch is ${made.name}.`);
  }
}

customElements.define("twice-branch", Branch);
