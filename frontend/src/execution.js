/** What executes programs: a button that says so, progress and a way to stop, and the answer or the error. */
import { post } from "./api.js";
import { button, fill, h } from "./dom.js";
import { announce, problem } from "./status.js";
import { pluralize } from "./text.js";

/**
 * Make buttons that execute programs and stop them, and the element that shows how it goes and what came of it.
 *
 * The action gets a name for its requests, by which the server stops them, and returns what to show.
 */
export function makeExecution(label, action, props = {}) {
  const outcome = h("div");
  let execution = "";
  const control = button(label, async () => {
    execution = crypto.randomUUID();
    control.disabled = true;
    stop.hidden = false;
    announce("Executing. This takes seconds to minutes.");
    const endCount = countSeconds(outcome);
    const answer = await action(execution).catch(problem);
    endCount();
    control.disabled = false;
    if (document.activeElement === stop) control.focus();
    stop.hidden = true;
    fill(outcome, answer);
  }, props);
  const stop = button("stop", async () => {
    announce("Stopping.");
    announce(await post("stop", { execution }).then(() => "Stopped.", (error) => problem(error).textContent));
  }, { hidden: true });
  return [[control, stop], outcome];
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
