// Refreshes the page every few seconds while it is visible.

import { localTimes } from "./footy.js";

const region = document.getElementById("operations");
const announcement = document.getElementById("announcement");
const live = document.querySelector("[data-live]");
const intervalMs = Number(region.dataset.seconds) * 1000;
const TIMEOUT_MS = 10_000;
let timer = 0;

function headlineOf(root) {
  return root.querySelector("#verdict").textContent;
}

// Keep opened details and focus.
function replace(html) {
  const open = [...region.querySelectorAll("details[open]")];
  const focus = region.contains(document.activeElement) ? selectorOf(document.activeElement) : null;
  const before = headlineOf(region);
  region.innerHTML = html;
  for (const old of open) reopen(old);
  if (focus) region.querySelector(focus)?.focus({ preventScroll: true });
  localTimes(region);
  const now = headlineOf(region);
  if (now !== before) {
    announcement.textContent = now;
    document.title = document.title.replace(before, now);
  }
}

function selectorOf(element) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  if (element.matches("summary")) return `#${CSS.escape(element.parentElement.id)} > summary`;
  const href = element.getAttribute("href");
  return href ? `a[href="${CSS.escape(href)}"]` : null;
}

function reopen(old) {
  const fresh = document.getElementById(old.id);
  if (!fresh) return;
  fresh.setAttribute("open", "");
  const content = old.querySelector(".provenance");
  if (content) fresh.querySelector("summary").after(content); // until it is loaded again
}

// --- provenance of a match: loaded when opened, and with each refresh while open

async function loadProvenance(details) {
  try {
    const response = await fetch(details.dataset.provenance, { headers: { accept: "text/html" }, redirect: "manual" });
    if (!response.ok || !details.isConnected) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const content = page.querySelector(".provenance");
    localTimes(content);
    for (const each of [...details.children]) if (!each.matches("summary")) each.remove();
    details.append(content);
  } catch {
    // The link to the provenance page remains.
  }
}

// `toggle` does not bubble.
region.addEventListener("toggle", (event) => {
  if (event.target.matches("[data-provenance]") && event.target.open) loadProvenance(event.target);
}, { capture: true });

function show(state, text) {
  live.hidden = false;
  live.dataset.state = state;
  const content = live.querySelector("[data-live-text]");
  if (content.textContent !== text) content.textContent = text;
}

async function refresh() {
  try {
    const response = await fetch(region.dataset.fragment, {
      headers: { accept: "text/html" }, redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.type === "opaqueredirect") return location.reload(); // the session has expired
    if (!response.ok) throw new Error(response.status);
    replace(await response.text());
    show("live", "updates every 5 s");
  } catch {
    show("away", "connection lost, data may be outdated");
  }
  schedule();
}

function schedule() {
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(refresh, intervalMs);
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) clearTimeout(timer);
  else refresh();
});
show("live", "updates every 5 s");
schedule();
