/** The state of the page in the address, so that a link leads back to it, and back and forward work. */
import { debounce } from "./api.js";
import { view } from "./view.js";

const RESTED_MS = 400;

/** Return the state as the part of an address after "#". */
function format() {
  const { run, other, tick, range, component, plots } = view;
  const query = new URLSearchParams({ run, tick });
  if (other !== null) query.set("with", other);
  if (range) {
    query.set("from", Math.floor(range[0]));
    query.set("to", Math.ceil(range[1]) - 1);
  }
  if (component) query.set("component", component);
  for (const path of plots) query.append("plot", path);
  return `#${query}`;
}

/** Take the state from an address. */
export function read(hash) {
  const query = new URLSearchParams(hash.slice(1));
  const whole = (name, fallback) => (/^-?\d{1,15}$/.test(query.get(name) ?? "") ? Number(query.get(name)) : fallback);
  const [from, to] = [whole("from", null), whole("to", null)];
  view.set({
    run: whole("run", 0),
    // A session of several runs begins with a comparison.
    other: whole("with", query.has("run") || view.runs.length < 2 ? null : 1),
    tick: whole("tick", 0),
    range: from === null || to === null || to < from ? null : [from, to + 1],
    component: query.get("component") ?? "",
    plots: [...new Set(query.getAll("plot"))],
  });
}

/** Keep address and state the same: a state at which you rest is an entry of the browser's history. */
export function follow() {
  const write = debounce(() => {
    if (format() !== location.hash) history.pushState(null, "", format());
  }, RESTED_MS);
  view.listen(write);
  addEventListener("popstate", () => {
    read(location.hash);
    // An address that names what is not there becomes the one of what is shown: it is no new entry.
    history.replaceState(null, "", format());
  });
  read(location.hash);
  history.replaceState(null, "", format());
}
