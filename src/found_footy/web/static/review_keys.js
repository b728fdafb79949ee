// Keyboard shortcuts of the buttons; ignored in fields and dialogs.

const FIELDS = "input, select, textarea, [contenteditable]";

/** The last argument has the actions without a button. */
export function bindKeys(buttons, handlers, { strip, move, extend, clear, focusTile }) {
  const byKey = new Map();
  for (const [name, button] of buttons) {
    for (const key of JSON.parse(button.dataset.keys)) byKey.set(key, name);
    button.addEventListener("click", (event) => {
      handlers[name](event);
      // After a click, the space bar must play instead of pressing the button again.
      if (event.detail > 0) button.blur();
    });
  }

  function inStrip(event, direction) {
    if (event.shiftKey) extend(direction);
    else {
      move(direction);
      focusTile();
    }
  }

  // Before the shared keys of all pages: `s` differs here.
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.defaultPrevented || event.altKey || document.querySelector("dialog[open]")) return;
    if (target.closest?.(FIELDS)) return;
    const pressed = event.ctrlKey || event.metaKey ? `ctrl+${key.toLowerCase()}` : key;
    const direction = { ArrowLeft: -1, ArrowRight: 1, "{": -1, "}": 1 }[key];
    if (key === "Escape") clear();
    else if (key === "{" || key === "}") extend(direction);
    else if (direction && strip.hasFocus && pressed === key) inStrip(event, direction);
    else {
      const name = byKey.get(pressed) ?? (pressed.length === 1 ? byKey.get(pressed.toLowerCase()) : undefined);
      if (!name) return;
      if (key === " " && target.closest?.("button, a, summary")) return; // the space bar presses it
      // A held key repeats frame steps, never decisions.
      if (!buttons.get(name).disabled && (!event.repeat || direction)) handlers[name](event);
    }
    event.preventDefault();
    event.stopPropagation();
  }, { capture: true });
}
