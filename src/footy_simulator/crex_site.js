// The simulated site as an Angular page does it: an empty shell, a request for data, and then the DOM.
const node = (name, classes, ...children) => {
  const made = document.createElement(name);
  if (classes) made.className = classes;
  made.append(...children.filter((child) => child !== null && child !== ""));
  return made;
};
const root = () => document.querySelector("app-root");
const ask = async (path) => {
  const answer = await fetch(path, { headers: { accept: "application/json" } });
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return answer.json();
};
const describe = (value) => {
  const script = node("script", "", JSON.stringify(value));
  script.type = "application/ld+json";
  document.head.append(script);
};
// The names that belong to ids are kept where the next page finds them.
const remember = (names) => Object.entries(names).forEach(([key, name]) => localStorage.setItem(key, name));
const table = (rows) => node("table", "bowler-table", node("tbody", "", ...rows));
const player = (classes, name) => node("div", classes, node("span", "player-name", name));
const cell = (content, classes = "") => node("td", "", node("div", classes, content));

const card = (match) => {
  const link = node("a", "match-card-wrapper");
  link.setAttribute("href", match.path);
  const team = (side) =>
    node("div", "team", node("span", "team-name", side.name), node("span", "team-score", side.score),
      node("span", "total-overs", side.overs));
  link.append(team(match.home), team(match.away));
  if (match.live) link.append(node("span", "liveTag", "Live"));
  if (match.result) link.append(node("div", "result", node("span", "", match.result)));
  if (!match.live && !match.result) link.append(node("div", "not-started", node("div", "start-text", match.time)));
  link.append(node("h3", "time", match.what));
  return node("li", "match-card-container", link);
};

const DAYS_A_PAGE = 3;
const showList = async () => {
  const data = await ask("/api/v3/getFixtures");
  remember(data.names);
  describe({ "@type": "CollectionPage", mainEntity: { itemListElement: data.events.map((item) => ({ item })) } });
  if (!data.days.length) {
    root().append(node("div", "emptyStateText", "Match isn't available at the moment"));
    return;
  }
  const place = node("div", "date-wise-matches-card");
  const next = node("button", "next-button", "Next");
  const show = (first) => {
    const days = data.days.slice(first, first + DAYS_A_PAGE);
    place.replaceChildren(...days.map((day) =>
      node("div", "", node("div", "date", node("div", "", day.date)), node("ul", "", ...day.matches.map(card)))));
    next.hidden = first + DAYS_A_PAGE >= data.days.length;
    next.onclick = () => setTimeout(() => next.hidden || show(first + DAYS_A_PAGE), 20);
  };
  show(0);
  root().append(place, next);
};

const head = (data) => {
  const inning = (side, classes) =>
    node("div", classes, node("div", "team-content", node("div", "team-name", side.short),
      node("div", "runs f-runs", node("span", "", side.score), node("span", "over-text", side.overs))));
  return node("div", "live-score-header mob-none", node("app-match-details-wrapper", "",
    node("h1", "name-wrapper", node("span", "", data.title)),
    node("div", "live-score-card",
      inning(data.batting, "team-inning"),
      node("div", "team-result", node("div", "result-box", node("span", "font1", data.box))),
      inning(data.bowling, "team-inning second-inning"),
      node("div", "final-result m-none", data.comment))));
};

const showInnings = (place, innings) => place.replaceChildren(
  node("app-scorecard-table", "", table(innings.batting.map((row) =>
    node("tr", "", node("td", "", player("batsman-name", row.name), node("div", "decision", row.decision)),
      cell(row.runs, "run-highlight"), cell(row.balls))))),
  node("app-scorecard-table", "", table(innings.bowling.map((row) =>
    node("tr", "", node("td", "", player("bowler-name", row.name)), cell(row.wickets, "run-highlight"))))),
  node("app-scorecard-table", "", table(innings.falls.map((row) =>
    node("tr", "", node("td", "", player("bowler-name", row.name)), cell(row.score, "run-highlight"),
      cell(row.over))))));

const scorecard = (data) => {
  const place = node("div", "c-1");
  const tabs = data.innings.map((innings) => node("div", "team-tab m-right", node("div", "team-name", innings.short),
    node("div", "score-over", node("span", "", innings.score), node("span", "over", innings.overs))));
  const show = (number) => {
    tabs.forEach((tab, each) => tab.classList.toggle("bgColor", each === number));
    showInnings(place, data.innings[number]);
  };
  tabs.forEach((tab, number) => tab.addEventListener("click", () => setTimeout(() => show(number), 20)));
  if (tabs.length) show(tabs.length - 1);
  return node("app-match-scorecard", "", node("div", "c-2", ...tabs), place);
};

const details = (data) => node("app-match-info", "",
  node("div", "s-name", data.series), node("div", "match-date", data.date), node("div", "match-venue", data.venue),
  data.toss ? node("div", "toss-wrap", node("p", "", data.toss)) : null);

const showMatch = async () => {
  const data = await ask(`/api/v3/getSC4?key=${document.body.dataset.key}`);
  remember(data.names);
  describe(data.event);
  const series = node("a", "series-link", data.series);
  series.setAttribute("href", data.series_path);
  root().append(node("app-match-details", "", head(data), series,
    document.body.dataset.page === "details" ? details(data) : scorecard(data)));
};

(document.body.dataset.page === "list" ? showList() : showMatch()).catch((error) => {
  root().append(node("div", "api-error", `Something went wrong: ${error.message}`));
});
