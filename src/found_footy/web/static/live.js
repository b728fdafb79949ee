// News as they happen: one connection a page, that picks up where it left off.
//
//   import { connect } from "./live.js";
//   const live = connect({
//     query: "fixture=1&topic=goal.*&after=120",
//     onNews: (message) => {},   // { position, at, topic, fixture_id, event_id, payload }
//     onReset: () => {},         // something was missed for good: draw everything anew
//     onState: (state) => {},    // "live" or "away"
//   });
//   live.close();
//
// `after` is the position that the page was drawn at; without it the news begin with what comes next.

const ADDRESS = "/api/v1/stream";
const FIRST_PAUSE = 2_000;
const LONGEST_PAUSE = 60_000;
const REFUSALS = 3; // in a row, before the position itself is doubted
const HIDDEN_PAUSE = 60_000; // a tab that nobody looks at gives its connection back: browsers have six

let current = null;

export function connect(options) {
  current?.close();
  current = new Live(options);
  return current;
}

class Live {
  #query;
  #onNews;
  #onReset;
  #onState;
  #position;
  #doubted = false;
  #refusals = 0;
  #source = null;
  #timer = null;
  #hiding = null;
  #closed = false;
  #leaving = new AbortController();

  constructor({ query = "", onNews = () => {}, onReset = () => {}, onState = () => {} } = {}) {
    this.#query = new URLSearchParams(query);
    this.#position = this.#query.get("after") || null;
    this.#onNews = onNews;
    this.#onReset = onReset;
    this.#onState = onState;
    const { signal } = this.#leaving;
    document.addEventListener("visibilitychange", () => this.#seen(), { signal });
    window.addEventListener("online", () => this.#again(), { signal });
    window.addEventListener("pagehide", () => this.#pause(), { signal });
    window.addEventListener("pageshow", (event) => event.persisted && this.#again(), { signal });
    this.#open();
  }

  close() {
    this.#closed = true;
    this.#leaving.abort();
    clearTimeout(this.#hiding);
    this.#pause();
    if (current === this) current = null;
  }

  #open() {
    clearTimeout(this.#timer);
    if (this.#closed || this.#source) return;
    if (this.#position === null) this.#query.delete("after");
    else this.#query.set("after", this.#position);
    const source = new EventSource(`${ADDRESS}?${this.#query}`);
    this.#source = source;
    // The stream names its topics first, so that no list of them has to be kept here.
    source.addEventListener("hello", (event) => this.#greeted(source, event));
    source.addEventListener("reset", (event) => {
      this.#remember(event);
      this.#onReset();
    });
    source.onerror = () => this.#lost(source);
  }

  #greeted(source, event) {
    this.#remember(event);
    for (const topic of JSON.parse(event.data).topics) source.addEventListener(topic, this.#heard);
    this.#refusals = 0;
    this.#show("live");
    if (this.#doubted) {
      this.#doubted = false;
      this.#onReset();
    }
  }

  #heard = (event) => {
    this.#remember(event);
    this.#onNews(JSON.parse(event.data));
  };

  #remember(event) {
    if (event.lastEventId) this.#position = event.lastEventId;
  }

  #lost(source) {
    this.#show("away");
    // A connection that broke is opened again by the browser; one that was refused is not.
    if (source.readyState !== EventSource.CLOSED || source !== this.#source) return;
    this.#source = null;
    this.#refusals += 1;
    if (this.#refusals >= REFUSALS && this.#position !== null) {
      this.#position = null;
      this.#doubted = true;
    }
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (this.#refusals - 1));
    this.#timer = setTimeout(() => this.#open(), pause * (0.5 + Math.random() / 2));
  }

  #again() {
    if (this.#source?.readyState === EventSource.OPEN) return;
    this.#pause();
    this.#open();
  }

  #pause() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  #seen() {
    clearTimeout(this.#hiding);
    if (document.hidden) this.#hiding = setTimeout(() => this.#pause(), HIDDEN_PAUSE);
    else if (!this.#source) this.#open();
  }

  #show(state) {
    for (const each of document.querySelectorAll("[data-live]")) {
      each.hidden = false;
      each.dataset.state = state;
      const text = each.querySelector("[data-live-text]");
      const words = state === "live" ? "live" : "reconnecting…";
      if (text && text.textContent !== words) text.textContent = words;
    }
    this.#onState(state);
  }
}
