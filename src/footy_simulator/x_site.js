// The simulated search page of X: asks for posts after it has loaded, shows them in X's structure, and adds more
// when somebody scrolls. Whatever a post says is put in as text, never as markup.
(() => {
  const KEPT = 60;
  const timeline = document.getElementById("timeline");
  const spinner = document.getElementById("spinner");
  const spacer = document.getElementById("spacer");
  const query = new URLSearchParams(location.search).get("q") || "";
  document.getElementById("query").value = query;
  let cursor = 0;
  let loading = false;
  let names = {};

  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      element.setAttribute(name, name === "data-testid" ? names[value] || value : value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  };

  const written = (text) =>
    text.split(/(\p{Extended_Pictographic})/u).filter(Boolean).map((part) =>
      /^\p{Extended_Pictographic}$/u.test(part)
        ? make("img", { alt: part, src: "/x-assets/emoji.svg" })
        : make("span", {}, part)
    );

  const label = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

  const head = (post, linked) => {
    const time = make("time", { datetime: post.posted_at }, "now");
    const handle = make("div", { dir: "ltr" }, make("span", {}, `@${post.author}`));
    return make("div", { "data-testid": "User-Name" },
      make("div", {}, make(linked ? "a" : "div", linked ? { href: `/${post.author}` } : {},
        make("span", {}, make("span", {}, post.name)))),
      make("div", {},
        make(linked ? "a" : "div", linked ? { href: `/${post.author}`, tabindex: "-1" } : {}, handle),
        make("span", { "aria-hidden": "true" }, "·"),
        post.kind === "promoted" ? null
          : linked ? make("a", { href: `/${post.author}/status/${post.id}`, role: "link" }, time)
            : make("div", { "aria-label": "now" }, time)));
  };

  const player = (post) =>
    make("div", { "data-testid": "tweetPhoto" },
      make("div", { "data-testid": "placementTracking" },
        make("div", { "data-testid": "videoPlayer" },
          make("div", { "data-testid": "videoComponent" },
            make("video", { preload: "auto", autoplay: "", poster: "/x-assets/poster.png", src: post.media })),
          make("div", { "data-testid": "previewInterstitial" },
            make("img", { alt: "", src: "/x-assets/poster.png" }),
            make("div", { "data-testid": "playButton", role: "button", "aria-label": "Play this video" })),
          make("div", { dir: "ltr" }, make("span", {}, label(post.duration))))));

  const body = (post) => make("div", { "data-testid": "tweetText", dir: "auto" }, ...written(post.text));

  const quoted = (post) =>
    make("div", {}, make("div", { dir: "ltr" }, make("span", {}, "Quote")),
      make("div", { role: "link", tabindex: "0" }, head(post, false), body(post), player(post)));

  const article = (post) =>
    make("article", { "data-testid": "tweet", role: "article", tabindex: "0" },
      post.kind === "repost"
        ? make("div", {}, make("span", { "data-testid": "socialContext" }, "Somebody reposted")) : null,
      make("div", { "data-testid": "Tweet-User-Avatar" }, make("img", { alt: "", src: "/x-assets/avatar.png" })),
      head(post, true),
      post.kind === "promoted" ? make("div", { dir: "ltr" }, make("span", {}, "Ad")) : null,
      body(post),
      post.kind === "quote" ? quoted(post.quoted) : player(post),
      make("div", { role: "group" },
        make("button", { "data-testid": "reply", "aria-label": "Reply" }),
        make("button", { "data-testid": "like", "aria-label": "Like" })));

  const cell = (post) => {
    const shown = article(post);
    const inner = post.kind === "promoted" ? make("div", { "data-testid": "placementTracking" }, shown) : shown;
    return make("div", { "data-testid": "cellInnerDiv", class: "cell" }, make("div", {}, inner));
  };

  const forgetTop = () => {
    let height = spacer.offsetHeight;
    while (timeline.childElementCount > KEPT) {
      height += timeline.firstElementChild.offsetHeight;
      timeline.firstElementChild.remove();
    }
    spacer.style.height = `${height}px`;
  };

  const sorry = () =>
    timeline.replaceChildren(make("div", {},
      make("span", {}, "Something went wrong. Try reloading."),
      make("button", { role: "button" }, make("span", {}, "Retry"))));

  const nothing = () =>
    timeline.replaceChildren(make("div", { "data-testid": "emptyState" },
      make("div", { "data-testid": "empty_state_header_text" }, make("span", {}, `No results for "${query}"`))));

  const load = async () => {
    if (loading || cursor === null) return;
    loading = true;
    spinner.hidden = false;
    try {
      const terms = new URLSearchParams({ q: query, cursor: String(cursor) });
      const response = await fetch(`/i/api/graphql/simulated/SearchTimeline?${terms}`);
      if (!response.ok) throw new Error(String(response.status));
      const answer = await response.json();
      names = answer.names;
      while (answer.freeze) { /* a page that does not react any more */ }
      if (answer.sorry) sorry();
      else if (!answer.posts.length && cursor === 0) nothing();
      else timeline.append(...answer.posts.map(cell));
      cursor = answer.cursor;
      forgetTop();
    } catch (error) {
      if (!timeline.querySelector(".cell")) sorry();
      cursor = null;
    }
    spinner.hidden = true;
    loading = false;
  };

  addEventListener("scroll", () => {
    if (innerHeight + scrollY > document.documentElement.scrollHeight - 800) load();
  });
  load();
})();
