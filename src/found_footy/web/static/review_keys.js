// One key a deed, as the buttons say it. Keys in fields and dialogs are not ours.

const NOT_OURS = "input, select, textarea, [contenteditable]";

/** `moves` are what keys do that no button has. */
export function listenForKeys(buttons, deeds, { strip, move, extend, clear, focusTile }) {
  const named = new Map();
  for (const [name, button] of buttons) {
    for (const key of JSON.parse(button.dataset.keys)) named.set(key, name);
    button.addEventListener("click", (event) => {
      deeds[name](event);
      // Pressed by a finger or a mouse: the space bar shall play, and not press it once more.
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

  // Before the keys that all pages share: `s` means something else here.
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.defaultPrevented || event.altKey || document.querySelector("dialog[open]")) return;
    if (target.closest?.(NOT_OURS)) return;
    const pressed = event.ctrlKey || event.metaKey ? `ctrl+${key.toLowerCase()}` : key;
    const direction = { ArrowLeft: -1, ArrowRight: 1, "{": -1, "}": 1 }[key];
    if (key === "Escape") clear();
    else if (key === "{" || key === "}") extend(direction);
    else if (direction && strip.hasFocus && pressed === key) inStrip(event, direction);
    else {
      const name = named.get(pressed) ?? (pressed.length === 1 ? named.get(pressed.toLowerCase()) : undefined);
      if (!name) return;
      if (key === " " && target.closest?.("button, a, summary")) return; // it wants its space bar itself
      // A key that is held down repeats frames, never decisions.
      if (!buttons.get(name).disabled && (!event.repeat || direction)) deeds[name](event);
    }
    event.preventDefault();
    event.stopPropagation();
  }, { capture: true });
}
