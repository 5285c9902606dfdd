/** Questions to the server of the page, and its errors. */

const token = new URLSearchParams(location.search).get("token") ?? "";

/** An error of the server, in its three sentences. */
class RequestError extends Error {
  constructor({ id = "", happened = "", expected = "", remedy = "" }) {
    super(happened);
    Object.assign(this, { id, happened, expected, remedy });
  }
}

/** Return an answer of the server. */
export function get(name, query = {}, signal = undefined) {
  return request(`api/${name}?${new URLSearchParams({ ...query, token })}`, { signal });
}

/** Let the server do something, and return its answer. */
export function post(name, body) {
  return request(`api/${name}?${new URLSearchParams({ token })}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function request(url, options) {
  let answer, text;
  try {
    answer = await fetch(url, { ...options, cache: "no-store" });
    text = await answer.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new RequestError({
      happened: "The server of this page does not answer.",
      expected: "The command that opened this page must still run.",
      remedy: "Start it again: twice view RUN",
    });
  }
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    found = null;
  }
  if (answer.ok && found) return found;
  throw new RequestError(found?.error ?? {
    happened: `The server answered with status ${answer.status} and no text that this page can read.`,
    expected: "An answer in JSON, of the same version of twice as this page.",
    remedy: "Start it again: twice view RUN",
  });
}

/** Return a function that runs once its calls have paused. */
export function debounce(action, pause_ms) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(action, pause_ms, ...args);
  };
}

/** Return a function whose newest call cancels the one before; a canceled one returns nothing. */
export function latest(action) {
  let controller = null;
  return async (...args) => {
    controller?.abort();
    const own = (controller = new AbortController());
    try {
      return await action(own.signal, ...args);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  };
}
