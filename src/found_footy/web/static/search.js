// Results while one types. Without this the form is simply sent.

import { localTimes } from "./footy.js";
import { pictureSearch } from "./search_picture.js";

const form = document.getElementById("search");
const results = document.getElementById("results");
const told = document.getElementById("told");
const PAUSE = 150;

let timer;
let asking;

const OF_THE_LIBRARY = ["like", "team", "goal", "place"];

function asked() {
  const fields = new URLSearchParams(new FormData(form));
  const elsewhere = fields.get("kind") !== "library";
  for (const [name, value] of [...fields]) {
    const needless = (name === "kind" && value === "goals") || (elsewhere && OF_THE_LIBRARY.includes(name));
    if (!value.trim() || needless) fields.delete(name);
  }
  return fields.toString();
}

async function fragment(query) {
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  const answer =
    (await picture.answer(query, signal)) ??
    (await fetch(`/search/results?${query}`, { signal, headers: { accept: "text/html" } }));
  if (!answer.ok) throw new Error(`search failed with status ${answer.status}`);
  const made = document.createElement("template");
  made.innerHTML = await answer.text();
  localTimes(made.content);
  return made.content;
}

function tell(content) {
  told.textContent = content.querySelector("[data-count]")?.textContent ?? "";
}

function failed(error) {
  if (error.name === "AbortError") return;
  results.removeAttribute("aria-busy");
  told.textContent = error.cause ? `${error.message}.` : "Search failed. Press Search to try again.";
  told.classList.remove("quiet");
}

async function refresh(anew = false) {
  const query = asked();
  const address = query ? `/search?${query}` : "/search";
  if (!anew && !picture.active && address === location.pathname + location.search) return;
  results.setAttribute("aria-busy", "true");
  try {
    const content = await fragment(query);
    tell(content);
    told.classList.add("quiet");
    results.replaceChildren(content);
    results.removeAttribute("aria-busy");
    history.replaceState(null, "", address);
    // The switches at the top lead back to what is shown now.
    for (const back of document.querySelectorAll(".top input[name=back]")) back.value = address;
  } catch (error) {
    failed(error);
  }
}

async function more(link) {
  link.setAttribute("aria-busy", "true");
  try {
    const content = await fragment(new URL(link.href).search.slice(1));
    tell(content);
    const list = results.querySelector("[data-found]");
    const added = [...content.querySelectorAll("[data-found] > li")];
    list.append(...added);
    const following = content.querySelector(".more");
    link.closest(".more").replaceWith(...(following ? [following] : []));
    added[0]?.querySelector("h3 a, button")?.focus();
  } catch (error) {
    failed(error);
  }
}

function soon(event) {
  if (event.target.type === "file") return;
  clearTimeout(timer);
  timer = setTimeout(() => refresh(), PAUSE);
}

const picture = pictureSearch(form, {
  ask: () => refresh(true),
  failed: (words) => failed(new Error(words.replace(/\.$/, ""), { cause: "picture" })),
});

form.addEventListener("input", soon);
form.addEventListener("change", soon);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(timer);
  refresh();
});
results.addEventListener("click", (event) => {
  const link = event.target.closest("[data-more]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  more(link);
});
