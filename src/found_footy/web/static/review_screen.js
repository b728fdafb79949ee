// The parts of the page around the stage: where one is, what can be done, what is said.

import { clock, secondsLeft } from "./review_words.js";

const TOAST_MS = 6000;

export const root = document.getElementById("review");
export const find = (name) => root.querySelector(`[data-${name}]`);
export const deeds = new Map([...root.querySelectorAll("[data-deed]")].map((button) => [button.dataset.deed, button]));

export function showPlace(shown, source, rate) {
  find("title").textContent = (shown && source?.title) ?? "Review";
  find("place").textContent = shown
    ? `${shown.id > 0 ? `clip ${shown.id} · ` : ""}${clock(shown.first / rate)}–${clock(shown.end / rate)}`
    : "";
}

/** `waiting` clips there are for everybody, and none of them is ours. */
function nothingToSee(sending, waiting) {
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
  find("veil-words").textContent = gone ?? nothingToSee(sending, waiting);
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
  deeds.get("play").querySelector("[data-label]").textContent = playing ? "Pause" : "Play";
}

/** What to say of a selection that one action cannot name; nothing of others. */
export function tooMany(number) {
  const most = Number(root.dataset.most);
  return number > most ? `${number} clips selected; at most ${most} at once.` : "";
}

export function showSelected(number) {
  find("selected").hidden = number < 2;
  const together = `${number} clips selected: approve, skip or archive them together, or press Esc.`;
  find("selected").textContent = tooMany(number) || together;
}

/** Which buttons can be pressed for the clip on the screen. What is still on its way has no number, and waits. */
export function allow(shown, before, after, selected) {
  const certain = shown !== null && shown.id > 0;
  const one = certain && selected < 2;
  const allowed = {
    approve: certain, skip: certain, archive: certain, split: one, "merge-previous": one && before?.id > 0,
    "merge-next": one && after?.id > 0, group: one && before?.id > 0, previous: true, next: true,
    back: shown, forward: shown, play: shown, same: certain, different: certain,
  };
  for (const [name, may] of Object.entries(allowed)) deeds.get(name).disabled = !may;
}

/** How long things can still be undone, and what is special about the clip on the screen. */
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

export function say(words, bad = false) {
  toast.hidden = false;
  toast.toggleAttribute("data-bad", bad);
  toast.querySelector("[data-voice]").textContent = words;
  clearTimeout(fading);
  fading = setTimeout(() => (toast.hidden = true), bad ? 2 * TOAST_MS : TOAST_MS);
}

document.querySelector("[data-toast-close]").addEventListener("click", () => (toast.hidden = true));
