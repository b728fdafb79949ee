// Search as you type. Without scripts, the form is submitted.

import { localTimes } from "./footy.js";
import { pictureSearch } from "./search_picture.js";

const form = document.getElementById("search");
const results = document.getElementById("results");
const announcement = document.getElementById("announcement");
const DELAY_MS = 150;

let timer;
let controller;

const SIMILARITY_FIELDS = ["order", "model"];
const LIBRARY_FIELDS = ["like", "team", "goal", "place", "source", ...SIMILARITY_FIELDS];

function formQuery() {
  const fields = new URLSearchParams(new FormData(form));
  const notLibrary = fields.get("kind") !== "library";
  const notSimilar = !fields.get("like") && !picture.active;
  for (const [name, value] of [...fields]) {
    const redundant = (name === "kind" && value === "goals") || (notLibrary && LIBRARY_FIELDS.includes(name)) ||
      (notSimilar && SIMILARITY_FIELDS.includes(name));
    if (!value.trim() || redundant) fields.delete(name);
  }
  return fields.toString();
}

async function fragment(query) {
  controller?.abort();
  controller = new AbortController();
  const { signal } = controller;
  const response =
    (await picture.response(query, signal)) ??
    (await fetch(`/search/results?${query}`, { signal, headers: { accept: "text/html" } }));
  if (!response.ok) throw new Error(`search failed with status ${response.status}`);
  const template = document.createElement("template");
  template.innerHTML = await response.text();
  localTimes(template.content);
  return template.content;
}

function announce(content) {
  announcement.textContent = content.querySelector("[data-count]")?.textContent ?? "";
}

function failed(error) {
  if (error.name === "AbortError") return;
  results.removeAttribute("aria-busy");
  announcement.textContent = error.cause ? `${error.message}.` : "Search failed. Press Search to try again.";
  announcement.classList.remove("quiet");
}

async function refresh(force = false) {
  const query = formQuery();
  const address = query ? `/search?${query}` : "/search";
  if (!force && !picture.active && address === location.pathname + location.search) return;
  results.setAttribute("aria-busy", "true");
  try {
    const content = await fragment(query);
    announce(content);
    announcement.classList.add("quiet");
    results.replaceChildren(content);
    results.removeAttribute("aria-busy");
    history.replaceState(null, "", address);
    // The preference switches in the header return to the current results.
    for (const back of document.querySelectorAll(".top input[name=back]")) back.value = address;
  } catch (error) {
    failed(error);
  }
}

async function loadMore(link) {
  link.setAttribute("aria-busy", "true");
  try {
    const content = await fragment(new URL(link.href).search.slice(1));
    announce(content);
    const list = results.querySelector("[data-found]");
    const added = [...content.querySelectorAll("[data-found] > li")];
    list.append(...added);
    const nextLink = content.querySelector(".more");
    link.closest(".more").replaceWith(...(nextLink ? [nextLink] : []));
    added[0]?.querySelector("h3 a, button")?.focus();
  } catch (error) {
    failed(error);
  }
}

function refreshSoon(event) {
  if (event.target.type === "file") return;
  clearTimeout(timer);
  timer = setTimeout(() => refresh(), DELAY_MS);
}

const picture = pictureSearch(form, {
  search: () => refresh(true),
  failed: (message) => failed(new Error(message.replace(/\.$/, ""), { cause: "picture" })),
});

form.addEventListener("input", refreshSoon);
form.addEventListener("change", refreshSoon);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(timer);
  refresh();
});
results.addEventListener("click", (event) => {
  const link = event.target.closest("[data-more]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  loadMore(link);
});
