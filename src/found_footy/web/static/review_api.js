// The review API for one window: each request says which window it is and proves the login; refusals keep their words.

const ADDRESS = "/api/v1/review";

/** A name for this load of the page. Two windows never share one, not even those of one session. */
export function windowName() {
  const random = crypto.getRandomValues(new Uint8Array(12));
  return [...random].map((each) => each.toString(16).padStart(2, "0")).join("");
}

export class Refused extends Error {
  constructor(status, words) {
    super(words);
    this.status = status;
  }
}

export class Api {
  #csrf;
  #window;
  #last = Promise.resolve();

  constructor(csrf, window) {
    this.#csrf = csrf;
    this.#window = window;
  }

  get(path, options = {}) {
    return this.#ask(path, { ...options, method: "GET" });
  }

  post(path, content = {}, options = {}) {
    return this.#ask(path, { ...options, method: "POST", content });
  }

  /** One after the other: an undo never overtakes what it undoes, and no answer is older than the one before it. */
  inTurn(work) {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #ask(path, { method, content, window = this.#window, keepalive = false }) {
    const headers = { Accept: "application/json", "X-Review-Window": window };
    if (this.#csrf) headers["X-CSRF-Token"] = this.#csrf;
    if (content !== undefined) headers["Content-Type"] = "application/json";
    let answer;
    try {
      answer = await fetch(`${ADDRESS}${path}`, { method, headers, keepalive, body: content && JSON.stringify(content) });
    } catch {
      throw new Refused(0, "Server unreachable.");
    }
    if (answer.status === 204) return null;
    const said = await answer.json().catch(() => null);
    if (answer.ok && said) return said;
    throw new Refused(answer.status, said?.error?.message ?? `Server error ${answer.status}.`);
  }
}
