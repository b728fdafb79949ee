// What a reviewer does. It shows at once; where the server refuses, it is taken back with its words.

import { Refused } from "./review_api.js";
import { copyToJudge } from "./review_beside.js";
import { api, board, clip, desk, goOn, goTo, now, show, stage, tick, undoing } from "./review_desk.js";
import { acted, newsCame, takes, topUp } from "./review_hearing.js";
import { root, say, tooMany } from "./review_screen.js";
import { did } from "./review_words.js";

const undoMs = Number(root.dataset.undoSeconds) * 1000;

function act(wish) {
  const from = clip();
  const frame = stage.shown;
  const ticket = board.act(wish, new Date(now() + undoMs).toISOString());
  desk.sending += 1;
  goOn(from);
  api.inTurn(() => api.post("/actions", { ...wish, most: takes })).then(
    (answer) => {
      desk.sending -= 1;
      undoing.add(answer.action);
      const part = ticket.made.indexOf(desk.current);
      board.letGo(ticket);
      if (part >= 0) desk.current = answer.action.made[part];
      acted(answer);
    },
    (error) => {
      desk.sending -= 1;
      board.takeBack(ticket);
      goTo(board.get(from.id) ?? ticket.before[0], frame);
      say(`Not ${did(wish.kind)}: ${error.message}`, true);
      newsCame(); // somebody else must have changed it
      topUp();
    },
  );
}

export function judge(kind) {
  const shown = clip();
  if (!shown) return;
  const several = [...desk.selection].filter((id) => board.get(id));
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
  act({ kind: "split", clips: [desk.current], at: clip().first + stage.shown });
}

export async function undo() {
  desk.sending += 1;
  await api.inTurn(takeBack).finally(() => {
    desk.sending -= 1;
    tick();
  });
}

async function takeBack() {
  const last = undoing.last(now());
  if (!last) return say("Nothing to undo.");
  try {
    const answer = await api.post("/undo", { action: last.id, most: takes });
    undoing.remove(last.id);
    acted(answer);
    const back = board.get(answer.action.clips[0]);
    if (back) goTo(back);
    say(`Undone: ${did(answer.action.kind)}.`);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    // A server that cannot be reached may be there again in a moment; whatever else it said will stay so.
    if (error.status) undoing.remove(last.id);
    say(`Not undone: ${error.message}`, true);
  }
}

export async function verdict(same) {
  const shown = clip();
  const copy = shown && copyToJudge(board.copies.get(shown.id) ?? []);
  if (!copy) return say("No likely copy shown.");
  const before = { same: copy.same, said_by: copy.said_by };
  Object.assign(copy, { same, said_by: "you" });
  show(stage.frame);
  try {
    await api.inTurn(() => api.post("/verdicts", { one: shown.id, other: copy.clip.id, same }));
    say(same ? `Clips ${shown.id} and ${copy.clip.id} marked as duplicates.` : "Marked as different.");
  } catch (error) {
    Object.assign(copy, before);
    say(`Not saved: ${error.message}`, true);
    show(stage.frame);
  }
}
