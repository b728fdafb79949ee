// The matchday: changes appear by themselves, clips play in place, and keys move between matches.

import { playsIn } from "./clip_dialog.js";
import { isFree } from "./footy.js";
import { connect } from "./live.js";
import { asFocus, cardOf, refresh, reload } from "./match_cards.js";
import { watchAges } from "./staleness.js";

const list = document.getElementById("matches");
const voice = document.querySelector("[data-say]");
const ages = watchAges(list);
const RELOAD_PAUSE = 3_000;
const PARTS = [[0, 45, 5], [45, 90, 8], [90, 105, 3], [105, 120, 4]]; // as in time_line.py
const COMES = new Set(["fixture.staging", "fixture.active"]);

playsIn(document.getElementById("player"));

// --- news

connect({ query: `after=${list.dataset.position}`, onNews, onReset: later });

function onNews({ topic, fixture_id: match, payload }) {
  const card = match === null ? null : cardOf(match);
  if (!card) {
    if (COMES.has(topic)) later(); // perhaps a match of this day
  } else if (topic !== "fixture.clock" || !tick(card, payload)) {
    refresh(match, tell);
  }
}

// The minute alone needs no request, where the card shows one and nothing is wrong with the match.
function tick(card, { elapsed, extra }) {
  const shown = card.querySelector(".clock");
  const line = card.querySelector(".line rect");
  if (card.matches("[data-hidden]")) return true;
  if (!line || !/^\d/.test(shown.textContent) || card.querySelector(".silence:not([hidden])")) return false;
  if (card.dataset.sport === "cricket") return false; // with each ball the runs may change, too
  shown.textContent = extra ? `${elapsed}+${extra}'` : `${elapsed}'`;
  line.setAttribute("width", `${place(elapsed, extra, line.closest(".long") !== null)}%`);
  ages.heard(card);
  return true;
}

function place(elapsed, extra, long) {
  const parts = long ? PARTS : PARTS.slice(0, 2);
  let at = 0;
  for (const [first, last, stoppage] of parts) {
    if (elapsed <= last) {
      at += Math.max(0, elapsed - first) + (elapsed === last ? Math.min(extra ?? 0, stoppage) : 0);
      break;
    }
    at += last - first + stoppage;
  }
  const whole = parts.reduce((sum, [first, last, stoppage]) => sum + last - first + stoppage, 0);
  return Math.round((1000 * at) / whole) / 10;
}

function tell(card, news) {
  if (card.matches("[data-hidden]")) return;
  const [home, away] = [...card.querySelectorAll("h3 span")].map((each) => each.textContent);
  const spoken = (word) => (goal) =>
    `${word}: ${home} ${goal.querySelector("em").textContent} ${away}, ${goal.querySelector("p").textContent}`;
  const word = card.dataset.sport === "cricket" ? "Wicket" : "Goal";
  const said = [...news.goals.map(spoken(word)), ...news.withdrawn.map(spoken("Withdrawn"))];
  if (said.length) voice.textContent = said.join(". ");
}

let reloading = null;
function later() {
  reloading ??= setTimeout(async () => {
    reloading = null;
    try {
      await reload(tell);
    } catch {
      later(); // the server is away, too
    }
  }, RELOAD_PAUSE * (0.5 + Math.random()));
}

// --- keys

document.addEventListener("keydown", (event) => {
  if (!isFree(event)) return;
  if (event.key === "j" || event.key === "k") {
    event.preventDefault();
    move(event.key === "j" ? 1 : -1);
  } else if (event.key === "Enter" && event.target.matches(".match")) {
    event.target.querySelector(".veil button, a.shot, .goals a")?.click();
  }
});

function move(step) {
  const cards = [...document.querySelectorAll(".match")];
  const at = cards.indexOf(document.activeElement.closest(".match"));
  const next = at < 0 ? firstInView(cards) : cards[at + step];
  if (!next) return;
  asFocus(next).focus();
  next.scrollIntoView({ block: "nearest" });
}

function firstInView(cards) {
  return cards.find((card) => card.getBoundingClientRect().top >= 0) ?? cards[0];
}
