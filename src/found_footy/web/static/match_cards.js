// Match cards: refreshed after changes, replacing only what differs.

import { localTimes } from "./footy.js";

const MIN_INTERVAL_MS = 500; // between two requests for the same match
const MAX_BACKOFF_MS = 30_000;

const requests = new Map(); // match → { at, timer, running, pending, failures }

export function cardOf(match) {
  return document.getElementById(`match-${match}`);
}

// Coalesce bursts into one request, and changes during a request into one more.
export function refresh(match, changed) {
  const state = requests.get(match) ?? { at: -MIN_INTERVAL_MS, timer: null, running: false, pending: false, failures: 0 };
  requests.set(match, state);
  if (state.running) state.pending = true;
  else if (state.timer === null) schedule(match, state, changed, Math.max(50, state.at + MIN_INTERVAL_MS - performance.now()));
}

function schedule(match, state, changed, wait) {
  state.timer = setTimeout(async () => {
    Object.assign(state, { timer: null, running: true, pending: false, at: performance.now() });
    const done = await load(match, changed);
    state.running = false;
    state.failures = done ? 0 : state.failures + 1;
    if (!done) schedule(match, state, changed, Math.min(MAX_BACKOFF_MS, 1000 * 2 ** state.failures));
    else if (state.pending) schedule(match, state, changed, MIN_INTERVAL_MS);
  }, wait);
}

async function load(match, changed) {
  try {
    const response = await fetch(`/fragments/match/${match}`);
    if (response.ok) swap(match, await response.text(), changed);
    return response.ok || response.status < 500;
  } catch {
    return false; // no connection: retried
  }
}

export function swap(match, html, changed = () => {}) {
  const old = cardOf(match);
  const fresh = parsed(html).querySelector(".match");
  if (!old || !fresh) return;
  localTimes(fresh);
  const changes = differences(old, fresh);
  if (changes.same) {
    if (fresh.dataset.polled) old.dataset.polled = fresh.dataset.polled;
    return;
  }
  const focus = pathOf(old);
  // Keep unchanged images as elements, so that they do not flicker.
  for (const [now, before] of changes.kept) now.replaceWith(before);
  for (const each of changes.fresh) each.classList.add("fresh");
  old.replaceWith(fresh);
  if (focus) (fresh.querySelector(focus) ?? focusable(fresh)).focus({ preventScroll: true });
  changed(fresh, changes);
}

function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html");
}

function differences(old, now) {
  const before = new Map([...old.querySelectorAll("[data-goal]")].map((each) => [each.dataset.goal, each]));
  const changes = { same: serverHtml(old) === serverHtml(now), kept: [], fresh: [], goals: [], withdrawn: [] };
  for (const goal of now.querySelectorAll("[data-goal]")) {
    const previous = before.get(goal.dataset.goal);
    const [shot, picture] = [goal, previous].map((each) => each?.querySelector(".shot"));
    if (picture && serverHtml(shot) === serverHtml(picture)) changes.kept.push([shot, picture]);
    if (!previous || statusText(goal) !== statusText(previous)) changes.fresh.push(goal);
    if (!previous && !isWithdrawn(goal)) changes.goals.push(goal);
    if (previous && isWithdrawn(goal) && !isWithdrawn(previous)) changes.withdrawn.push(goal);
  }
  const scores = old.querySelectorAll(".score b");
  now.querySelectorAll(".score b").forEach((each, index) => {
    if (scores[index]?.textContent !== each.textContent) changes.fresh.push(each);
  });
  return changes;
}

// HTML as sent by the server, without additions by scripts.
function serverHtml(element) {
  const copy = element.cloneNode(true);
  copy.removeAttribute("data-polled");
  copy.removeAttribute("data-is-stale");
  for (const each of copy.querySelectorAll("[data-stale]")) each.remove();
  copy.removeAttribute("tabindex");
  for (const each of copy.querySelectorAll(".fresh, .gone")) each.classList.remove("fresh", "gone");
  for (const each of copy.querySelectorAll('[class=""]')) each.removeAttribute("class");
  return copy.outerHTML;
}

// Search progress is not highlighted; its result is.
function statusText(goal) {
  const { dataset, textContent } = goal.querySelector(".chip");
  return dataset.state === "complete" ? textContent : dataset.state;
}

function isWithdrawn(goal) {
  return goal.querySelector('.chip[data-state="withdrawn"]') !== null;
}

// Selector of the focused element that also matches in the new card.
function pathOf(card) {
  const at = document.activeElement;
  if (!card.contains(at)) return null;
  if (at === card) return ":scope";
  const goal = at.closest("[data-goal]");
  const kind = at.matches(".shot") ? "a.shot" : at.matches("button") ? "button" : "p a";
  return goal ? `[data-goal="${CSS.escape(goal.dataset.goal)}"] ${kind}` : kind;
}

export function focusable(card) {
  card.tabIndex = -1;
  return card;
}

// Reload the list after matches were added or removed; remaining cards are swapped individually.
export async function reload(changed) {
  const response = await fetch(location.href);
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const page = parsed(await response.text());
  const old = document.getElementById("matches");
  const now = page.getElementById("matches");
  if (now?.dataset.day !== old.dataset.day) return location.reload(); // midnight, or another page
  const order = (root) => [...root.querySelectorAll("[data-fixture]")].map((each) => each.dataset.fixture).join();
  Object.assign(old.dataset, now.dataset);
  if (order(old) === order(now) && order(now)) {
    for (const each of now.querySelectorAll("[data-fixture]")) swap(each.dataset.fixture, each.outerHTML, changed);
  } else {
    const focused = document.activeElement.closest("[data-fixture]")?.dataset.fixture;
    localTimes(now);
    old.replaceChildren(...now.childNodes);
    if (focused && cardOf(focused)) focusable(cardOf(focused)).focus({ preventScroll: true });
  }
  for (const part of [".days", ".filters"]) document.querySelector(part)?.replaceWith(page.querySelector(part));
}
