// What is known of a match grows old by itself: a page says so without a word from the server, and takes it back with
// the next news.
//
//   import { watchAges } from "./staleness.js";
//   const ages = watchAges(root);  // data-heard: where to ask; data-stale-after: seconds; data-now: the server's clock
//   ages.heard(element);           // there was news of it just now
//
// Whatever has `data-polled` (seconds since 1970) and `data-fixture`, and a `[data-stale]` in it, is watched.

const TICK = 1_000;
const WAIT_MS = 8_000;

export function watchAges(root) {
  const limit = Number(root.dataset.staleAfter);
  const pause = Math.min(15_000, Math.max(2_000, limit * 250)); // between two questions
  let ahead = root.dataset.now ? Number(root.dataset.now) - Date.now() / 1000 : null; // the server's clock before ours
  let next = 0;

  const now = () => Date.now() / 1000 + (ahead ?? 0);

  function tick() {
    let oldest = 0;
    for (const each of document.querySelectorAll("[data-polled]")) {
      const age = now() - Number(each.dataset.polled);
      oldest = Math.max(oldest, age);
      if (ahead !== null) show(each, age);
    }
    if (document.hidden || performance.now() < next) return;
    if (ahead === null ? document.querySelector("[data-polled]") : oldest > limit / 2) ask();
  }

  function show(element, age) {
    const words = element.querySelector("[data-stale]");
    if (!words) return;
    const stale = age > limit;
    element.toggleAttribute("data-is-stale", stale);
    words.hidden = !stale;
    const text = stale ? `stale · ${spell(age)}` : "";
    if (words.textContent !== text) words.textContent = text;
  }

  // One small answer for all matches of the day; before anything is called stale, somebody is asked.
  async function ask() {
    next = performance.now() + pause * (0.8 + 0.4 * Math.random());
    try {
      const answer = await fetch(root.dataset.heard, { redirect: "manual", signal: AbortSignal.timeout(WAIT_MS) });
      if (!answer.ok) return;
      const { now: theirs, heard } = await answer.json();
      ahead = theirs - Date.now() / 1000;
      for (const each of document.querySelectorAll("[data-polled]")) {
        const at = heard[each.dataset.fixture];
        if (at > Number(each.dataset.polled)) each.dataset.polled = String(at);
      }
    } catch {
      // No answer is no news: what stands there grows older.
    }
    if (ahead === null) ahead = 0; // then our own clock must do
    tick();
  }

  tick();
  setInterval(tick, TICK);
  document.addEventListener("visibilitychange", () => document.hidden || tick());
  return { heard: (element) => { element.dataset.polled = String(Math.round(now())); } };
}

// As in words.py.
export function spell(seconds) {
  const whole = Math.floor(seconds);
  if (whole < 120) return `${whole} s`;
  if (whole < 2 * 3600) return `${Math.floor(whole / 60)} min`;
  return whole < 48 * 3600 ? `${Math.floor(whole / 3600)} h` : `${Math.floor(whole / 86400)} days`;
}
