// What is on the screen of this window, and how it is drawn. Everything else changes it through here.

import { Api, windowName } from "./review_api.js";
import { showCopy, showFacts } from "./review_beside.js";
import { Board } from "./review_board.js";
import { allow, deeds, find, root, showFrame, showPlace, showSelected, showTimes, showVeil } from "./review_screen.js";
import { Stage } from "./review_stage.js";
import { Strip } from "./review_strip.js";
import { Undoing } from "./review_undo.js";

export const AHEAD = 4; // the clip on the screen, and those that are loaded before they are wanted

export const here = windowName();
export const api = new Api(root.dataset.csrf, here);
export const board = new Board();
export const undoing = new Undoing(deeds.get("undo"));
export const stage = new Stage(find("stage"), find("timeline"), showFrame);

export const desk = {
  current: null, // the id of the clip on the screen
  finished: true, // whether there is nothing to review on the screen
  selection: new Set(),
  sending: 0, // actions on their way
  waiting: 0, // clips that wait for review, also with others
  ahead: 0, // milliseconds by which the server's clock goes before ours
  choose: () => {}, // what happens with a clip that is clicked in the strip
};

export const strip = new Strip(find("strip"), board, (chosen, extend) => desk.choose(chosen, extend));

export const now = () => Date.now() + desk.ahead;

/** The clip that the page is about; null where nothing is known of it any more. */
export const clip = () => (desk.current === null ? null : (board.get(desk.current) ?? null));

/** The one on the screen; null where all is reviewed. */
export const onScreen = () => (desk.finished ? null : clip());

export function goTo(chosen, frame = 0) {
  desk.current = chosen.id;
  desk.finished = false;
  if (!desk.selection.has(chosen.id)) desk.selection = new Set();
  show(frame);
}

/** The next of the queue; where it is empty, what stands on the screen stays in the strip only. */
export function goOn(from) {
  const next = board.following(from);
  desk.selection = new Set();
  if (next) goTo(next);
  else {
    desk.finished = true;
    show();
  }
}

/** After the queue has changed: who waited for a clip gets one, others stay where they are. */
export function stay() {
  if (desk.finished && board.queue.length) goOn(clip());
  else show(stage.frame);
}

export function show(frame = 0) {
  const [known, shown, several] = [clip(), onScreen(), desk.selection.size];
  const source = known && board.sources.get(known.source);
  const rate = source?.rate ?? 25;
  stage.show(shown, frame);
  stage.prepare(board.queue.slice(0, AHEAD).map((id) => board.get(id)).filter(Boolean));
  strip.draw(known ? board.strip(known.source) : [], shown, desk.selection, rate);
  showPlace(shown, source, rate);
  showFacts(source, known);
  showCopy(shown ? (board.copies.get(shown.id) ?? []) : [], rate);
  showVeil(shown, desk.sending > 0, desk.waiting);
  showSelected(several);
  allow(shown, shown && board.before(shown), shown && board.after(shown), several);
  tick();
}

/** Also once a second. */
export function tick() {
  root.dataset.sending = desk.sending;
  undoing.tick(now(), desk.sending > 0);
  showTimes(onScreen(), now());
}
