// Marks matches as stale when their data becomes too old, without a message from the server.
//
//   import { watchAges } from "./staleness.js";
//   const ages = watchAges(root);  // data-updates: URL; data-stale-after: seconds; data-now: server time
//   ages.update(element);          // its data was updated just now
//
// Watches elements with `data-polled` (seconds since 1970) and `data-fixture` that contain a `[data-stale]`.

const TICK_MS = 1_000;
const TIMEOUT_MS = 8_000;

export function watchAges(root) {
  const limit = Number(root.dataset.staleAfter);
  const intervalMs = Math.min(15_000, Math.max(2_000, limit * 250));
  let clockOffset = root.dataset.now ? Number(root.dataset.now) - Date.now() / 1000 : null; // server clock minus local clock
  let next = 0;

  const now = () => Date.now() / 1000 + (clockOffset ?? 0);

  function tick() {
    let oldest = 0;
    for (const each of document.querySelectorAll("[data-polled]")) {
      const age = now() - Number(each.dataset.polled);
      oldest = Math.max(oldest, age);
      if (clockOffset !== null) show(each, age);
    }
    if (document.hidden || performance.now() < next) return;
    if (clockOffset === null ? document.querySelector("[data-polled]") : oldest > limit / 2) load();
  }

  function show(element, age) {
    const label = element.querySelector("[data-stale]");
    if (!label) return;
    const stale = age > limit;
    element.toggleAttribute("data-is-stale", stale);
    label.hidden = !stale;
    const text = stale ? `stale · ${formatDuration(age)}` : "";
    if (label.textContent !== text) label.textContent = text;
  }

  // One small request for all matches of the day, made before any match becomes stale.
  async function load() {
    next = performance.now() + intervalMs * (0.8 + 0.4 * Math.random());
    try {
      const response = await fetch(root.dataset.updates, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (!response.ok) return;
      const { now: serverNow, updates } = await response.json();
      clockOffset = serverNow - Date.now() / 1000;
      for (const each of document.querySelectorAll("[data-polled]")) {
        const at = updates[each.dataset.fixture];
        if (at > Number(each.dataset.polled)) each.dataset.polled = String(at);
      }
    } catch {
      // Without a response, the shown ages keep growing.
    }
    if (clockOffset === null) clockOffset = 0; // fall back to the local clock
    tick();
  }

  tick();
  setInterval(tick, TICK_MS);
  document.addEventListener("visibilitychange", () => document.hidden || tick());
  return { update: (element) => { element.dataset.polled = String(Math.round(now())); } };
}

// As `format_duration` in text.py.
export function formatDuration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 100) return `${whole} s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 60) return `${minutes} min`;
  if (minutes >= 24 * 60) return `${Math.floor(minutes / (24 * 60))} d`;
  return minutes % 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${Math.floor(minutes / 60)} h`;
}
