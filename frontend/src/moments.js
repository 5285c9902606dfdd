/** The moments at the tick: what the one or two shown runs hold there. */
import { debounce, get, latest, post } from "./api.js";
import { pluralize } from "./text.js";
import { any, CONSTRUCTION, view } from "./view.js";

const KEPT_MAX = 100;
const PAUSE_MS = 40;
const kept = new Map();

const load = latest(async (signal) => {
  const { tick, shown } = view;
  view.set({ moments: await Promise.all(shown.map((run) => ask(run, tick, signal))) });
});

/** Load moments whenever another tick or run is shown. */
export function followMoments() {
  const loadSoon = debounce(load, PAUSE_MS);
  view.listen((changed) => {
    if (changed.has("runs")) kept.clear();
    if (any(changed, "runs", "run", "other", "tick")) loadSoon();
  });
  load();
}

/**
 * Execute the shown programs up to the tick, and show their exact state instead of the nearest snapshot's.
 *
 * Then execute them through it, for the line of each read. A program that leaves its record there still shows its state.
 * After a stop, the server refuses what this would ask for next.
 */
export async function replay(execution) {
  const { tick, shown } = view;
  for (const run of shown) {
    const moment = await ask(run, tick);
    if (moment.end || moment.error) continue;
    const found = await post("replay", { run, tick: Math.max(tick, 0), execution });
    const exact = { ...moment, snapshot: { ...found, number: null }, frames: found.frames };
    keep(run, tick, exact);
    await load();
    if (!moment.effects.length) continue;
    keep(run, tick, { ...exact, ...(await locate(run, tick, moment.effects, execution)) });
    await load();
  }
}

/** Execute a program through a tick, and return its reads with the lines that made them. */
async function locate(run, tick, effects, execution) {
  try {
    const { lines } = await post("lines", { run, tick, execution });
    return { effects: effects.map((each, at) => ({ ...each, place: lines[at] })) };
  } catch (unlocated) {
    return { unlocated };
  }
}

async function ask(run, tick, signal) {
  const { name, ticks } = view.runs[run];
  // Of two runs of unequal length, the shorter one has nothing to say at its end; that is no error.
  if (tick >= ticks && tick > CONSTRUCTION) return { run, tick, end: `${name} ends after ${pluralize(ticks, "tick")}.` };
  try {
    return kept.get(`${run} ${tick}`) ?? keep(run, tick, await get("moment", { run, tick }, signal));
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return { run, tick, error }; // not kept: the server may come back
  }
}

function keep(run, tick, moment) {
  kept.set(`${run} ${tick}`, { ...moment, run });
  if (kept.size > KEPT_MAX) kept.delete(kept.keys().next().value);
  return kept.get(`${run} ${tick}`);
}
