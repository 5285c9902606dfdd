/** The chosen tick: a slider, a field, and buttons that step. */
import { get } from "./api.js";
import { button, fill, h, labelled } from "./dom.js";
import { announce, problem } from "./status.js";
import { commas, nameTick } from "./text.js";
import { any, CONSTRUCTION, Part, view } from "./view.js";

let paused = {};

/**
 * Step from the tick to the next or previous change of the chosen component in a shown run.
 *
 * A long search ends before the records do, with the tick that it came to. The same step goes on from there.
 */
export async function stepToChange(direction) {
  const { shown, component, tick } = view;
  if (!component) return announce("Choose a component first: press its name in the timeline.");
  announce(`Looking for a change of ${component}.`);
  const [run, other = ""] = shown;
  const toStep = () => JSON.stringify([view.shown, view.component, view.tick, direction]);
  const step = toStep();
  try {
    const from = paused.step === step ? paused.until : tick;
    const found = await get("change", { run, other, component, tick: from, direction });
    if (toStep() !== step) return; // somebody went on
    paused = { step, until: found.until ?? tick };
    if (found.tick === null) announce(found.sentence);
    else view.goTo(found.tick);
  } catch (error) {
    announce(problem(error).textContent);
  }
}

class TickBar extends Part {
  build() {
    const go = (tick) => () => view.goTo(tick());
    const take = ({ target }) => view.goTo(Number(target.value));
    this.slider = h("input", { type: "range", min: CONSTRUCTION, step: 1, on: { input: take } });
    this.field = h("input", { type: "number", min: CONSTRUCTION, step: 1, on: { change: take } });
    this.chosen = h("span", { class: "soft" });
    this.end = h("span", { class: "soft" });
    this.changes = [
      button("previous change", () => stepToChange(-1)),
      button("next change", () => stepToChange(1)),
    ];
    this.append(
      h("div", { class: "bar" },
        button("|◀", go(() => 0), { "aria-label": "first tick" }),
        button("◀", go(() => view.tick - 1), { "aria-label": "previous tick" }),
        labelled("tick", this.field), this.end,
        button("▶", go(() => view.tick + 1), { "aria-label": "next tick" }),
        button("▶|", go(() => view.ticks - 1), { "aria-label": "last tick" }),
        this.changes, this.chosen),
      h("label", { class: "slider" }, h("span", { class: "hidden" }, "tick, on a slider"), this.slider),
    );
  }

  refresh(changed) {
    if (!any(changed, "tick", "runs", "run", "other", "component")) return;
    this.slider.max = this.field.max = view.ticks - 1;
    this.slider.value = this.field.value = view.tick;
    this.slider.setAttribute("aria-valuetext", nameTick(view.tick));
    fill(this.end, view.tick < 0 ? "construction" : `of ${commas(view.ticks)}`);
    for (const each of this.changes) each.disabled = !view.component;
    fill(this.chosen, view.component && `of ${view.component}`);
  }
}

customElements.define("twice-tick-bar", TickBar);
