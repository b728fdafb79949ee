// Reads CREX's list of matches. Only this file and read_crex_match.js depend on CREX's DOM.
// Returns plain data; the caller validates every value.
async ({ until }) => {
  const MOST_MATCHES = 400, MOST_NAMES = 2000, MOST_TEXT = 300, MOST_PAGES = 8, RENDERED_MS = 1500;
  const all = (scope, selector) => Array.from(scope.querySelectorAll(selector));
  const text = (node) => (node ? node.textContent.replace(/\s+/g, " ").trim().slice(0, MOST_TEXT) : "");
  const after = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const texts = (scope, selector) => all(scope, selector).slice(0, 4).map(text);

  const events = all(document, 'script[type="application/ld+json"]').flatMap((script) => {
    try {
      const items = JSON.parse(script.textContent).mainEntity.itemListElement;
      return items.slice(0, MOST_MATCHES).map(({ item }) => ({
        url: String(item.url).slice(0, MOST_TEXT),
        name: String(item.name).slice(0, MOST_TEXT),
        start: String(item.startDate).slice(0, 40),
        venue: String((item.location && item.location.name) || item.location || "").slice(0, MOST_TEXT),
      }));
    } catch {
      return [];
    }
  });

  const readNames = () => {
    const kept = Object.keys(localStorage).filter((key) => /^t_\w{1,8}_(name|short)$/.test(key)).slice(0, MOST_NAMES);
    return Object.fromEntries(kept.map((key) => [key, localStorage.getItem(key).slice(0, 100)]));
  };

  const readCard = (card, date) => {
    const link = card.matches("a") ? card : card.querySelector("a[href]");
    return {
      date,
      link: link ? link.getAttribute("href").slice(0, MOST_TEXT) : "",
      teams: texts(card, ".team-name"),
      scores: texts(card, ".team-score"),
      overs: texts(card, ".total-overs"),
      live: card.querySelector(".liveTag") !== null,
      start: text(card.querySelector(".start-text")),
      result: text(card.querySelector(".result")),
      reason: text(card.querySelector(".reason")),
      what: text(card.querySelector(".time")),
    };
  };

  const shownCards = () =>
    all(document, ".date-wise-matches-card > div")
      .filter((day) => day.querySelector(".date"))
      .flatMap((day) => {
        const date = text(day.querySelector(".date"));
        return all(day, ".match-card-container").map((card) => readCard(card, date));
      });
  const dayOf = (card) => {
    const event = events.find(({ url }) => card.link && url.endsWith(card.link));
    const time = Date.parse(event ? event.start : `${card.date} UTC`);
    return Number.isNaN(time) ? "" : new Date(time).toISOString().slice(0, 10);
  };

  const empty = document.querySelector(".emptyStateText") !== null;
  let cards = shownCards();
  if (!cards.length && !empty) return { sign: "waiting" };
  // Click the button for more matches until the requested day is shown or the list ends.
  for (let page = 1; until && cards.length && page < MOST_PAGES && cards.length < MOST_MATCHES; page++) {
    const next = document.querySelector(".next-button");
    if (!next || cards.map(dayOf).sort().at(-1) > until) break;
    const known = new Set(cards.map((card) => card.link));
    const fresh = () => shownCards().filter((card) => !known.has(card.link));
    next.click();
    for (let waited = 0; !fresh().length && waited < RENDERED_MS; waited += 25) await after(25);
    if (!fresh().length) break;
    cards = cards.concat(fresh());
  }
  return { sign: "ready", data: { events, cards: cards.slice(0, MOST_MATCHES), names: readNames(), empty } };
}
