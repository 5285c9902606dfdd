/** The next change of a component: the server searches the digests, as far as one question may. */
import { get } from "./api.js";

let paused = null;

/**
 * Return the nearest tick after (or before, with direction -1) a tick at which a component changes.
 *
 * A long search ends before the record does, with the tick that it came to. The same question goes on from there.
 */
export async function findChange(run, component, tick, direction) {
  const question = JSON.stringify([run, component, tick, direction]);
  const from = paused?.question === question ? paused.until : tick;
  const found = await get("change", { run, component, tick: from, direction });
  paused = found.until === null ? null : { question, until: found.until };
  return found;
}
