// Live updates: one event stream per page, which resumes where it left off.
//
//   import { connect } from "./live.js";
//   const live = connect({
//     query: "fixture=1&topic=goal.*&after=120",
//     onMessage: (message) => {},  // { position, at, topic, fixture_id, event_id, payload }
//     onReset: () => {},         // messages have expired: reload everything
//     onState: (state) => {},    // "live" or "away"
//   });
//   live.close();
//
// `after` is the position at which the page was rendered; without it, the stream starts with the next message.

const ADDRESS = "/api/v1/stream";
const INITIAL_BACKOFF_MS = 2_000;
const MAX_BACKOFF_MS = 60_000;
const MAX_REFUSALS = 3; // in a row, before the position is dropped as invalid
const HIDDEN_TIMEOUT_MS = 60_000; // a hidden tab closes its connection: browsers allow six per host

let current = null;

export function connect(options) {
  current?.close();
  current = new Live(options);
  return current;
}

class Live {
  #query;
  #onMessage;
  #onReset;
  #onState;
  #position;
  #positionReset = false;
  #refusals = 0;
  #source = null;
  #timer = null;
  #hiddenTimer = null;
  #closed = false;
  #closing = new AbortController();

  constructor({ query = "", onMessage = () => {}, onReset = () => {}, onState = () => {} } = {}) {
    this.#query = new URLSearchParams(query);
    this.#position = this.#query.get("after") || null;
    this.#onMessage = onMessage;
    this.#onReset = onReset;
    this.#onState = onState;
    const { signal } = this.#closing;
    document.addEventListener("visibilitychange", () => this.#onVisibility(), { signal });
    window.addEventListener("online", () => this.#reconnect(), { signal });
    window.addEventListener("pagehide", () => this.#backoff(), { signal });
    window.addEventListener("pageshow", (event) => event.persisted && this.#reconnect(), { signal });
    this.#open();
  }

  close() {
    this.#closed = true;
    this.#closing.abort();
    clearTimeout(this.#hiddenTimer);
    this.#backoff();
    if (current === this) current = null;
  }

  #open() {
    clearTimeout(this.#timer);
    if (this.#closed || this.#source) return;
    if (this.#position === null) this.#query.delete("after");
    else this.#query.set("after", this.#position);
    const source = new EventSource(`${ADDRESS}?${this.#query}`);
    this.#source = source;
    // `hello` lists the topics that can follow.
    source.addEventListener("hello", (event) => this.#onHello(source, event));
    source.addEventListener("reset", (event) => {
      this.#savePosition(event);
      this.#onReset();
    });
    source.onerror = () => this.#onError(source);
  }

  #onHello(source, event) {
    this.#savePosition(event);
    for (const topic of JSON.parse(event.data).topics) source.addEventListener(topic, this.#receive);
    this.#refusals = 0;
    this.#show("live");
    if (this.#positionReset) {
      this.#positionReset = false;
      this.#onReset();
    }
  }

  #receive = (event) => {
    this.#savePosition(event);
    this.#onMessage(JSON.parse(event.data));
  };

  #savePosition(event) {
    if (event.lastEventId) this.#position = event.lastEventId;
  }

  #onError(source) {
    this.#show("away");
    // The browser reopens a broken connection, but not a refused one.
    if (source.readyState !== EventSource.CLOSED || source !== this.#source) return;
    this.#source = null;
    this.#refusals += 1;
    if (this.#refusals >= MAX_REFUSALS && this.#position !== null) {
      this.#position = null;
      this.#positionReset = true;
    }
    const backoff = Math.min(MAX_BACKOFF_MS, INITIAL_BACKOFF_MS * 2 ** (this.#refusals - 1));
    this.#timer = setTimeout(() => this.#open(), backoff * (0.5 + Math.random() / 2));
  }

  #reconnect() {
    if (this.#source?.readyState === EventSource.OPEN) return;
    this.#backoff();
    this.#open();
  }

  #backoff() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  #onVisibility() {
    clearTimeout(this.#hiddenTimer);
    if (document.hidden) this.#hiddenTimer = setTimeout(() => this.#backoff(), HIDDEN_TIMEOUT_MS);
    else if (!this.#source) this.#open();
  }

  #show(state) {
    for (const each of document.querySelectorAll("[data-live]")) {
      each.hidden = false;
      each.dataset.state = state;
      const text = each.querySelector("[data-live-text]");
      const label = state === "live" ? "live" : "reconnecting…";
      if (text && text.textContent !== label) text.textContent = label;
    }
    this.#onState(state);
  }
}
