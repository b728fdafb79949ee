// Clips known to this window. An action is applied optimistically; its response confirms or reverts it.

const LABELS = { approve: "approved", skip: "skipped", archive: "archived", group: "approved" };
const STATES = {
  approve: "review_approved", skip: "review_skipped", archive: "review_archived", group: "review_approved",
};
const APPROVED = [
  "review_approved", "keyframing", "keyframed", "embedding", "embedded", "keyframe_failed", "embedding_failed",
];
// Clips already in these states stay unchanged.
const ALREADY = {
  approve: APPROVED, group: APPROVED, skip: ["review_skipped"],
  archive: ["review_archived", "cleaning", "archived", "cleaning_failed"],
};
const EDITS = ["split", "merge", "move_cut"];
const MAX_CLIPS = 500;
const JUST_EDITED = "just edited, and can still be undone";

export class Board {
  clips = new Map();
  sources = new Map();
  copies = new Map();
  queue = []; // ids, in the order of the server
  #pending = new Set(); // clips with an action in flight: responses about them are outdated
  #temporary = -1;

  // --- lookups

  get(id) {
    return this.clips.get(id);
  }

  /** Known clips of a source, in order. */
  strip(source) {
    return [...this.clips.values()].filter((clip) => clip.source === source).sort((a, b) => a.first - b.first);
  }

  /** Clip that contains this frame of a source. */
  at(source, frame) {
    return this.strip(source).find((each) => each.first <= frame && frame < each.end) ?? null;
  }

  before(clip) {
    return this.strip(clip.source).find((each) => each.end === clip.first) ?? null;
  }

  after(clip) {
    return this.strip(clip.source).find((each) => each.first === clip.end) ?? null;
  }

  /** Next clip of the queue: later in the same source, else the first. */
  following(clip) {
    const waiting = this.queue.map((id) => this.get(id)).filter(Boolean);
    return waiting.find((each) => clip && each.source === clip.source && each.first > clip.first) ?? waiting[0] ?? null;
  }

  /** Clips between two clips of a source, inclusive. */
  between(one, other) {
    const [from, to] = [Math.min(one.first, other.first), Math.max(one.first, other.first)];
    return this.strip(one.source).filter((each) => each.first >= from && each.first <= to);
  }

  /** New end of a selection around this clip after moving by one in that direction. */
  edge(clip, selection, direction) {
    const row = this.strip(clip.source);
    const chosen = row.map((each) => selection.has(each.id));
    const at = row.indexOf(clip);
    const far = chosen[at - 1] ? chosen.indexOf(true) : chosen[at + 1] ? chosen.lastIndexOf(true) : at;
    return row[far + direction] ?? null;
  }

  // --- updates from the server

  /** Merge a snapshot. */
  merge(snapshot) {
    for (const source of snapshot.sources) this.sources.set(source.id, source);
    const fresh = snapshot.clips.filter((clip) => !this.#isAhead(clip));
    for (const clip of fresh) {
      for (const old of this.strip(clip.source)) {
        if (old.id !== clip.id && old.first < clip.end && clip.first < old.end) this.clips.delete(old.id);
      }
      this.clips.set(clip.id, { ...clip, rate: this.sources.get(clip.source)?.rate ?? 25 });
      this.copies.set(clip.id, snapshot.copies[clip.id] ?? []);
    }
  }

  /** Limit memory: drop clips of sources that are neither shown nor queued. */
  forget(source) {
    if (this.clips.size <= MAX_CLIPS) return;
    const wanted = new Set([source, ...this.queue.map((id) => this.get(id)?.source)]);
    for (const [id, clip] of this.clips) {
      if (wanted.has(clip.source) || id < 0 || this.#pending.has(id)) continue;
      this.clips.delete(id);
      this.copies.delete(id);
    }
  }

  takeQueue(ids) {
    this.queue = ids.filter((id) => this.clips.has(id) && !this.#pending.has(id));
  }

  /** Whether this window has an unconfirmed change to the clip. */
  #isAhead(clip) {
    if (this.#pending.has(clip.id)) return true;
    return this.strip(clip.source).some((each) => each.id < 0 && each.first < clip.end && clip.first < each.end);
  }

  // --- actions

  /** Apply an action optimistically. Returns a ticket for `confirm` or `revert`. */
  act({ kind, clips, with: other, at }, settlesAt) {
    const ids = other ? [...clips, other] : clips;
    const before = ids.map((id) => this.get(id));
    const ticket = { before, queue: this.queue, made: [] };
    for (const id of ids) this.#pending.add(id);
    this.queue = this.queue.filter((id) => !ids.includes(id));
    if (EDITS.includes(kind)) this.#cut(ticket, before, at, settlesAt);
    else {
      for (const clip of before) {
        if (ALREADY[kind].includes(clip.state)) continue;
        const changed = { state: STATES[kind], words: LABELS[kind], settles_at: settlesAt, claimed: null };
        this.clips.set(clip.id, { ...clip, ...changed });
      }
    }
    return ticket;
  }

  #cut(ticket, before, at, settlesAt) {
    const parts = [...before].sort((a, b) => a.first - b.first);
    const edges = [parts[0].first, ...(at === undefined ? [] : [at]), parts.at(-1).end];
    const { source } = parts[0];
    const sheets = parts.flatMap((part) => part.sheets);
    for (const part of parts) this.clips.delete(part.id);
    for (let number = 0; number + 1 < edges.length; number += 1) {
      const [first, end] = [edges[number], edges[number + 1]];
      const id = this.#temporary--;
      ticket.made.push(id);
      this.clips.set(id, {
        ...parts[0], id, source, first, end, sheets, state: "edit_pending", words: JUST_EDITED,
        film: { url: `/s/${source}.mp4`, first }, claimed: null, settles_at: settlesAt,
      });
    }
  }

  revert(ticket) {
    this.confirm(ticket);
    for (const clip of ticket.before) this.clips.set(clip.id, clip);
    const back = ticket.queue.filter((id) => ticket.before.some((clip) => clip.id === id));
    this.queue = [...back, ...this.queue.filter((id) => !back.includes(id))];
  }

  /** Accept server data for these clips again. */
  confirm(ticket) {
    for (const clip of ticket.before) this.#pending.delete(clip.id);
    for (const id of ticket.made) this.clips.delete(id);
  }
}
