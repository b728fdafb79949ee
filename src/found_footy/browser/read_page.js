// Reads a search page of X. Only this file depends on X's DOM.
// Returns plain data; the caller validates every value.
(most) => {
  const MOST_TEXT = 2000;
  const byId = (scope, name) => scope.querySelector(`[data-testid="${name}"]`);
  const all = (scope, selector) => Array.from(scope.querySelectorAll(selector));

  // A quoted post is a box inside the quoting post, with a separate author name.
  const quotesIn = (article) =>
    all(article, 'div[role="link"]').filter((box) => byId(box, "User-Name"));

  // Keep the path only and ignore the link's host.
  const pathOf = (link) => {
    const href = link.getAttribute("href");
    return URL.canParse(href, "https://x.com") ? new URL(href, "https://x.com").pathname.slice(0, 200) : null;
  };

  // Emoji are images with the character as alternative text.
  const textOf = (node) => {
    if (!node) return "";
    let text = "";
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    while (walker.nextNode() && text.length < MOST_TEXT) {
      const each = walker.currentNode;
      if (each.nodeType === Node.TEXT_NODE) text += each.data;
      else if (each.tagName === "IMG") text += each.getAttribute("alt") || "";
      else if (each.tagName === "BR") text += "\n";
    }
    return text.slice(0, MOST_TEXT);
  };

  const labels = (scope) =>
    all(scope, "span, div, time").filter((each) => !each.childElementCount).map((each) => each.textContent.trim());

  const readPost = (article) => {
    const quotes = quotesIn(article);
    const own = (node) => !quotes.some((quote) => quote.contains(node));
    const first = (selector) => all(article, selector).find(own) || null;
    const time = first('a[href*="/status/"] time[datetime]');
    const link = time ? time.closest("a") : null;
    const name = first('[data-testid="User-Name"]');
    const text = first('[data-testid="tweetText"]');
    const players = all(
      article,
      '[data-testid="videoPlayer"], [data-testid="videoComponent"], [data-testid="previewInterstitial"]'
    ).filter(own);
    const aside = all(article, "span").filter(
      (each) => own(each) && !(name && name.contains(each)) && !(text && text.contains(each))
    );
    return {
      link: link ? pathOf(link) : null,
      // The handle follows the display name, which may look like a handle.
      handle: name ? labels(name).findLast((label) => label.startsWith("@")) || null : null,
      at: time ? time.getAttribute("datetime").slice(0, 40) : null,
      text: textOf(text),
      video: players.length > 0,
      duration: players.flatMap(labels).find((label) => /^\d{1,2}(:\d\d){1,2}$/.test(label)) || null,
      promoted:
        article.parentElement.closest('[data-testid="placementTracking"]') !== null ||
        aside.some((each) => !each.childElementCount && /^(Ad|Promoted)$/.test(each.textContent.trim())),
    };
  };

  const articles = all(document, 'article[data-testid="tweet"]');
  const retry = all(document, 'button, [role="button"]').some((each) => each.textContent.trim() === "Retry");
  const shown = (...names) => names.some((name) => byId(document, name));
  return {
    path: location.pathname.slice(0, 200),
    loaded: document.readyState === "complete",
    empty: shown("emptyState", "empty_state_header_text"),
    login:
      shown("loginButton", "google_sign_in_container", "LoginForm_Login_Button") ||
      document.querySelector('input[name="username_or_email"], input[autocomplete="username"]') !== null,
    account: shown("SideNav_AccountSwitcher_Button", "AppTabBar_Home_Link"),
    retry: retry && !articles.length,
    posts: articles.slice(0, most).map(readPost),
  };
}
