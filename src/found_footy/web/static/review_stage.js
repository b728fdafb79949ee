// Main player: preloaded videos, seeking by frame number, and stills while scrubbing.

import { paint, preloadSheets } from "./review_sheets.js";

const DRAG_PIXELS = 4; // a shorter movement is a click
const HAS_FRAMES = "requestVideoFrameCallback" in HTMLVideoElement.prototype;

export class Stage {
  #root;
  #films;
  #still;
  #timeline;
  #onFrame;
  #pool = new Map(); // videos by clip id
  #clip = null;
  #rate = 25;
  #frame = 0;
  #hover = null;
  #seekTarget = null; // pending seek target in seconds
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

  /** Visible frame: the hovered one, else that of the video. Keys act on it. */
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

  // --- clips

  /** Preload the videos of these clips, and unload all others. */
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
      else video.currentTime = (clip.film.first + 0.5) / clip.rate; // preload the first frame
    });
    video.addEventListener("loadeddata", () => mine() && this.#draw());
    video.addEventListener("seeked", () => mine() && this.#onSeeked(video));
    video.addEventListener("error", () => mine() && this.#draw());
    video.addEventListener("ended", () => mine() && this.#playing && this.#restart(video));
    if (!HAS_FRAMES) video.addEventListener("timeupdate", () => mine() && this.#follow(video, video.currentTime));
    this.#pool.set(clip.id, video);
    this.#films.append(video);
  }

  /** Show a clip from this frame; null shows nothing. */
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
    this.#seekTarget = null;
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
    this.#notify();
  }

  // --- frames

  step(frames) {
    this.pause();
    this.seek(this.shown + frames);
  }

  seek(frame) {
    if (!this.#clip) return;
    this.#hover = null; // ignore a mouse that does not move
    this.#frame = Math.max(0, Math.min(this.frames - 1, Math.round(frame)));
    this.#toFrame();
    this.#draw();
    this.#notify();
  }

  #toFrame() {
    const video = this.film;
    if (!video || video.readyState < 1) return;
    // The middle of the frame: at its edge, rounding would decide which one is shown.
    const second = (this.#clip.film.first + this.#frame + 0.5) / this.#rate;
    // `seeking` ends before "seeked" is dispatched: drop the older target, or #onSeeked would go back to it.
    this.#seekTarget = video.seeking ? second : null;
    if (!video.seeking && Math.abs(video.currentTime - second) > 0.25 / this.#rate) video.currentTime = second;
  }

  #onSeeked(video) {
    if (this.#seekTarget !== null) {
      [video.currentTime, this.#seekTarget] = [this.#seekTarget, null];
    }
    this.#draw();
  }

  // --- playing

  toggle() {
    if (this.#playing) this.pause();
    else this.play();
  }

  /** Continue from the visible frame. */
  play() {
    this.#playing = true;
    if (this.#hover !== null) this.seek(this.#hover);
    if (this.film) this.#run(this.film);
    this.#notify();
  }

  pause() {
    this.#playing = false;
    this.film?.pause();
    this.#notify();
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
    if (frame >= this.frames) return this.#restart(video);
    this.#frame = Math.max(0, frame);
    this.#draw();
    this.#notify();
  }

  /** Loop to the start of the clip. */
  #restart(video) {
    this.#frame = 0;
    video.currentTime = (this.#clip.film.first + 0.5) / this.#rate;
    video.play().catch(() => {});
  }

  // --- scrubbing

  #dragged = false;

  #listen(element, mayHover) {
    let from = null;
    let rests = ""; // browsers also report a mouse that has not moved when the page scrolls
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
      } else if (from === null && event.pointerType === "mouse" && mayHover()) this.#preview(this.#at(element, event));
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
      if (from === null) this.#preview(null);
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
    this.#preview(frame);
    this.#toFrame();
    this.#notify();
  }

  /** Preview a frame without seeking. */
  #preview(frame) {
    if (this.#hover === frame) return;
    this.#hover = frame;
    this.#draw();
    this.#notify();
  }

  // --- rendering

  #draw() {
    const video = this.film;
    const filmed = video !== null && video.readyState >= 2 && !(video.seeking && video.paused && this.#seekTarget !== null);
    const still = this.#clip !== null && (this.#hover !== null || !filmed);
    this.#still.hidden = !still;
    const painted = still && paint(this.#still, this.#clip, this.shown, () => this.#draw());
    this.#root.toggleAttribute("data-broken", Boolean(video?.error));
    const seen = this.#clip && (painted || (!still && filmed)) ? String(this.#clip.id) : "";
    if (this.#root.dataset.shown !== seen) this.#root.dataset.shown = seen;
  }

  #notify() {
    const [clip, frame, frames, rate] = [this.#clip, this.#frame, this.frames, this.#rate];
    this.#onFrame({ clip, frame, frames, hover: this.#hover, playing: this.#playing, rate });
  }
}
