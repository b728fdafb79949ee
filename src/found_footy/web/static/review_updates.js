// Updates from the server: claimed clips, and actions of other reviewers.

import { ApiError } from "./review_api.js";
import { showCounts, showLog } from "./review_sidebar.js";
import { PREFETCH, api, board, clip, state, goToNext, goTo, show, stage, refresh } from "./review_state.js";
import { root, say } from "./review_screen.js";

const REVIEWER_DELAY_MS = 150; // messages come in bursts
const STAGE_DELAY_MS = 1000; // messages of the pipeline stages are frequent
const MAX_ACTIONS = 12;

const onlySource = root.dataset.source;
/** Clips to claim with each action; 0 when reviewing one source, since those clips may be of any source. */
export const CLAIM_COUNT = onlySource ? 0 : PREFETCH;

let latest = JSON.parse(root.dataset.latest).items;
const mine = new Set(); // actions and undos of this window
const keyOf = (action, undone) => `${action} ${Boolean(undone)}`;

function applyCounts(counts) {
  state.waiting = counts.pending_review ?? 0;
  showCounts(counts);
}

export function applySnapshot(snapshot) {
  state.ahead = Date.parse(snapshot.now) - Date.now();
  board.merge(snapshot);
  applyCounts(snapshot.counts);
}

/** The response to an action or undo includes the next clips. */
export function applyResult({ action, look: snapshot }) {
  mine.add(keyOf(action.id, action.undone_at));
  latest = [...latest.filter((each) => each.id !== action.id), action].sort((a, b) => a.id - b.id).slice(-MAX_ACTIONS);
  showLog(latest);
  applySnapshot(snapshot);
  if (!CLAIM_COUNT) return topUp();
  board.takeQueue(snapshot.queue);
  refresh();
}

let requested = false;
/** Renew the claims and top up the queue. `oldName` is the previous id of this window. */
export function topUp(oldName = null) {
  if (requested) return Promise.resolve();
  requested = true;
  return api.inOrder(async () => {
    requested = false;
    // The previous page's last request may have arrived after its release.
    if (oldName) await api.post("/release", {}, { window: oldName });
    const snapshot = await api.get(`/queue?most=${PREFETCH}${onlySource ? `&source=${onlySource}` : ""}`);
    applySnapshot(snapshot);
    board.takeQueue(snapshot.queue);
    board.forget(clip()?.source);
    refresh();
  }).catch(showError);
}

export function showError(error) {
  if (!(error instanceof ApiError)) throw error;
  const login = error.status === 401 ? " Load the page again to log in." : "";
  say(`${error.message}${login}`, true);
}

let changes = [];
let waiting = null;
let due = Infinity;
/** `message` is null if messages were missed. */
export function onChange(message = null) {
  changes.push(message);
  const pause = message && !message.payload.by ? STAGE_DELAY_MS : REVIEWER_DELAY_MS;
  if (performance.now() + pause >= due) return;
  clearTimeout(waiting);
  due = performance.now() + pause;
  // Wait for actions in flight: their responses tell which messages are ours.
  waiting = setTimeout(() => api.inOrder(listen).catch(showError), pause);
}

async function listen() {
  const others = changes.filter((each) => !each || !mine.has(keyOf(each.payload.action, each.payload.undone)));
  [changes, due] = [[], Infinity];
  if (!others.length) return;
  if (board.queue.length < PREFETCH) topUp();
  const answer = await api.get(`/actions?most=${MAX_ACTIONS}`);
  latest = answer.items;
  showLog(latest);
  applyCounts(answer.counts);
  const known = clip();
  if (known?.id > 0 && others.some((each) => !each || each.payload.source === known.source)) await reloadClip(known);
}

export async function reloadClip(known) {
  applySnapshot(await api.get(`/clips/${known.id}`));
  if (state.current !== known.id) return;
  if (board.get(known.id)) return show(stage.frame);
  board.queue = board.queue.filter((id) => id !== known.id);
  const instead = board.at(known.source, known.first);
  if (instead) goTo(instead);
  else goToNext(null);
  say("This clip was split or merged by another reviewer.");
}

export function showFirst() {
  showLog(latest);
}
