/** What executes programs: a button that says so, progress while they run, and the answer or the error. */
import { button, fill, h } from "./dom.js";
import { announce, problem } from "./status.js";
import { pluralize } from "./text.js";

/**
 * Make a button that executes programs, and the element that shows how it goes and what came of it.
 *
 * The action returns what to show.
 */
export function makeExecution(label, action, props = {}) {
  const outcome = h("div");
  const control = button(label, async () => {
    control.disabled = true;
    announce("Executing. This takes seconds to minutes.");
    const stop = countSeconds(outcome);
    const answer = await action().catch(problem);
    stop();
    control.disabled = false;
    fill(outcome, answer);
  }, props);
  return [control, outcome];
}

/** Count the seconds, so that a long execution is seen to go on. */
function countSeconds(element) {
  const bar = h("progress", { "aria-label": "executing" });
  let passed = 0;
  const show = () => fill(element, bar, ` executing: ${pluralize(passed++, "second")}`);
  show();
  const timer = setInterval(show, 1000);
  return () => clearInterval(timer);
}
