// Times and actions as text.

const ACTION_NAMES = {
  approve: "approved", skip: "skipped", archive: "archived", group: "grouped", merge: "merged", split: "split",
  move_cut: "recut",
};

export function clock(seconds) {
  const whole = Math.floor(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] ? parts : parts.slice(1);
  return shown.map((each, place) => (place ? String(each).padStart(2, "0") : String(each))).join(":");
}

export function actionName(kind) {
  return ACTION_NAMES[kind] ?? kind;
}

export function clipsText({ clips }) {
  return clips.length === 1 ? `clip ${clips[0]}` : clips.length === 2 ? `clips ${clips[0]} and ${clips[1]}` : `${clips.length} clips`;
}

/** Title whose lines break neither inside a score or an over nor before a separator, as on the other pages. */
export function unbroken(title) {
  return title.replace(/(?<=\d)–(?=\d)/g, "\u2060–\u2060").replace(" ov ", "\u00a0ov ").replaceAll(" · ", "\u00a0· ");
}

export function secondsLeft(until, now) {
  return Math.max(0, Math.ceil((Date.parse(until) - now) / 1000));
}
