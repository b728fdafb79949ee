// Actions of the reviewer, applied optimistically and reverted with the server's message if refused.

import { ApiError } from "./review_api.js";
import { copyToCompare } from "./review_sidebar.js";
import { api, board, clip, state, goToNext, goTo, now, show, stage, tick, undoHistory } from "./review_state.js";
import { applyResult, onChange, CLAIM_COUNT, topUp } from "./review_updates.js";
import { root, say, tooMany } from "./review_screen.js";
import { actionName } from "./review_format.js";

const undoMs = Number(root.dataset.undoSeconds) * 1000;

function act(action) {
  const from = clip();
  const frame = stage.shown;
  const ticket = board.act(action, new Date(now() + undoMs).toISOString());
  state.sending += 1;
  goToNext(from);
  api.inOrder(() => api.post("/actions", { ...action, most: CLAIM_COUNT })).then(
    (answer) => {
      state.sending -= 1;
      undoHistory.add(answer.action);
      const part = ticket.made.indexOf(state.current);
      board.confirm(ticket);
      if (part >= 0) state.current = answer.action.made[part];
      applyResult(answer);
    },
    (error) => {
      state.sending -= 1;
      board.revert(ticket);
      goTo(board.get(from.id) ?? ticket.before[0], frame);
      say(`Not ${actionName(action.kind)}: ${error.message}`, true);
      onChange(); // another reviewer must have changed it
      topUp();
    },
  );
}

export function decide(kind) {
  const shown = clip();
  if (!shown) return;
  const several = [...state.selection].filter((id) => board.get(id));
  if (tooMany(several.length)) return say(tooMany(several.length), true);
  act({ kind, clips: several.length > 1 ? several : [shown.id] });
}

export function pair(kind, other, where) {
  const shown = clip();
  if (!shown) return;
  if (!other) return say(`There is no clip ${where} this one.`, true);
  act({ kind, clips: [shown.id], with: other.id });
}

export function split() {
  if (stage.shown === 0) {
    return say("Go to the first frame of the second part: a clip cannot be split at its first frame.", true);
  }
  act({ kind: "split", clips: [state.current], at: clip().first + stage.shown });
}

/** Move the cut before or after the shown clip to the shown frame, which becomes the first of the later clip. */
export function moveCut(other, where) {
  if (!clip()) return;
  if (!other) return say(`There is no clip ${where} this one.`, true);
  if (stage.shown === 0) return say("Go to the frame that the cut should move to: it is not at this clip's first frame.", true);
  act({ kind: "move_cut", clips: [state.current], with: other.id, at: clip().first + stage.shown });
}

export async function undo() {
  state.sending += 1;
  await api.inOrder(revert).finally(() => {
    state.sending -= 1;
    tick();
  });
}

async function revert() {
  const last = undoHistory.last(now());
  if (!last) return say("Nothing to undo.");
  try {
    const answer = await api.post("/undo", { action: last.id, most: CLAIM_COUNT });
    undoHistory.remove(last.id);
    applyResult(answer);
    const back = board.get(answer.action.clips[0]);
    if (back) goTo(back);
    say(`Undone: ${actionName(answer.action.kind)}.`);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // Keep the entry if the server was unreachable; any other refusal is final.
    if (error.status) undoHistory.remove(last.id);
    say(`Not undone: ${error.message}`, true);
  }
}

export async function verdict(same) {
  const shown = clip();
  const copy = shown && copyToCompare(board.copies.get(shown.id) ?? []);
  if (!copy) return say("No likely copy shown.");
  const before = { same: copy.same, said_by: copy.said_by };
  Object.assign(copy, { same, said_by: "you" });
  show(stage.frame);
  try {
    await api.inOrder(() => api.post("/verdicts", { one: shown.id, other: copy.clip.id, same }));
    say(same ? `Clips ${shown.id} and ${copy.clip.id} marked as duplicates.` : "Marked as different.");
  } catch (error) {
    Object.assign(copy, before);
    say(`Not saved: ${error.message}`, true);
    show(stage.frame);
  }
}
