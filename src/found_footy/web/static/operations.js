// Renews the page every few seconds while somebody looks at it.

import { localTimes } from "./footy.js";

const region = document.getElementById("operations");
const said = document.getElementById("verdict-said");
const live = document.querySelector("[data-live]");
const pause = Number(region.dataset.seconds) * 1000;
const WAIT_MS = 10_000;
let timer = 0;

function verdictOf(root) {
  return root.querySelector("#verdict").textContent;
}

// What a reader has opened or stands on stays so.
function replace(html) {
  const open = [...region.querySelectorAll("details[open]")];
  const focus = region.contains(document.activeElement) ? placeOf(document.activeElement) : null;
  const before = verdictOf(region);
  region.innerHTML = html;
  for (const old of open) reopen(old);
  if (focus) region.querySelector(focus)?.focus({ preventScroll: true });
  localTimes(region);
  const now = verdictOf(region);
  if (now !== before) {
    said.textContent = now;
    document.title = document.title.replace(before, now);
  }
}

function placeOf(element) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  if (element.matches("summary")) return `#${CSS.escape(element.parentElement.id)} > summary`;
  const href = element.getAttribute("href");
  return href ? `a[href="${CSS.escape(href)}"]` : null;
}

function reopen(old) {
  const fresh = document.getElementById(old.id);
  if (!fresh) return;
  fresh.setAttribute("open", "");
  const words = old.querySelector(".who");
  if (words) fresh.querySelector("summary").after(words); // until they are asked for anew
}

// --- who said what of a match: asked for when somebody opens it, and with each renewal while it is open

async function tellWords(details) {
  try {
    const answer = await fetch(details.dataset.words, { headers: { accept: "text/html" }, redirect: "manual" });
    if (!answer.ok || !details.isConnected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const words = page.querySelector(".who");
    localTimes(words);
    for (const each of [...details.children]) if (!each.matches("summary")) each.remove();
    details.append(words);
  } catch {
    // The link in its place leads to the same.
  }
}

// `toggle` does not bubble.
region.addEventListener("toggle", (event) => {
  if (event.target.matches("[data-words]") && event.target.open) tellWords(event.target);
}, { capture: true });

function show(state, text) {
  live.hidden = false;
  live.dataset.state = state;
  const words = live.querySelector("[data-live-text]");
  if (words.textContent !== text) words.textContent = text;
}

async function renew() {
  try {
    const answer = await fetch(region.dataset.fragment, {
      headers: { accept: "text/html" }, redirect: "manual", signal: AbortSignal.timeout(WAIT_MS),
    });
    if (answer.type === "opaqueredirect") return location.reload(); // the login has ended
    if (!answer.ok) throw new Error(answer.status);
    replace(await answer.text());
    show("live", "updates every 5 s");
  } catch {
    show("away", "connection lost, data may be outdated");
  }
  schedule();
}

function schedule() {
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(renew, pause);
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) clearTimeout(timer);
  else renew();
});
show("live", "updates every 5 s");
schedule();
