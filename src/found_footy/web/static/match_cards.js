// Cards that are drawn anew when there is news of their match: only what changed changes.

import { localTimes } from "./footy.js";

const PAUSE = 500; // between two requests for the same match
const LONGEST_RETRY = 30_000;

const asked = new Map(); // match → { at, timer, running, again, failures }

export function cardOf(match) {
  return document.getElementById(`match-${match}`);
}

// Bursts become one request; what comes while one is under way becomes one more.
export function refresh(match, changed) {
  const state = asked.get(match) ?? { at: -PAUSE, timer: null, running: false, again: false, failures: 0 };
  asked.set(match, state);
  if (state.running) state.again = true;
  else if (state.timer === null) schedule(match, state, changed, Math.max(50, state.at + PAUSE - performance.now()));
}

function schedule(match, state, changed, wait) {
  state.timer = setTimeout(async () => {
    Object.assign(state, { timer: null, running: true, again: false, at: performance.now() });
    const done = await load(match, changed);
    state.running = false;
    state.failures = done ? 0 : state.failures + 1;
    if (!done) schedule(match, state, changed, Math.min(LONGEST_RETRY, 1000 * 2 ** state.failures));
    else if (state.again) schedule(match, state, changed, PAUSE);
  }, wait);
}

async function load(match, changed) {
  try {
    const answer = await fetch(`/fragments/match/${match}`);
    if (answer.ok) swap(match, await answer.text(), changed);
    return answer.ok || answer.status < 500;
  } catch {
    return false; // no connection: tried again
  }
}

export function swap(match, html, changed = () => {}) {
  const old = cardOf(match);
  const fresh = parsed(html).querySelector(".match");
  if (!old || !fresh) return;
  localTimes(fresh);
  const news = differences(old, fresh);
  if (news.same) {
    if (fresh.dataset.polled) old.dataset.polled = fresh.dataset.polled;
    return;
  }
  const focus = pathOf(old);
  // Pictures that stay are the same elements: they do not blink.
  for (const [now, before] of news.kept) now.replaceWith(before);
  for (const each of news.fresh) each.classList.add("fresh");
  old.replaceWith(fresh);
  if (focus) (fresh.querySelector(focus) ?? asFocus(fresh)).focus({ preventScroll: true });
  changed(fresh, news);
}

function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html");
}

function differences(old, now) {
  const before = new Map([...old.querySelectorAll("[data-goal]")].map((each) => [each.dataset.goal, each]));
  const news = { same: plain(old) === plain(now), kept: [], fresh: [], goals: [], withdrawn: [] };
  for (const goal of now.querySelectorAll("[data-goal]")) {
    const known = before.get(goal.dataset.goal);
    const [shot, picture] = [goal, known].map((each) => each?.querySelector(".shot"));
    if (picture && plain(shot) === plain(picture)) news.kept.push([shot, picture]);
    if (!known || word(goal) !== word(known)) news.fresh.push(goal);
    if (!known && !isWithdrawn(goal)) news.goals.push(goal);
    if (known && isWithdrawn(goal) && !isWithdrawn(known)) news.withdrawn.push(goal);
  }
  const scores = old.querySelectorAll(".score b");
  now.querySelectorAll(".score b").forEach((each, index) => {
    if (scores[index]?.textContent !== each.textContent) news.fresh.push(each);
  });
  return news;
}

// What the server said, without what scripts have added since.
function plain(element) {
  const copy = element.cloneNode(true);
  copy.removeAttribute("data-polled");
  copy.removeAttribute("data-is-stale");
  for (const each of copy.querySelectorAll("[data-stale]")) each.remove();
  copy.removeAttribute("tabindex");
  for (const each of copy.querySelectorAll(".fresh, .gone")) each.classList.remove("fresh", "gone");
  for (const each of copy.querySelectorAll('[class=""]')) each.removeAttribute("class");
  return copy.outerHTML;
}

// That a search goes on is no news to look up for; what came of it is.
function word(goal) {
  const { dataset, textContent } = goal.querySelector(".chip");
  return dataset.state === "complete" ? textContent : dataset.state;
}

function isWithdrawn(goal) {
  return goal.querySelector('.chip[data-state="withdrawn"]') !== null;
}

// Where the focus is inside of a card, in a way that also finds it in the next one.
function pathOf(card) {
  const at = document.activeElement;
  if (!card.contains(at)) return null;
  if (at === card) return ":scope";
  const goal = at.closest("[data-goal]");
  const kind = at.matches(".shot") ? "a.shot" : at.matches("button") ? "button" : "p a";
  return goal ? `[data-goal="${CSS.escape(goal.dataset.goal)}"] ${kind}` : kind;
}

export function asFocus(card) {
  card.tabIndex = -1;
  return card;
}

// The whole list again, for matches that came or went: each card that is still there is swapped like any other.
export async function reload(changed) {
  const answer = await fetch(location.href);
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  const page = parsed(await answer.text());
  const old = document.getElementById("matches");
  const now = page.getElementById("matches");
  if (now?.dataset.day !== old.dataset.day) return location.reload(); // midnight, or another page altogether
  const order = (root) => [...root.querySelectorAll("[data-fixture]")].map((each) => each.dataset.fixture).join();
  Object.assign(old.dataset, now.dataset);
  if (order(old) === order(now) && order(now)) {
    for (const each of now.querySelectorAll("[data-fixture]")) swap(each.dataset.fixture, each.outerHTML, changed);
  } else {
    const focused = document.activeElement.closest("[data-fixture]")?.dataset.fixture;
    localTimes(now);
    old.replaceChildren(...now.childNodes);
    if (focused && cardOf(focused)) asFocus(cardOf(focused)).focus({ preventScroll: true });
  }
  for (const part of [".days", ".filters"]) document.querySelector(part)?.replaceWith(page.querySelector(part));
}
