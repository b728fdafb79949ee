// The review page: keys and buttons, moving and selecting, coming and going.

import { api, board, clip, desk, goTo, here, onScreen, show, stage, strip, tick } from "./review_desk.js";
import { judge, pair, split, undo, verdict } from "./review_doing.js";
import { heard, lookAgain, newsCame, showFirst, topUp, troubled } from "./review_hearing.js";
import { listenForKeys } from "./review_keys.js";
import { deeds, find, root, say } from "./review_screen.js";
import { recall, remember } from "./review_undo.js";
import { connect } from "./live.js";

const IDLE_MS = 10_000;
const OLD_WINDOW = "review.window";
const OLD_PAUSE = 400;
const OLD_TRIES = 3;

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
  const to = desk.finished ? clip() : neighbour(direction);
  if (!to) return say(direction > 0 ? "This is the last clip." : "This is the first clip.");
  goTo(to);
  const inStrip = direction > 0 ? board.after(to) : board.before(to);
  const source = board.sources.get(to.source);
  const atEdge = direction > 0 ? to.end === source?.frames : to.first === 0;
  // The strip knows so many neighbours only: the rest comes when one gets there.
  if (!inStrip && !atEdge && to.id > 0) await api.inTurn(() => lookAgain(to)).catch(troubled);
}

function selectTo(chosen) {
  const shown = onScreen();
  if (!shown) return goTo(chosen);
  if (chosen.source !== shown.source) return;
  desk.selection = new Set(board.between(shown, chosen).filter((each) => each.id > 0).map((each) => each.id));
  show(stage.frame);
}

function extend(direction) {
  const shown = onScreen();
  const to = shown && board.edge(shown, desk.selection, direction);
  if (to) selectTo(to);
}

function clear() {
  desk.selection = new Set();
  show(stage.frame);
}

desk.choose = (chosen, extending) => (extending ? selectTo(chosen) : goTo(chosen));

let muted = true;
find("sound").addEventListener("click", (event) => {
  muted = !muted;
  stage.mute(muted);
  event.currentTarget.setAttribute("aria-pressed", String(!muted));
});

listenForKeys(deeds, {
  approve: () => judge("approve"),
  skip: () => judge("skip"),
  archive: () => judge("archive"),
  split,
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

// --- coming and going

async function begin() {
  showFirst();
  // What this window held before a reload is let go before we ask: then we get the same once more.
  // A tab that was copied knows the name of the other one, which is at work.
  const [loaded] = performance.getEntriesByType("navigation");
  const oldName = loaded?.type === "reload" ? recall(OLD_WINDOW) : null;
  remember(OLD_WINDOW, here);
  await topUp(oldName);
  for (let tries = 0; oldName && board.queue.length === 0 && tries < OLD_TRIES; tries += 1) {
    await new Promise((done) => setTimeout(done, OLD_PAUSE));
    await topUp(oldName);
  }
  const wanted = Number(root.dataset.clip);
  if (wanted) await open(wanted);
}

async function open(id) {
  try {
    const look = await api.inTurn(() => api.get(`/clips/${id}`));
    heard(look);
    goTo(board.get(id) ?? board.get(look.clips[0].id));
  } catch (error) {
    troubled(error);
  }
}

const release = () => api.post("/release", {}, { keepalive: true }).catch(() => {});
window.addEventListener("pagehide", release);
window.addEventListener("pageshow", (event) => event.persisted && topUp());
document.addEventListener("visibilitychange", () => !document.hidden && topUp());
setInterval(() => !document.hidden && topUp(), (Number(root.dataset.claimSeconds) * 1000) / 3);
setInterval(() => !document.hidden && board.queue.length === 0 && topUp(), IDLE_MS); // others leave without a word
setInterval(tick, 1000);

const query = new URLSearchParams({ topic: "library.clip" });
if (root.dataset.after) query.set("after", root.dataset.after);
connect({ query: query.toString(), onNews: newsCame, onReset: () => newsCame() });
deeds.get("undo").disabled = true;
begin();
