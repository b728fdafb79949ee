// Reads the scorecard or details page of a match on CREX.
// Returns plain data; the caller validates every value.
async () => {
  const MOST_INNINGS = 6, MOST_ROWS = 15, MOST_NAMES = 400, MOST_TEXT = 300, RENDERED_MS = 1500;
  const all = (scope, selector) => Array.from(scope.querySelectorAll(selector));
  const text = (node) => (node ? node.textContent.replace(/\s+/g, " ").trim().slice(0, MOST_TEXT) : "");
  const first = (selector) => text(document.querySelector(selector));
  const after = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  const readEvent = () => {
    for (const script of all(document, 'script[type="application/ld+json"]')) {
      try {
        const event = JSON.parse(script.textContent);
        if (event["@type"] !== "SportsEvent") continue;
        return {
          name: String(event.name).slice(0, MOST_TEXT),
          start: String(event.startDate).slice(0, 40),
          venue: String((event.location && event.location.name) || event.location || "").slice(0, MOST_TEXT),
          competitors: (event.competitor || []).slice(0, 2).map((each) => String(each.name).slice(0, 100)),
        };
      } catch {
        // Unrelated or invalid JSON-LD.
      }
    }
    return null;
  };

  const readNames = () => {
    const kept = Object.keys(localStorage).filter((key) => /^[tp]_\w{1,8}_(name|short)$/.test(key));
    return Object.fromEntries(kept.slice(0, MOST_NAMES).map((key) => [key, localStorage.getItem(key).slice(0, 100)]));
  };

  const cells = (row) => all(row, "td").map(text);
  const rows = (table) => all(table, "tbody tr").slice(0, MOST_ROWS);
  const readTables = () => {
    const [batting, , falls] = all(document, "app-match-scorecard table.bowler-table, .scorecard table.bowler-table");
    return {
      batting: batting
        ? rows(batting).map((row) => ({
            name: text(row.querySelector(".player-name")),
            decision: text(row.querySelector(".decision")),
            runs: cells(row)[1] || "",
            balls: cells(row)[2] || "",
          }))
        : [],
      falls: falls
        ? rows(falls).map((row) => ({
            name: text(row.querySelector(".player-name")),
            score: cells(row)[1] || "",
            over: cells(row)[2] || "",
          }))
        : [],
    };
  };

  // The page shows one innings at a time, each in its own tab.
  const tabs = all(document, ".team-tab").slice(0, MOST_INNINGS);
  const readInnings = async () => {
    const innings = [];
    for (const tab of tabs) {
      if (tabs.length > 1 && !tab.classList.contains("bgColor")) {
        tab.click();
        for (let waited = 0; !tab.classList.contains("bgColor") && waited < RENDERED_MS; waited += 25) await after(25);
        await after(0);
      }
      innings.push({
        team: text(tab.querySelector(".team-name")),
        score: text(tab.querySelector(".score-over span")),
        overs: text(tab.querySelector(".over")),
        shown: tabs.length === 1 || tab.classList.contains("bgColor"),
        ...readTables(),
      });
    }
    return innings;
  };

  const card = document.querySelector(".live-score-card");
  const series = document.querySelector('a[href*="/series/"]');
  const missing = document.querySelector(".page-not-found, app-page-not-found") !== null;
  const toss = first(".toss-wrap p");
  const details = document.querySelector(".match-venue, .match-date") !== null;
  if (!card && !details) return { sign: missing ? "missing" : "waiting" };
  return {
    sign: "ready",
    data: {
      path: location.pathname.slice(0, MOST_TEXT),
      event: readEvent(),
      title: first("h1"),
      teams: card
        ? all(card, ".team-inning").slice(0, 2).map((each) => ({
            name: text(each.querySelector(".team-name")),
            score: text(each.querySelector(".runs span")),
            overs: text(each.querySelector(".runs span:nth-child(2)")),
          }))
        : [],
      box: first(".result-box"),
      comment: first(".final-result"),
      innings: await readInnings(),
      toss,
      venue: first(".match-venue"),
      series: { name: first(".s-name") || text(series) },
      names: readNames(),
    },
  };
}
