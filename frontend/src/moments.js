/** The moments at the tick: what the one or two shown runs hold there. */
import { debounce, get, latest, parseValues } from "./api.js";
import { any, view } from "./view.js";

const KEPT_MAX = 100;
const PAUSE_MS = 40;
const kept = new Map();

/** Load moments whenever another tick or run is shown. */
export function followMoments() {
  const load = debounce(latest(async (signal) => {
    const { tick, shown } = view;
    view.set({ moments: await Promise.all(shown.map((number) => ask(number, tick, signal))) });
  }), PAUSE_MS);
  view.listen((changed) => {
    if (any(changed, "runs", "run", "other", "tick")) load();
  });
  load();
}

async function ask(run, tick, signal) {
  const key = `${run} ${tick}`;
  if (!kept.has(key)) {
    try {
      kept.set(key, { run, ...(await get("moment", { run, tick }, signal, parseValues)) });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      return { run, tick, error }; // not kept: the record may grow, the server may come back
    }
    if (kept.size > KEPT_MAX) kept.delete(kept.keys().next().value);
  }
  return kept.get(key);
}
