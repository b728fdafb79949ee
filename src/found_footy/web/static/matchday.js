// Matchday page: live updates, clips played in place, keys to move between matches.

import { playsIn } from "./clip_dialog.js";
import { isFree } from "./footy.js";
import { connect } from "./live.js";
import { focusable, cardOf, refresh, reload } from "./match_cards.js";
import { watchAges } from "./staleness.js";

const list = document.getElementById("matches");
const announcement = document.querySelector("[data-announcement]");
const ages = watchAges(list);
const RELOAD_DELAY_MS = 3_000;
const PERIODS = [[0, 45, 5], [45, 90, 8], [90, 105, 3], [105, 120, 4]]; // as in match_format.py
const NEW_MATCH_TOPICS = new Set(["fixture.staging", "fixture.active"]);

playsIn(document.getElementById("player"));

// --- live updates

connect({ query: `after=${list.dataset.position}`, onMessage, onReset: reloadLater });

function onMessage({ topic, fixture_id: match, payload }) {
  const card = match === null ? null : cardOf(match);
  if (!card) {
    if (NEW_MATCH_TOPICS.has(topic)) reloadLater(); // may be a match of this day
  } else if (topic !== "fixture.clock" || !updateMinute(card, payload)) {
    refresh(match, announce);
  }
}

// A new minute alone is shown without a request, unless the card has no timeline or is stale.
function updateMinute(card, { elapsed, extra }) {
  const shown = card.querySelector(".clock");
  const line = card.querySelector(".line rect");
  if (card.matches("[data-hidden]")) return true;
  if (!line || !/^\d/.test(shown.textContent) || card.querySelector(".staleness:not([hidden])")) return false;
  if (card.dataset.sport === "cricket") return false; // runs may change with each ball
  shown.textContent = extra ? `${elapsed}+${extra}'` : `${elapsed}'`;
  line.setAttribute("width", `${timelinePercent(elapsed, extra, line.closest(".long") !== null)}%`);
  ages.update(card);
  return true;
}

function timelinePercent(elapsed, extra, long) {
  const parts = long ? PERIODS : PERIODS.slice(0, 2);
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

function announce(card, changes) {
  if (card.matches("[data-hidden]")) return;
  const [home, away] = [...card.querySelectorAll("h3 span")].map((each) => each.textContent);
  const describe = (prefix) => (goal) =>
    `${prefix}: ${home} ${goal.querySelector("em").textContent} ${away}, ${goal.querySelector("p").textContent}`;
  const prefix = card.dataset.sport === "cricket" ? "Wicket" : "Goal";
  const messages = [...changes.goals.map(describe(prefix)), ...changes.withdrawn.map(describe("Withdrawn"))];
  if (messages.length) announcement.textContent = messages.join(". ");
}

let reloading = null;
function reloadLater() {
  reloading ??= setTimeout(async () => {
    reloading = null;
    try {
      await reload(announce);
    } catch {
      reloadLater(); // the server is unreachable
    }
  }, RELOAD_DELAY_MS * (0.5 + Math.random()));
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
  focusable(next).focus();
  next.scrollIntoView({ block: "nearest" });
}

function firstInView(cards) {
  return cards.find((card) => card.getBoundingClientRect().top >= 0) ?? cards[0];
}
