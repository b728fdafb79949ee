// Title, position, buttons and messages around the stage.

import { clock, secondsLeft, unbroken } from "./review_format.js";

const TOAST_MS = 6000;

export const root = document.getElementById("review");
export const find = (name) => root.querySelector(`[data-${name}]`);
export const buttons = new Map([...root.querySelectorAll("[data-shortcut]")].map((button) => [button.dataset.shortcut, button]));

export function showPlace(shown, source, rate) {
  find("title").textContent = shown && source?.title ? unbroken(source.title) : "Review";
  find("place").textContent = shown
    ? `${shown.id > 0 ? `clip ${shown.id} · ` : ""}${clock(shown.first / rate)}–${clock(shown.end / rate)}`
    : "";
}

/** Text without a clip. `waiting` is the number of clips to review that others have claimed. */
function emptyText(sending, waiting) {
  if (sending) return "Loading…";
  if (root.dataset.source) return "No clips of this source to review.";
  if (waiting) return "All clips to review are claimed by others. Released clips appear here automatically.";
  return "No clips to review. New clips appear here automatically.";
}

export function showVeil(shown, sending, waiting) {
  const veil = find("veil");
  veil.hidden = shown !== null && (shown.film !== null || shown.sheets.length > 0);
  find("stage").toggleAttribute("data-empty", shown === null);
  if (veil.hidden) return;
  const gone = shown && `This clip is ${shown.words} and cannot be played.`;
  find("veil-text").textContent = gone ?? emptyText(sending, waiting);
}

export function showFrame({ clip, frame, frames, hover, playing, rate }) {
  const at = hover ?? frame;
  const share = (number) => (frames > 1 ? `${(100 * number) / (frames - 1)}%` : "0");
  const [timeline, cursor] = [find("timeline"), find("cursor")];
  find("played").style.width = share(frame);
  cursor.hidden = hover === null;
  cursor.style.left = share(at);
  timeline.setAttribute("aria-valuemax", Math.max(0, frames - 1));
  timeline.setAttribute("aria-valuenow", frame);
  timeline.setAttribute("aria-valuetext", `frame ${frame + 1} of ${frames}`);
  find("where").textContent = clip
    ? `frame ${at + 1} of ${frames} · ${(at / rate).toFixed(2)} s · ${clip.first + at} in the source`
    : "–";
  buttons.get("play").querySelector("[data-label]").textContent = playing ? "Pause" : "Play";
}

/** Message for a selection that is too large; empty otherwise. */
export function tooMany(number) {
  const limit = Number(root.dataset.maxClips);
  return number > limit ? `${number} clips selected; at most ${limit} at once.` : "";
}

export function showSelected(number) {
  find("selected").hidden = number < 2;
  const together = `${number} clips selected: approve, skip or archive them together, or press Esc.`;
  find("selected").textContent = tooMany(number) || together;
}

/** Enable the buttons that apply to the shown clip. Unconfirmed clips have no id yet. */
export function allow(shown, before, after, selected) {
  const certain = shown !== null && shown.id > 0;
  const one = certain && selected < 2;
  const allowed = {
    approve: certain, skip: certain, archive: certain, split: one, "cut-before": one && before?.id > 0, "cut-after": one && after?.id > 0,
    "merge-previous": one && before?.id > 0, "merge-next": one && after?.id > 0, group: one && before?.id > 0, previous: true, next: true,
    back: shown, forward: shown, play: shown, same: certain, different: certain,
  };
  for (const [name, may] of Object.entries(allowed)) buttons.get(name).disabled = !may;
}

/** Update the undo countdowns and the state of the shown clip. */
export function showTimes(shown, now) {
  for (const each of root.querySelectorAll("[data-until]")) {
    if (each.dataset.until) each.textContent = `${secondsLeft(each.dataset.until, now)} s`;
  }
  const chip = find("chip");
  chip.hidden = !shown || (shown.state === "pending_review" && shown.claimed !== "other");
  if (chip.hidden) return;
  chip.dataset.state = shown.state;
  const left = shown.state === "edit_pending" && shown.settles_at ? secondsLeft(shown.settles_at, now) : null;
  const plain = shown.claimed === "other" ? "claimed by another reviewer" : shown.words;
  chip.textContent = left === null ? plain : left > 0 ? `final in ${left} s` : "being finalized";
}

const toast = document.querySelector("[data-toast]");
let fading = null;

export function say(message, bad = false) {
  toast.hidden = false;
  toast.toggleAttribute("data-bad", bad);
  toast.querySelector("[data-toast-text]").textContent = message;
  clearTimeout(fading);
  fading = setTimeout(() => (toast.hidden = true), bad ? 2 * TOAST_MS : TOAST_MS);
}

document.querySelector("[data-toast-close]").addEventListener("click", () => (toast.hidden = true));
