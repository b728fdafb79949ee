// Sidebar: facts, likely copy, counts and recent actions.

import { paint } from "./review_sheets.js";
import { clipsText, clock, actionName } from "./review_format.js";

const find = (name) => document.querySelector(`#review [data-${name}]`);

export function showCounts(counts) {
  for (const group of document.querySelectorAll("#review [data-states]")) {
    const number = group.dataset.states.split(" ").reduce((sum, state) => sum + (counts[state] ?? 0), 0);
    group.querySelector("dd").textContent = number;
    group.hidden = number === 0 && group.previousElementSibling !== null;
  }
}

export function showFacts(source, clip) {
  const card = find("facts-card");
  card.hidden = !source;
  if (!source || card.dataset.of === `${source.id} ${clip?.id}`) return;
  card.dataset.of = `${source.id} ${clip?.id}`;
  find("facts").replaceChildren(
    ...source.facts.flatMap(({ name, value }) => {
      const [term, definition] = [document.createElement("dt"), document.createElement("dd")];
      [term.textContent, definition.textContent] = [name, value];
      return [term, definition];
    }),
  );
  const links = [["Source", `/library/sources/${source.id}`]];
  if (clip?.id > 0) links.push(["This clip", `/library/clips/${clip.id}`]);
  if (source.event_id) links.push(["The goal", `/g/${encodeURIComponent(source.event_id)}`]);
  find("links").replaceChildren(
    ...links.flatMap(([label, address], index) => {
      const link = document.createElement("a");
      [link.textContent, link.href] = [label, address];
      return index ? [" · ", link] : [link];
    }),
  );
}

/** First copy without a verdict, else the first one. */
export function copyToCompare(copies) {
  return copies.find((copy) => copy.same === null) ?? copies[0] ?? null;
}

export function showCopy(copies, rate) {
  const copy = copyToCompare(copies);
  find("copies").hidden = !copy;
  const place = find("copy");
  if (!copy) return place.replaceChildren();
  const name = `${copy.clip.id} ${copy.same} ${copies.length}`;
  if (place.dataset.of === name) return;
  place.dataset.of = name;
  const canvas = document.createElement("canvas");
  canvas.className = "copy-still";
  canvas.setAttribute("aria-hidden", "true");
  const frames = copy.clip.end - copy.clip.first;
  canvas.addEventListener("pointermove", (event) => {
    const { left, width } = canvas.getBoundingClientRect();
    paint(canvas, copy.clip, Math.floor(Math.max(0, Math.min(0.999, (event.clientX - left) / width)) * frames));
  });
  paint(canvas, copy.clip, Math.floor(frames / 2));
  const words = document.createElement("p");
  words.className = "small";
  const compared = copies.filter((each) => each.same !== null).length;
  words.textContent = [
    `Clip ${copy.clip.id}, ${clock(copy.clip.first / rate)}, ${copy.clip.words}.`,
    copy.same === null ? "No verdict yet." : "",
    copy.same === true ? `Marked as a duplicate by ${copy.said_by ?? "a reviewer"}.` : "",
    copy.same === false ? `Marked as different by ${copy.said_by ?? "a reviewer"}.` : "",
    copies.length > 1 ? `${compared} of ${copies.length} compared.` : "",
  ].filter(Boolean).join(" ");
  place.replaceChildren(canvas, words);
}

export function showLog(actions) {
  const log = find("log");
  const known = new Set([...log.children].map((each) => each.dataset.action));
  const first = known.size === 0;
  find("log-empty").hidden = actions.length > 0;
  log.replaceChildren(...[...actions].reverse().map((action) => logged(action, !first && !known.has(String(action.id)))));
}

function logged(action, isNew) {
  const entry = document.createElement("li");
  entry.dataset.action = action.id;
  entry.classList.toggle("fresh", isNew);
  entry.toggleAttribute("data-undone", action.undone_at !== null);
  const who = document.createElement("b");
  who.textContent = action.mine ? "You" : action.by;
  const words = document.createElement("span");
  words.textContent = ` ${actionName(action.kind)} ${clipsText(action)}`;
  const what = document.createElement(action.undone_at ? "s" : "span");
  what.append(who, words);
  const more = document.createElement("span");
  more.className = "muted";
  const at = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  more.textContent = `${action.undone_at ? "undone · " : ""}${at.format(new Date(action.at))}${action.title ? ` · ${action.title}` : ""}`;
  entry.append(what, more);
  return entry;
}
