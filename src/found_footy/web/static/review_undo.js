// Actions of this window that can be undone; kept in session storage.

import { actionName, secondsLeft } from "./review_format.js";

const STORAGE_KEY = "review.undo";
const MAX_ENTRIES = 50;

export class UndoHistory {
  #button;
  #label;
  #done;

  constructor(button) {
    this.#button = button;
    this.#label = button.querySelector("[data-label]");
    this.#done = JSON.parse(recall(STORAGE_KEY) ?? "[]");
  }

  add({ id, kind, settles_at: until }) {
    this.#done.push({ id, kind, until });
    this.#done = this.#done.slice(-MAX_ENTRIES);
    this.#save();
  }

  remove(id) {
    this.#done = this.#done.filter((each) => each.id !== id);
    this.#save();
  }

  /** Last action that can still be undone, or null. */
  last(now) {
    return this.#done.findLast((each) => Date.parse(each.until) > now) ?? null;
  }

  tick(now, waiting) {
    const last = this.last(now);
    this.#button.disabled = !last && !waiting;
    const label = last ? `Undo ${actionName(last.kind)} · ${secondsLeft(last.until, now)} s` : "Undo";
    if (this.#label.textContent !== label) this.#label.textContent = label;
  }

  #save() {
    remember(STORAGE_KEY, JSON.stringify(this.#done));
  }
}

/** Session storage of this tab; null if the browser forbids it. */
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
    // Session storage is disabled.
  }
}
