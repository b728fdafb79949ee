// The large picture: films that are loaded before they are wanted, frames by number, and stills while one scrubs.

import { paint, preloadSheets } from "./review_sheets.js";

const DRAG_PIXELS = 4; // less than that is a click
const HAS_FRAMES = "requestVideoFrameCallback" in HTMLVideoElement.prototype;

export class Stage {
  #root;
  #films;
  #still;
  #timeline;
  #onFrame;
  #pool = new Map(); // of videos by their clip's id
  #clip = null;
  #rate = 25;
  #frame = 0;
  #hover = null;
  #wanted = null; // a second to seek to, once the film has come to rest
  #playing = false;
  #muted = true;

  constructor(root, timeline, onFrame) {
    this.#root = root;
    this.#films = root.querySelector("[data-films]");
    this.#still = root.querySelector("[data-still]");
    this.#timeline = timeline;
    this.#onFrame = onFrame;
    this.#listen(root, () => !this.#playing);
    this.#listen(timeline, () => true);
    root.addEventListener("click", () => this.#clip && this.#dragged === false && this.toggle());
  }

  get clip() {
    return this.#clip;
  }

  get frame() {
    return this.#frame;
  }

  /** The frame that one sees: the one under a mouse that scrubs, else the one where the film is. Keys act upon it. */
  get shown() {
    return this.#hover ?? this.#frame;
  }

  get frames() {
    return this.#clip ? this.#clip.end - this.#clip.first : 0;
  }

  get playing() {
    return this.#playing;
  }

  get film() {
    return this.#clip ? (this.#pool.get(this.#clip.id) ?? null) : null;
  }

  // --- which clip

  /** Films of these are loaded now; those of all others are given up. */
  prepare(clips) {
    const wanted = new Set(clips.map((clip) => clip.id));
    for (const [id, video] of this.#pool) {
      if (wanted.has(id) || id === this.#clip?.id) continue;
      video.removeAttribute("src");
      video.load();
      video.remove();
      this.#pool.delete(id);
    }
    for (const clip of clips) {
      preloadSheets(clip);
      this.#load(clip);
    }
  }

  #load(clip) {
    if (!clip.film || this.#pool.get(clip.id)?.dataset.address === clip.film.url) return;
    this.#pool.get(clip.id)?.remove();
    const video = document.createElement("video");
    Object.assign(video, { preload: "auto", playsInline: true, muted: true, tabIndex: -1, hidden: true });
    video.dataset.address = clip.film.url;
    video.src = clip.film.url;
    const mine = () => this.film === video;
    video.addEventListener("loadedmetadata", () => {
      if (mine()) this.#toFrame();
      else video.currentTime = (clip.film.first + 0.5) / clip.rate; // so that its first frame is there when it is wanted
    });
    video.addEventListener("loadeddata", () => mine() && this.#draw());
    video.addEventListener("seeked", () => mine() && this.#rested(video));
    video.addEventListener("error", () => mine() && this.#draw());
    video.addEventListener("ended", () => mine() && this.#playing && this.#again(video));
    if (!HAS_FRAMES) video.addEventListener("timeupdate", () => mine() && this.#follow(video, video.currentTime));
    this.#pool.set(clip.id, video);
    this.#films.append(video);
  }

  /** Shows a clip from its first frame on, or from a given one. Nothing where there is none. */
  show(clip, frame = 0) {
    const same = clip && this.#clip && clip.id === this.#clip.id && clip.film?.url === this.#clip.film?.url;
    this.#clip = clip;
    this.#rate = clip?.rate ?? 25;
    if (same) return this.#draw();
    for (const video of this.#pool.values()) {
      if (!video.paused) video.pause();
      video.hidden = true;
    }
    this.#hover = null;
    this.#wanted = null;
    this.#frame = frame;
    if (!clip) return this.#draw();
    preloadSheets(clip);
    this.#load(clip);
    const video = this.film;
    if (video) {
      video.hidden = false;
      video.muted = this.#muted;
      if (video.readyState >= 1) this.#toFrame();
      if (this.#playing) this.#run(video);
    }
    this.#draw();
    this.#told();
  }

  // --- which frame

  step(frames) {
    this.pause();
    this.seek(this.shown + frames);
  }

  seek(frame) {
    if (!this.#clip) return;
    this.#hover = null; // the mouse rests where it was: it says something again when it moves
    this.#frame = Math.max(0, Math.min(this.frames - 1, Math.round(frame)));
    this.#toFrame();
    this.#draw();
    this.#told();
  }

  #toFrame() {
    const video = this.film;
    if (!video || video.readyState < 1) return;
    // In the middle of the frame's time: at its edge it would be a matter of rounding which one is shown.
    const second = (this.#clip.film.first + this.#frame + 0.5) / this.#rate;
    // `seeking` ends before "seeked" is dispatched: drop the older target, or #rested would go back to it.
    this.#wanted = video.seeking ? second : null;
    if (!video.seeking && Math.abs(video.currentTime - second) > 0.25 / this.#rate) video.currentTime = second;
  }

  #rested(video) {
    if (this.#wanted !== null) {
      [video.currentTime, this.#wanted] = [this.#wanted, null];
    }
    this.#draw();
  }

  // --- playing

  toggle() {
    if (this.#playing) this.pause();
    else this.play();
  }

  /** On from what one sees. */
  play() {
    this.#playing = true;
    if (this.#hover !== null) this.seek(this.#hover);
    if (this.film) this.#run(this.film);
    this.#told();
  }

  pause() {
    this.#playing = false;
    this.film?.pause();
    this.#told();
  }

  mute(muted) {
    this.#muted = muted;
    if (this.film) this.film.muted = muted;
  }

  #run(video) {
    video.play().catch(() => {});
    if (!HAS_FRAMES || video.dataset.followed) return;
    video.dataset.followed = "yes";
    const next = (_, { mediaTime }) => {
      if (this.film === video && this.#playing) this.#follow(video, mediaTime);
      video.requestVideoFrameCallback(next);
    };
    video.requestVideoFrameCallback(next);
  }

  #follow(video, second) {
    const frame = Math.floor(second * this.#rate + 0.01) - this.#clip.film.first;
    if (frame >= this.frames) return this.#again(video);
    this.#frame = Math.max(0, frame);
    this.#draw();
    this.#told();
  }

  /** From the start: a clip is watched in a loop. */
  #again(video) {
    this.#frame = 0;
    video.currentTime = (this.#clip.film.first + 0.5) / this.#rate;
    video.play().catch(() => {});
  }

  // --- scrubbing

  #dragged = false;

  #listen(element, mayHover) {
    let from = null;
    let rests = ""; // browsers also tell of a mouse that has not moved, when the page moves beneath it
    element.addEventListener("pointerdown", (event) => {
      if (event.button || !this.#clip) return;
      from = event.clientX;
      this.#dragged = false;
      element.setPointerCapture(event.pointerId);
      if (element === this.#timeline) this.#scrub(element, event);
    });
    element.addEventListener("pointermove", (event) => {
      const place = `${event.clientX} ${event.clientY}`;
      if (!this.#clip || place === rests) return;
      rests = place;
      if (from !== null && (this.#dragged || Math.abs(event.clientX - from) > DRAG_PIXELS)) {
        this.#dragged = true;
        this.#scrub(element, event);
      } else if (from === null && event.pointerType === "mouse" && mayHover()) this.#peek(this.#at(element, event));
    });
    const end = (event) => {
      if (from === null) return;
      from = null;
      if (this.#dragged || element === this.#timeline) this.seek(this.#at(element, event));
    };
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
    element.addEventListener("pointerleave", () => {
      rests = "";
      if (from === null) this.#peek(null);
    });
  }

  #at(element, { clientX }) {
    const { left, width } = element.getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (clientX - left) / width));
    return Math.min(this.frames - 1, Math.floor(share * this.frames));
  }

  #scrub(element, event) {
    if (this.#playing) this.pause();
    const frame = this.#at(element, event);
    this.#frame = frame;
    this.#peek(frame);
    this.#toFrame();
    this.#told();
  }

  /** A look at another frame, without going there. */
  #peek(frame) {
    if (this.#hover === frame) return;
    this.#hover = frame;
    this.#draw();
    this.#told();
  }

  // --- what is on the screen

  #draw() {
    const video = this.film;
    const filmed = video !== null && video.readyState >= 2 && !(video.seeking && video.paused && this.#wanted !== null);
    const still = this.#clip !== null && (this.#hover !== null || !filmed);
    this.#still.hidden = !still;
    const painted = still && paint(this.#still, this.#clip, this.shown, () => this.#draw());
    this.#root.toggleAttribute("data-broken", Boolean(video?.error));
    const seen = this.#clip && (painted || (!still && filmed)) ? String(this.#clip.id) : "";
    if (this.#root.dataset.shown !== seen) this.#root.dataset.shown = seen;
  }

  #told() {
    const [clip, frame, frames, rate] = [this.#clip, this.#frame, this.frames, this.#rate];
    this.#onFrame({ clip, frame, frames, hover: this.#hover, playing: this.#playing, rate });
  }
}
