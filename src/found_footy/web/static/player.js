// Player of the goal page: switching between aligned copies, keys, and live updates.

import { localTimes } from "./footy.js";
import { connect } from "./live.js";
import { watchAges } from "./staleness.js";

const LOOP_SECONDS = 2; // before and after the current position
const REFRESH_DELAY_MS = 250; // messages come in bursts
const POLL_MS = 20_000; // search progress has no messages

const goal = document.getElementById("goal");

const video = () => document.getElementById("video");
const screen = () => goal.querySelector("[data-player]");
const copies = () => [...goal.querySelectorAll("[data-copy]")];
const chosen = () => goal.querySelector('[data-copy][aria-checked="true"]');
const shown = (selector) => goal.querySelector(selector);

// --- copies

/** Start state of the copy being loaded. */
let loadingCopy = null;

/** Playing copy; if it was merged meanwhile, its winner. */
function playing() {
  const id = screen()?.dataset.playing;
  return copies().find((each) => each.dataset.copy === id || each.dataset.merged.split(" ").includes(id)) ?? null;
}

function offset(copy) {
  return copy.dataset.offset === "" ? null : Number(copy.dataset.offset);
}

/** Position in `to` that shows the same moment: by offset, else at the same fraction. */
function sameMoment(now, from, to) {
  const [a, b] = [offset(from), offset(to)];
  const length = Number(to.dataset.duration);
  const at = a === null || b === null ? (now / Number(from.dataset.duration)) * length : now + a - b;
  return Math.max(0, Math.min(at, length - 0.05));
}

function choose(copy, at = null) {
  const player = video();
  const from = playing();
  mark(copy);
  if (at === null && from && from.dataset.copy === copy.dataset.copy && screen().dataset.playing === copy.dataset.copy) return;
  const running = loadingCopy?.running ?? (!player.paused && !player.ended);
  const now = loadingCopy?.second ?? player.currentTime;
  const started = now > 0 || running;
  const second = at ?? (from && started ? sameMoment(now, from, copy) : 0);
  load(player, copy, second, running);
  openProof(copy.dataset.copy);
  const aligned = at !== null || !from || !started || (offset(from) !== null && offset(copy) !== null);
  say(aligned ? nameOfCopy(copy) : `${nameOfCopy(copy)} · not aligned: position is approximate`, !aligned);
}

function load(player, copy, second, running) {
  const id = copy.dataset.copy;
  loadingCopy = { second, running, speed: loadingCopy?.speed ?? player.playbackRate };
  endLoop();
  screen().dataset.playing = id;
  player.poster = `/v/${id}/poster.jpg?w=1280`;
  player.src = `/v/${id}`;
  player.load();
  const save = shown("[data-download]");
  if (save) save.href = `/v/${id}?download=1`;
}

function loaded(player) {
  if (!loadingCopy) return;
  const { second, running, speed } = loadingCopy;
  loadingCopy = null;
  if (second > 0) player.currentTime = second;
  player.playbackRate = speed;
  if (running) player.play().catch(() => {});
}

function mark(copy) {
  for (const each of copies()) {
    const is = each === copy;
    each.setAttribute("role", "radio");
    each.setAttribute("aria-checked", String(is));
    each.tabIndex = is || (!copy && each === copies()[0]) ? 0 : -1;
    each.parentElement.setAttribute("role", "presentation");
  }
  shown("[data-copies]")?.setAttribute("role", "radiogroup");
}

function nameOfCopy(copy) {
  const { rank, source } = copy.dataset;
  return `Copy ${rank} of ${copies().length}${source ? `, from ${source}` : ""}`;
}

function openProof(id) {
  const proof = shown(`[data-proof="${CSS.escape(id)}"]`);
  if (proof) proof.open = true;
}

function say(message, sticky = false) {
  const now = shown("[data-now]");
  if (!now) return;
  now.textContent = message;
  now.toggleAttribute("data-approximate", sticky);
}

// --- small tools

function endLoop() {
  const button = shown("[data-loop]");
  if (!button) return;
  button.setAttribute("aria-pressed", "false");
  delete button.dataset.from;
}

function toggleLoop() {
  const button = shown("[data-loop]");
  const player = video();
  if (!button || !player) return;
  if (button.dataset.from !== undefined) return endLoop();
  button.dataset.from = Math.max(0, player.currentTime - LOOP_SECONDS);
  button.dataset.to = Math.min(player.duration || Infinity, player.currentTime + LOOP_SECONDS);
  button.setAttribute("aria-pressed", "true");
  player.play().catch(() => {});
}

function keepLoop(player) {
  const { from, to } = shown("[data-loop]")?.dataset ?? {};
  if (from !== undefined && player.currentTime >= Number(to) - 0.05) player.currentTime = Number(from);
}

function setSpeed(speed) {
  video().playbackRate = speed;
  for (const each of goal.querySelectorAll("[data-speed]")) {
    each.setAttribute("aria-pressed", String(Number(each.dataset.speed) === speed));
  }
}

async function copyLink() {
  const button = shown("[data-link]");
  const address = new URL(`/v/${screen().dataset.playing}`, location.href).href;
  try {
    await navigator.clipboard.writeText(address);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
    window.prompt("Link of this copy", address);
  }
  setTimeout(() => (button.textContent = "Copy link"), 2000);
}

function seek(seconds) {
  const player = video();
  player.currentTime = Math.max(0, Math.min((player.duration || Infinity) - 0.01, player.currentTime + seconds));
}

function step(frames) {
  video().pause();
  seek(frames / (Number(playing()?.dataset.fps) || 25));
}

function togglePlay() {
  const player = video();
  if (player.paused) player.play().catch(() => {});
  else player.pause();
}

function toggleFull() {
  if (document.fullscreenElement) document.exitFullscreen();
  else video().requestFullscreen?.();
}

const KEYS = {
  " ": togglePlay,
  k: togglePlay,
  j: () => seek(-5),
  l: () => seek(5),
  ArrowLeft: () => seek(-1),
  ArrowRight: () => seek(1),
  ",": () => step(-1),
  ".": () => step(1),
  m: () => (video().muted = !video().muted),
  f: toggleFull,
  c: copyLink,
  r: toggleLoop,
};

// --- input

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || !video() || document.querySelector("dialog[open]")) return;
  if (target.closest("input, select, textarea, [contenteditable]")) return;
  if (moveAmongCopies(event)) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  // A focused player handles these keys itself, and buttons and links the space bar.
  if (target === video() && [" ", "ArrowLeft", "ArrowRight", "m", "f"].includes(key)) return;
  if (key === " " && target.closest("button, a, summary")) return;
  if (/^[1-9]$/.test(key)) {
    const copy = copies()[Number(key) - 1];
    if (copy) choose(copy);
  } else if (KEYS[key]) KEYS[key]();
  else return;
  event.preventDefault();
});

/** Arrow keys move through the copies as through radio buttons. */
function moveAmongCopies(event) {
  const current = event.target.closest("[data-copy]");
  if (!current) return false;
  const all = copies();
  const delta = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const to = event.key === " " ? current : delta === undefined ? null : all.at((all.indexOf(current) + delta) % all.length);
  if (!to) return false;
  event.preventDefault();
  choose(to);
  to.focus();
  return true;
}

goal.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const at = (name) => event.target.closest(`[data-${name}]`);
  const copy = at("copy");
  const moment = at("seek");
  if (copy) choose(copy);
  else if (moment) watchFrom(moment);
  else if (at("speed")) setSpeed(Number(at("speed").dataset.speed));
  else if (at("loop")) toggleLoop();
  else if (at("link")) copyLink();
  else return;
  event.preventDefault();
});

function watchFrom(moment) {
  const copy = copies().find((each) => each.dataset.copy === moment.dataset.of);
  if (!copy) return;
  choose(copy, Number(moment.dataset.seek));
  screen().scrollIntoView({ block: "center", behavior: "smooth" });
}

// --- live updates

function prepare() {
  const player = video();
  if (player && !player.dataset.ready) {
    player.dataset.ready = "yes";
    player.addEventListener("loadedmetadata", () => loaded(player));
    player.addEventListener("timeupdate", () => keepLoop(player));
    player.addEventListener("error", () => say("This copy cannot be played right now.", true));
    for (const each of goal.querySelectorAll("[data-speeds], [data-loop], [data-link]")) each.hidden = false;
  }
  mark(playing());
}

let waiting = null;
function refreshSoon() {
  waiting ??= setTimeout(refresh, REFRESH_DELAY_MS);
}

async function refresh() {
  waiting = null;
  const response = await fetch(`/g/${encodeURIComponent(goal.dataset.goal)}/fragment?part=all`).catch(() => null);
  if (!response) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  if (response.status === 410 && fresh.querySelector("[data-withdrawn]")) return withdraw(fresh);
  if (!response.ok) return;
  for (const part of fresh.querySelectorAll("[data-part]")) swap(part);
  goal.querySelector("[data-stage]").className = fresh.querySelector("[data-stage]").className;
  prepare();
  const copy = playing();
  if (copy && !shown("[data-now][data-approximate]")) say(nameOfCopy(copy));
}

function swap(fresh) {
  const old = shown(`[data-part="${fresh.dataset.part}"]`);
  // Never replace a player in use.
  if (fresh.dataset.part === "player" && old.querySelector("video") && fresh.querySelector("video")) return;
  localTimes(fresh);
  const before = old.cloneNode(true);
  for (const each of before.querySelectorAll("[role], [aria-checked], [tabindex]")) removeRoles(each);
  old.hidden = fresh.hidden;
  if (before.innerHTML === fresh.innerHTML) return;
  const focus = document.activeElement?.closest("[id], [data-copy]")?.id;
  const open = new Set([...old.querySelectorAll("details[open]")].map(nameOf));
  const knownIds = new Set([...old.querySelectorAll("[data-copy]")].map((each) => each.dataset.copy));
  old.replaceChildren(...fresh.childNodes);
  if (open.size) for (const each of old.querySelectorAll("details")) each.open = open.has(nameOf(each));
  for (const each of old.querySelectorAll("[data-copy]")) each.classList.toggle("fresh", !knownIds.has(each.dataset.copy));
  if (focus && document.activeElement === document.body) document.getElementById(focus)?.focus();
}

function removeRoles(element) {
  for (const name of ["role", "aria-checked", "tabindex"]) {
    if (element.closest("[data-copies]")) element.removeAttribute(name);
  }
}

function nameOf(details) {
  return details.dataset.proof ?? details.querySelector("summary").textContent.replace(/\d+/g, "");
}

function withdraw(fresh) {
  video()?.pause();
  live.close();
  const notice = fresh.querySelector("[data-withdrawn]");
  localTimes(notice);
  goal.replaceWith(notice);
  notice.scrollIntoView({ block: "start" });
}

prepare();
if (goal.dataset.updates) watchAges(goal); // live match

const query = new URLSearchParams({ event: goal.dataset.goal });
if (goal.dataset.after) query.set("after", goal.dataset.after);
const live = connect({ query: query.toString(), onMessage: refreshSoon, onReset: refreshSoon });
setInterval(() => {
  const status = shown("[data-status]")?.dataset.status;
  if (!document.hidden && ["validating", "watching", "extracting"].includes(status)) refreshSoon();
}, POLL_MS);
