// State of this window, and its rendering.

import { Api, newWindowId } from "./review_api.js";
import { showCopy, showFacts } from "./review_sidebar.js";
import { Board } from "./review_board.js";
import { allow, buttons, find, root, showFrame, showPlace, showSelected, showTimes, showVeil } from "./review_screen.js";
import { Stage } from "./review_stage.js";
import { Strip } from "./review_strip.js";
import { UndoHistory } from "./review_undo.js";

export const PREFETCH = 4; // clips loaded ahead, including the shown one

export const windowId = newWindowId();
export const api = new Api(root.dataset.csrf, windowId);
export const board = new Board();
export const undoHistory = new UndoHistory(buttons.get("undo"));
export const stage = new Stage(find("stage"), find("timeline"), showFrame);

export const state = {
  current: null, // id of the current clip
  finished: true, // whether no clip is shown for review
  selection: new Set(),
  sending: 0, // actions in flight
  waiting: 0, // clips waiting for review, including those claimed by others
  ahead: 0, // server clock minus local clock, in milliseconds
  choose: () => {}, // handler for a click in the strip
};

export const strip = new Strip(find("strip"), board, (chosen, extend) => state.choose(chosen, extend));

export const now = () => Date.now() + state.ahead;

/** Current clip; null if it is no longer known. */
export const clip = () => (state.current === null ? null : (board.get(state.current) ?? null));

/** Clip shown for review; null if all are reviewed. */
export const shownClip = () => (state.finished ? null : clip());

export function goTo(chosen, frame = 0) {
  state.current = chosen.id;
  state.finished = false;
  if (!state.selection.has(chosen.id)) state.selection = new Set();
  show(frame);
}

/** Go to the next clip of the queue; if it is empty, the current clip remains only in the strip. */
export function goToNext(from) {
  const next = board.following(from);
  state.selection = new Set();
  if (next) goTo(next);
  else {
    state.finished = true;
    show();
  }
}

/** After a change of the queue: show the next clip if none is shown. */
export function refresh() {
  if (state.finished && board.queue.length) goToNext(clip());
  else show(stage.frame);
}

export function show(frame = 0) {
  const [known, shown, several] = [clip(), shownClip(), state.selection.size];
  const source = known && board.sources.get(known.source);
  const rate = source?.rate ?? 25;
  stage.show(shown, frame);
  stage.prepare(board.queue.slice(0, PREFETCH).map((id) => board.get(id)).filter(Boolean));
  strip.draw(known ? board.strip(known.source) : [], shown, state.selection, rate);
  showPlace(shown, source, rate);
  showFacts(source, known);
  showCopy(shown ? (board.copies.get(shown.id) ?? []) : [], rate);
  showVeil(shown, state.sending > 0, state.waiting);
  showSelected(several);
  allow(shown, shown && board.before(shown), shown && board.after(shown), several);
  tick();
}

/** Called once a second, too. */
export function tick() {
  root.dataset.sending = state.sending;
  undoHistory.tick(now(), state.sending > 0);
  showTimes(shownClip(), now());
}
