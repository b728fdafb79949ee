// The library: what the pages show is renewed when the library says so, and every few seconds while work is under way.

import { localTimes } from "./footy.js";
import { connect } from "./live.js";

const region = document.getElementById("library");
const told = document.getElementById("told");
const film = document.getElementById("film");
const PAUSE = 400; // an edit is several news
const TILE_PAUSE = 5; // for each clip on the page: thousands of them are not drawn twice a second
const WORK_PAUSE = 3_000; // progress is told now and then; its bar should move all the same
const WAIT = 10_000;
let timer = null;
let due = 0;
let asking = false;
let again = false;

connect({ query: region.dataset.news, onNews, onReset: () => soon() });
schedule();

function onNews({ payload }) {
  const mine = region.dataset.source;
  if (!mine || String(payload.source) === mine) soon();
}

function soon(pause = PAUSE) {
  const at = performance.now() + Math.max(pause, TILE_PAUSE * region.querySelectorAll("[data-clip]").length);
  if (timer !== null && at >= due) return; // it comes soon enough, however many news there are
  clearTimeout(timer);
  due = at;
  timer = setTimeout(renew, at - performance.now());
}

function schedule() {
  if (!document.hidden && region.querySelector("[data-under-way]")) soon(WORK_PAUSE);
}

async function renew() {
  timer = null;
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  try {
    const answer = await fetch(region.dataset.fragment, {
      headers: { accept: "text/html" }, redirect: "manual", signal: AbortSignal.timeout(WAIT),
    });
    if (answer.type === "opaqueredirect") return location.reload(); // the login has ended
    if (answer.ok) replace(await answer.text());
  } catch {
    // The foot of the page says that the server is away; its news start anew when it is back.
  } finally {
    asking = false;
  }
  if (again) {
    again = false;
    soon();
  } else {
    schedule();
  }
}

// Where somebody stands, they stay.
function replace(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html").body;
  const before = wordsOf(region);
  const focus = region.contains(document.activeElement) ? placeOf(document.activeElement) : null;
  const seen = new Set([...region.querySelectorAll("image[href]")].map((each) => each.getAttribute("href")));
  for (const each of fresh.querySelectorAll("image[data-href]")) if (seen.has(each.dataset.href)) draw(each);
  region.replaceChildren(...fresh.childNodes);
  watchPictures();
  if (focus) region.querySelector(focus)?.focus({ preventScroll: true });
  localTimes(region);
  const after = wordsOf(region);
  if (after && after !== before) told.textContent = after;
  if (!film && region.querySelector("[data-has-film]")) location.reload(); // now there is something to play
}

// --- pictures further down are fetched when somebody comes near them

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    for (const each of target.querySelectorAll("image[data-href]")) draw(each);
  }
}, { rootMargin: "400px" });

function draw(image) {
  image.setAttribute("href", image.dataset.href);
  delete image.dataset.href;
}

function watchPictures() {
  near.disconnect();
  for (const each of region.querySelectorAll("image[data-href]")) near.observe(each.closest("svg"));
}

watchPictures();

function wordsOf(root) {
  return root.querySelector("[data-told] .chip, [data-totals]")?.textContent ?? "";
}

function placeOf(element) {
  const href = element.getAttribute("href");
  return href ? `a[href="${CSS.escape(href)}"]:not([tabindex])` : null;
}

document.addEventListener("visibilitychange", () => !document.hidden && soon());

// A moment in the film: the player that is here goes there.
document.addEventListener("click", (event) => {
  const place = event.target.closest?.("[data-at]");
  if (!place || !film || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  film.currentTime = Number(place.dataset.at);
  film.scrollIntoView({ block: "nearest" });
  film.play().catch(() => {});
});
