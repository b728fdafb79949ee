// Film strip: clips of a source with their states, for navigation and selection.

import { paint } from "./review_sheets.js";
import { clock } from "./review_format.js";

const MARKS = {
  pending_review: "", edit_pending: "✂", spliced: "…", generating_sprite: "…", review_approved: "✓", keyframing: "✓",
  keyframed: "✓", embedding: "✓", embedded: "✓", review_skipped: "↷", review_archived: "✕", cleaning: "✕",
  archived: "✕", cleaning_failed: "✕",
};

export class Strip {
  #root;
  #tiles = new Map(); // elements by clip id
  #shown = null;

  /** `go(clip, extend)` is called for a chosen clip; `extend` adds it to the selection. */
  constructor(root, board, go) {
    this.#root = root;
    root.addEventListener("pointerdown", (event) => event.preventDefault()); // keep the focus
    root.addEventListener("click", (event) => {
      const clip = this.#clipOf(board, event.target);
      if (clip) go(clip, event.shiftKey);
    });
    root.addEventListener("pointermove", (event) => {
      const clip = event.pointerType === "mouse" && this.#clipOf(board, event.target);
      if (!clip) return;
      const tile = this.#tiles.get(clip.id);
      const { left, width } = tile.getBoundingClientRect();
      const share = Math.max(0, Math.min(0.999, (event.clientX - left) / width));
      paint(tile.querySelector("canvas"), clip, Math.floor(share * (clip.end - clip.first)));
    });
    root.addEventListener("pointerout", (event) => {
      const clip = this.#clipOf(board, event.target);
      if (clip) paint(this.#tiles.get(clip.id).querySelector("canvas"), clip, 0);
    });
  }

  #clipOf(board, target) {
    const tile = target.closest?.("[data-tile]");
    return tile ? (board.get(Number(tile.dataset.tile)) ?? null) : null;
  }

  draw(clips, current, selection, rate) {
    const gone = new Set(this.#tiles.keys());
    let last = null;
    for (const clip of clips) {
      const tile = this.#tiles.get(clip.id) ?? this.#make(clip);
      gone.delete(clip.id);
      this.#update(tile, clip, current, selection, rate);
      const place = last ? last.nextElementSibling : this.#root.firstElementChild;
      if (place !== tile) this.#root.insertBefore(tile, place);
      last = tile;
    }
    for (const id of gone) {
      this.#tiles.get(id).remove();
      this.#tiles.delete(id);
    }
    if (current && this.#shown !== current.id) this.#reveal(this.#tiles.get(current.id));
    this.#shown = current?.id ?? null;
  }

  #make(clip) {
    const tile = document.createElement("div");
    tile.className = "tile";
    tile.dataset.tile = clip.id;
    tile.setAttribute("role", "option");
    const canvas = document.createElement("canvas");
    canvas.setAttribute("aria-hidden", "true");
    const [mark, length, left] = ["mark", "length", "left"].map((name) => {
      const part = document.createElement("span");
      part.className = name;
      part.setAttribute("aria-hidden", "true");
      return part;
    });
    tile.append(canvas, mark, length, left);
    this.#tiles.set(clip.id, tile);
    return tile;
  }

  #update(tile, clip, current, selection, rate) {
    const is = clip.id === current?.id;
    tile.dataset.state = clip.state;
    tile.toggleAttribute("data-current", is);
    tile.toggleAttribute("data-mine", clip.claimed === "me");
    tile.toggleAttribute("data-taken", clip.claimed === "other");
    tile.tabIndex = is ? 0 : -1;
    tile.setAttribute("aria-selected", String(selection.has(clip.id)));
    const from = clock(clip.first / rate);
    const taken = clip.claimed === "other" ? ", claimed by another reviewer" : "";
    tile.setAttribute("aria-label", `Clip at ${from}, ${clip.words}${taken}${is ? ", shown" : ""}`);
    const fate = clip.state === "edit_pending" ? "final when the undo period ends" : clip.words;
    tile.title = `${from} · ${fate}${taken}`;
    tile.querySelector(".mark").textContent = MARKS[clip.state] ?? "!";
    tile.querySelector(".length").textContent = `${((clip.end - clip.first) / rate).toFixed(1)} s`;
    const left = tile.querySelector(".left");
    left.dataset.until = clip.state === "edit_pending" ? (clip.settles_at ?? "") : "";
    if (!left.dataset.until) left.textContent = "";
    paint(tile.querySelector("canvas"), clip, 0);
  }

  focus(clip) {
    this.#tiles.get(clip.id)?.focus();
  }

  get hasFocus() {
    return this.#root.contains(document.activeElement);
  }

  /** Scroll the tile to the middle of the strip, without scrolling the page. */
  #reveal(tile) {
    if (!tile) return;
    this.#root.scrollLeft = tile.offsetLeft - (this.#root.clientWidth - tile.offsetWidth) / 2;
  }
}
