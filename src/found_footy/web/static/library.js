// Library pages: refresh on stream messages, and every few seconds while something is being processed.

import { localTimes } from "./footy.js";
import { connect } from "./live.js";

const region = document.getElementById("library");
const announcement = document.getElementById("announcement");
const film = document.getElementById("film");
const DELAY_MS = 400; // an edit causes several messages
const TILE_DELAY_MS = 5; // per clip on the page: pages with thousands of clips refresh less often
const PROGRESS_DELAY_MS = 3_000; // progress has no stream messages
const TIMEOUT_MS = 10_000;
let timer = null;
let due = 0;
let loading = false;
let pending = false;

connect({ query: region.dataset.stream, onMessage, onReset: () => refreshSoon() });
schedule();

function onMessage({ payload }) {
  const sourceId = region.dataset.source;
  if (!sourceId || String(payload.source) === sourceId) refreshSoon();
}

function refreshSoon(delay = DELAY_MS) {
  const at = performance.now() + Math.max(delay, TILE_DELAY_MS * region.querySelectorAll("[data-clip]").length);
  if (timer !== null && at >= due) return; // an earlier refresh is scheduled
  clearTimeout(timer);
  due = at;
  timer = setTimeout(refresh, at - performance.now());
}

function schedule() {
  if (!document.hidden && region.querySelector("[data-processing]")) refreshSoon(PROGRESS_DELAY_MS);
}

async function refresh() {
  timer = null;
  if (loading) {
    pending = true;
    return;
  }
  loading = true;
  try {
    const response = await fetch(region.dataset.fragment, {
      headers: { accept: "text/html" }, redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.type === "opaqueredirect") return location.reload(); // the session has expired
    if (response.ok) replace(await response.text());
  } catch {
    // The footer shows the lost connection; the stream triggers a refresh when it is back.
  } finally {
    loading = false;
  }
  if (pending) {
    pending = false;
    refreshSoon();
  } else {
    schedule();
  }
}

// Keep focus and loaded images.
function replace(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html").body;
  const before = stateText(region);
  const focus = region.contains(document.activeElement) ? selectorOf(document.activeElement) : null;
  const shown = new Set([...region.querySelectorAll("image[href]")].map((each) => each.getAttribute("href")));
  for (const each of fresh.querySelectorAll("image[data-href]")) if (shown.has(each.dataset.href)) showImage(each);
  region.replaceChildren(...fresh.childNodes);
  observeImages();
  if (focus) region.querySelector(focus)?.focus({ preventScroll: true });
  localTimes(region);
  const after = stateText(region);
  if (after && after !== before) announcement.textContent = after;
  if (!film && region.querySelector("[data-has-film]")) location.reload(); // the page needs its player
}

// --- images are loaded when scrolled near

const observer = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    observer.unobserve(target);
    for (const each of target.querySelectorAll("image[data-href]")) showImage(each);
  }
}, { rootMargin: "400px" });

function showImage(image) {
  image.setAttribute("href", image.dataset.href);
  delete image.dataset.href;
}

function observeImages() {
  observer.disconnect();
  for (const each of region.querySelectorAll("image[data-href]")) observer.observe(each.closest("svg"));
}

observeImages();

function stateText(root) {
  return root.querySelector("[data-state-line] .chip, [data-totals]")?.textContent ?? "";
}

function selectorOf(element) {
  const href = element.getAttribute("href");
  return href ? `a[href="${CSS.escape(href)}"]:not([tabindex])` : null;
}

document.addEventListener("visibilitychange", () => !document.hidden && refreshSoon());

// Links to a position seek the player of this page.
document.addEventListener("click", (event) => {
  const target = event.target.closest?.("[data-at]");
  if (!target || !film || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  film.currentTime = Number(target.dataset.at);
  film.scrollIntoView({ block: "nearest" });
  film.play().catch(() => {});
});
