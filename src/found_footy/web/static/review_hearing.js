// What the server says: the clips that lie before us, and what others do.

import { Refused } from "./review_api.js";
import { showCounts, showLog } from "./review_beside.js";
import { AHEAD, api, board, clip, desk, goOn, goTo, show, stage, stay } from "./review_desk.js";
import { root, say } from "./review_screen.js";

const PERSON_PAUSE = 150; // news come in flocks
const STAGE_PAUSE = 1000; // and those of the stages come all day
const LATEST = 12;

const onlySource = root.dataset.source;
/** How many clips shall come with the answer to an action; those may be of any source. */
export const takes = onlySource ? 0 : AHEAD;

let latest = JSON.parse(root.dataset.latest).items;
const mine = new Set(); // actions, and undone ones
const nameOf = (action, undone) => `${action} ${Boolean(undone)}`;

function counted(counts) {
  desk.waiting = counts.pending_review ?? 0;
  showCounts(counts);
}

export function heard(look) {
  desk.ahead = Date.parse(look.now) - Date.now();
  board.merge(look);
  counted(look.counts);
}

/** The answer to an action or an undo brings the next clips along. */
export function acted({ action, look }) {
  mine.add(nameOf(action.id, action.undone_at));
  latest = [...latest.filter((each) => each.id !== action.id), action].sort((a, b) => a.id - b.id).slice(-LATEST);
  showLog(latest);
  heard(look);
  if (!takes) return topUp();
  board.takeQueue(look.queue);
  stay();
}

let asked = false;
/** The clips that lie before us: kept for another while, and filled up. `oldName` is what this window was called. */
export function topUp(oldName = null) {
  if (asked) return Promise.resolve();
  asked = true;
  return api.inTurn(async () => {
    asked = false;
    // The last request of the page before this one may have come after its farewell, and hold clips that nobody sees.
    if (oldName) await api.post("/release", {}, { window: oldName });
    const look = await api.get(`/queue?most=${AHEAD}${onlySource ? `&source=${onlySource}` : ""}`);
    heard(look);
    board.takeQueue(look.queue);
    board.forget(clip()?.source);
    stay();
  }).catch(troubled);
}

export function troubled(error) {
  if (!(error instanceof Refused)) throw error;
  const login = error.status === 401 ? " Load the page again to log in." : "";
  say(`${error.message}${login}`, true);
}

let news = [];
let waiting = null;
let due = Infinity;
/** Without a message: something was missed, or is not as we thought. */
export function newsCame(message = null) {
  news.push(message);
  const pause = message && !message.payload.by ? STAGE_PAUSE : PERSON_PAUSE;
  if (performance.now() + pause >= due) return;
  clearTimeout(waiting);
  due = performance.now() + pause;
  // When all that is on its way has been answered, we know which of it was our own doing.
  waiting = setTimeout(() => api.inTurn(listen).catch(troubled), pause);
}

async function listen() {
  const others = news.filter((each) => !each || !mine.has(nameOf(each.payload.action, each.payload.undone)));
  [news, due] = [[], Infinity];
  if (!others.length) return;
  if (board.queue.length < AHEAD) topUp();
  const answer = await api.get(`/actions?most=${LATEST}`);
  latest = answer.items;
  showLog(latest);
  counted(answer.counts);
  const known = clip();
  if (known?.id > 0 && others.some((each) => !each || each.payload.source === known.source)) await lookAgain(known);
}

export async function lookAgain(known) {
  heard(await api.get(`/clips/${known.id}`));
  if (desk.current !== known.id) return;
  if (board.get(known.id)) return show(stage.frame);
  board.queue = board.queue.filter((id) => id !== known.id);
  const instead = board.at(known.source, known.first);
  if (instead) goTo(instead);
  else goOn(null);
  say("This clip was split or merged by another reviewer.");
}

export function showFirst() {
  showLog(latest);
}
