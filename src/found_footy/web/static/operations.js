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
  const open = [...region.querySelectorAll("details[open]")].map((each) => each.id);
  const href = region.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const onSummary = region.contains(document.activeElement) && document.activeElement.matches("summary");
  const before = verdictOf(region);
  region.innerHTML = html;
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (href) region.querySelector(`a[href="${CSS.escape(href)}"]`)?.focus({ preventScroll: true });
  else if (onSummary) region.querySelector("summary")?.focus({ preventScroll: true });
  localTimes(region);
  const now = verdictOf(region);
  if (now !== before) {
    said.textContent = now;
    document.title = document.title.replace(before, now);
  }
}

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
    show("live", "renewed every few seconds");
  } catch {
    show("away", "no answer; what stands here may be old");
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
show("live", "renewed every few seconds");
schedule();
