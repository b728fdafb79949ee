// What this window can still take back. It is remembered over a reload.

import { did, secondsLeft } from "./review_words.js";

const KEPT = "review.undo";
const MOST = 50;

export class Undoing {
  #button;
  #label;
  #done;

  constructor(button) {
    this.#button = button;
    this.#label = button.querySelector("[data-label]");
    this.#done = JSON.parse(recall(KEPT) ?? "[]");
  }

  add({ id, kind, settles_at: until }) {
    this.#done.push({ id, kind, until });
    this.#done = this.#done.slice(-MOST);
    this.#keep();
  }

  remove(id) {
    this.#done = this.#done.filter((each) => each.id !== id);
    this.#keep();
  }

  /** The last action whose time has not run out; null where there is none. */
  last(now) {
    return this.#done.findLast((each) => Date.parse(each.until) > now) ?? null;
  }

  tick(now, waiting) {
    const last = this.last(now);
    this.#button.disabled = !last && !waiting;
    const words = last ? `Undo ${did(last.kind)} · ${secondsLeft(last.until, now)} s` : "Undo";
    if (this.#label.textContent !== words) this.#label.textContent = words;
  }

  #keep() {
    remember(KEPT, JSON.stringify(this.#done));
  }
}

/** What this tab remembers over a reload. Some browsers are told to remember nothing. */
export function recall(name) {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
}

export function remember(name, value) {
  try {
    sessionStorage.setItem(name, value);
  } catch {
    // Then a reload forgets it.
  }
}
