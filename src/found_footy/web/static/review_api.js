// Review API client of one window: sends window id and CSRF token, and keeps the server's error messages.

const ADDRESS = "/api/v1/review";

/** Id of this page load. Never shared by two windows, even of one session. */
export function newWindowId() {
  const random = crypto.getRandomValues(new Uint8Array(12));
  return [...random].map((each) => each.toString(16).padStart(2, "0")).join("");
}

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
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
    return this.#request(path, { ...options, method: "GET" });
  }

  post(path, content = {}, options = {}) {
    return this.#request(path, { ...options, method: "POST", content });
  }

  /** Run requests one at a time: an undo never overtakes its action, and no response is older than the previous one. */
  inOrder(work) {
    const next = this.#last.then(work);
    this.#last = next.catch(() => {});
    return next;
  }

  async #request(path, { method, content, window = this.#window, keepalive = false }) {
    const headers = { Accept: "application/json", "X-Review-Window": window };
    if (this.#csrf) headers["X-CSRF-Token"] = this.#csrf;
    if (content !== undefined) headers["Content-Type"] = "application/json";
    let response;
    try {
      response = await fetch(`${ADDRESS}${path}`, { method, headers, keepalive, body: content && JSON.stringify(content) });
    } catch {
      throw new ApiError(0, "Server unreachable.");
    }
    if (response.status === 204) return null;
    const body = await response.json().catch(() => null);
    if (response.ok && body) return body;
    throw new ApiError(response.status, body?.error?.message ?? `Server error ${response.status}.`);
  }
}
