// Review page: keys and buttons, navigation and selection, claiming and releasing.

import { api, board, clip, state, goTo, windowId, shownClip, show, stage, strip, tick } from "./review_state.js";
import { decide, moveCut, pair, split, undo, verdict } from "./review_actions.js";
import { applySnapshot, reloadClip, onChange, showFirst, topUp, showError } from "./review_updates.js";
import { bindKeys } from "./review_keys.js";
import { buttons, find, root, say } from "./review_screen.js";
import { recall, remember } from "./review_undo.js";
import { connect } from "./live.js";

const IDLE_MS = 10_000;
const WINDOW_KEY = "review.window";
const RELEASE_RETRY_MS = 400;
const MAX_RELEASE_RETRIES = 3;

// --- moving and selecting

function neighbour(direction) {
  const shown = clip();
  if (!shown) return null;
  const beside = direction > 0 ? board.after(shown) : board.before(shown);
  if (beside) return beside;
  const queue = board.queue.map((id) => board.get(id)).filter((each) => each && each.source !== shown.source);
  return (direction > 0 ? queue[0] : queue.at(-1)) ?? null;
}

async function move(direction) {
  const to = state.finished ? clip() : neighbour(direction);
  if (!to) return say(direction > 0 ? "This is the last clip." : "This is the first clip.");
  goTo(to);
  const inStrip = direction > 0 ? board.after(to) : board.before(to);
  const source = board.sources.get(to.source);
  const atEdge = direction > 0 ? to.end === source?.frames : to.first === 0;
  // Only some neighbours are loaded; load more at the edge.
  if (!inStrip && !atEdge && to.id > 0) await api.inOrder(() => reloadClip(to)).catch(showError);
}

function selectTo(chosen) {
  const shown = shownClip();
  if (!shown) return goTo(chosen);
  if (chosen.source !== shown.source) return;
  state.selection = new Set(board.between(shown, chosen).filter((each) => each.id > 0).map((each) => each.id));
  show(stage.frame);
}

function extend(direction) {
  const shown = shownClip();
  const to = shown && board.edge(shown, state.selection, direction);
  if (to) selectTo(to);
}

function clear() {
  state.selection = new Set();
  show(stage.frame);
}

state.choose = (chosen, extending) => (extending ? selectTo(chosen) : goTo(chosen));

let muted = true;
find("sound").addEventListener("click", (event) => {
  muted = !muted;
  stage.mute(muted);
  event.currentTarget.setAttribute("aria-pressed", String(!muted));
});

bindKeys(buttons, {
  approve: () => decide("approve"),
  skip: () => decide("skip"),
  archive: () => decide("archive"),
  split,
  "cut-before": () => moveCut(board.before(clip()), "before"),
  "cut-after": () => moveCut(board.after(clip()), "after"),
  "merge-previous": () => pair("merge", board.before(clip()), "before"),
  "merge-next": () => pair("merge", board.after(clip()), "after"),
  group: () => pair("group", board.before(clip()), "before"),
  previous: () => move(-1),
  next: () => move(1),
  back: (event) => stage.step(event?.shiftKey ? -10 : -1),
  forward: (event) => stage.step(event?.shiftKey ? 10 : 1),
  play: () => stage.toggle(),
  same: () => verdict(true),
  different: () => verdict(false),
  undo,
}, { strip, move, extend, clear, focusTile: () => clip() && strip.focus(clip()) });

// --- claiming and releasing

async function start() {
  showFirst();
  // After a reload, release the claims of the previous window id first, so that the same clips are claimed again.
  // Not after any other navigation: a duplicated tab has the id of a window that is still in use.
  const [loaded] = performance.getEntriesByType("navigation");
  const oldName = loaded?.type === "reload" ? recall(WINDOW_KEY) : null;
  remember(WINDOW_KEY, windowId);
  await topUp(oldName);
  for (let tries = 0; oldName && board.queue.length === 0 && tries < MAX_RELEASE_RETRIES; tries += 1) {
    await new Promise((done) => setTimeout(done, RELEASE_RETRY_MS));
    await topUp(oldName);
  }
  const wanted = Number(root.dataset.clip);
  if (wanted) await open(wanted);
}

async function open(id) {
  try {
    const snapshot = await api.inOrder(() => api.get(`/clips/${id}`));
    applySnapshot(snapshot);
    goTo(board.get(id) ?? board.get(snapshot.clips[0].id));
  } catch (error) {
    showError(error);
  }
}

const release = () => api.post("/release", {}, { keepalive: true }).catch(() => {});
window.addEventListener("pagehide", release);
window.addEventListener("pageshow", (event) => event.persisted && topUp());
document.addEventListener("visibilitychange", () => !document.hidden && topUp());
setInterval(() => !document.hidden && topUp(), (Number(root.dataset.claimSeconds) * 1000) / 3);
setInterval(() => !document.hidden && board.queue.length === 0 && topUp(), IDLE_MS); // other windows may release clips without a message
setInterval(tick, 1000);

const query = new URLSearchParams({ topic: "library.clip" });
if (root.dataset.after) query.set("after", root.dataset.after);
connect({ query: query.toString(), onMessage: onChange, onReset: () => onChange() });
buttons.get("undo").disabled = true;
start();
