// Shared by all pages: local times, keyboard shortcuts and dialogs.

const STYLES = {
  time: { hour: "2-digit", minute: "2-digit" },
  date: { day: "numeric", month: "short", year: "numeric" },
  both: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" },
};

export function localTimes(root) {
  for (const each of root.querySelectorAll("time[data-style]")) {
    const at = new Date(each.dateTime);
    each.textContent = new Intl.DateTimeFormat(undefined, STYLES[each.dataset.style]).format(at);
    each.title = at.toISOString();
  }
}

// Whether a key event is for the page, not for a field, a player, an open dialog or the browser.
export function isFree(event) {
  return (
    !event.defaultPrevented && !event.ctrlKey && !event.metaKey && !event.altKey &&
    !event.target.closest?.("input, select, textarea, video, audio, [contenteditable]") &&
    !document.querySelector("dialog[open]")
  );
}

// `data-key="s"`, or alternatives: `data-key="arrowleft ["`.
document.addEventListener("keydown", (event) => {
  if (!isFree(event)) return;
  const target = document.querySelector(`[data-key~="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!target || event.key === " ") return;
  event.preventDefault();
  if (target.matches("input, select, textarea")) target.focus();
  else target.click();
});

// `<button data-dialog="keys">` opens the dialog of that id; a click beside a dialog closes it.
document.addEventListener("click", (event) => {
  const opener = event.target.closest?.("[data-dialog]");
  if (opener) document.getElementById(opener.dataset.dialog).showModal();
  else if (event.target instanceof HTMLDialogElement && isBeside(event)) event.target.close();
});

function isBeside({ target, clientX: x, clientY: y }) {
  const box = target.getBoundingClientRect();
  return x < box.left || x > box.right || y < box.top || y > box.bottom;
}

// On a narrow screen the navigation scrolls.
document.querySelector(".top nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });

for (const each of document.querySelectorAll("[data-dialog]")) each.hidden = false;
localTimes(document);
