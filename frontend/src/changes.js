/** The next change of a component, found from counts: of ever wider ranges first, then of ever smaller bins. */
import { get } from "./api.js";
import { CONSTRUCTION, view } from "./view.js";

const BINS_MAX = 2000;
const WIDER = 50;

/** Return the nearest tick after (or before, with direction -1) the tick at which a component changes, or null. */
export async function findChange(run, component, tick, direction) {
  const last = view.runs[run].ticks - 1;
  let near = tick + direction;
  for (let width = BINS_MAX; near >= CONSTRUCTION && near <= last; width *= WIDER) {
    const far = Math.min(Math.max(near + direction * (width - 1), CONSTRUCTION), last);
    const found = await findWithin(run, component, Math.min(near, far), Math.max(near, far), direction);
    if (found !== null) return found;
    near = far + direction;
  }
  return null;
}

async function findWithin(run, component, from, to, direction) {
  const bins = Math.min(to - from + 1, BINS_MAX);
  const { tracks, width } = await get("timeline", { run, from, to, bins });
  const counts = tracks.find(({ group, name }) => group === "component" && name === component)?.counts ?? [];
  const order = [...counts.keys()].filter((bin) => counts[bin] > 0);
  if (direction < 0) order.reverse();
  for (const bin of order) {
    const first = from + bin * width;
    if (width === 1) return first;
    const found = await findWithin(run, component, first, Math.min(first + width - 1, to), direction);
    if (found !== null) return found;
  }
  return null;
}
