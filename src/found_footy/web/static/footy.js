// What all pages share: times in the reader's zone, and keys that press buttons.

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

function isTyping(target) {
  return target.closest("input, select, textarea, [contenteditable]") !== null;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const key = CSS.escape(event.key.toLowerCase());
  const target = document.querySelector(`[data-key="${key}"]`);
  if (!target) return;
  event.preventDefault();
  if (target.matches("input, select, textarea")) target.focus();
  else target.click();
});

localTimes(document);
