// The states of a log: windows of frames, and the state before and after each of their entries.

import { numberOf } from "./json.js";
import { BoundedCache, lowerBound } from "./source.js";
import { FrameRun } from "./run.js";

/** An entry with the states around it. For the place before the first entry, `entry` is null. It has
    the sequence of its state, which is not 0 in a page that starts in the middle of a log.
    @typedef {{sequence: number, entry: any, before: import("./source.js").State,
      after: import("./source.js").State, others: import("./source.js").Other[],
      window: FrameWindow, index: number}} Moment */

/** Returns the states around a moment, as places of the page mean them.
    @param {Moment} moment */
export function statesOf({ before, after }) {
  return [after.view, after.confirmed, before.view, before.confirmed];
}

const snapshotEvery = 25;
const windowsMax = 4;

/** Frames in a row with their states. */
export class FrameWindow {
  /** @param {import("./source.js").Frames} frames */
  constructor({ state, frames, previous }) {
    this.state = state;
    this.frames = frames;
    this.previous = previous;
    /** The states after every 25th frame, as far as they were needed.
        @type {Map<number, import("./source.js").State>} */
    this.snapshots = new Map();
  }

  get first() {
    return this.frames[0]?.entry.sequence ?? 0;
  }

  get last() {
    return this.frames.at(-1)?.entry.sequence ?? 0;
  }

  /** @param {number} sequence */
  indexOf(sequence) {
    return this.frames.findIndex((frame) => frame.entry.sequence === sequence);
  }

  /** Returns the states around a frame.
      @param {number} index */
  around(index) {
    let place = index - 1;
    while (place >= 0 && !this.snapshots.has(place)) place -= 1;
    const run = new FrameRun(this.snapshots.get(place) ?? this.state);
    for (let next = place + 1; next < index; next += 1) {
      run.step(this.frames[next], this.sequenceBefore(next));
      if (next % snapshotEvery === snapshotEvery - 1) this.snapshots.set(next, run.kept());
    }
    const frame = this.frames[index];
    run.skip(frame, this.sequenceBefore(index));
    const before = run.kept();
    run.apply(frame.patch, frame.entry.sequence);
    return { before, after: run.kept() };
  }

  /** @param {number} index */
  sequenceBefore(index) {
    return index > 0 ? this.frames[index - 1].entry.sequence : this.previous;
  }
}

/** Finds moments, and keeps a few windows. */
export class History {
  /** @param {import("./source.js").Source} source */
  constructor(source) {
    this.source = source;
    /** @type {BoundedCache<FrameWindow>} */
    this.windows = new BoundedCache(windowsMax);
  }

  /** Returns frames around an entry. The window stays the same while the entry is well inside.
      @param {string} projection
      @param {number} sequence */
  async window(projection, sequence) {
    for (const [key, window] of this.windows.values) {
      if (key.startsWith(`${projection} `) && this.isInside(window, sequence)) {
        return this.windows.get(key) ?? window;
      }
    }
    const window = new FrameWindow(await this.source.frames(projection, sequence));
    this.windows.set(`${projection} ${window.first}`, window);
    return window;
  }

  /** @param {FrameWindow} window
      @param {number} sequence */
  isInside(window, sequence) {
    const index = window.indexOf(sequence);
    const margin = 40;
    return (
      index >= 0 &&
      (index >= margin || window.first <= this.source.first) &&
      (index < window.frames.length - margin || window.last >= this.source.last)
    );
  }

  /** Returns an entry with the states around it. If no entry has this sequence, the
      entry before it counts.
      @param {string} projection
      @param {number} sequence
      @returns {Promise<Moment>} */
  async at(projection, sequence) {
    const { first, last } = this.source;
    const wanted = Math.min(Math.max(sequence, 0), last);
    const window = await this.window(projection, Math.max(wanted, first));
    const { frames } = window;
    let index = lowerBound(frames.length, (at) => frames[at].entry.sequence, wanted + 1) - 1;
    if (index < 0 && wanted > first) index = 0;
    if (index < 0 || window.frames.length === 0) {
      const state = window.state;
      return {
        sequence: numberOf(state?.sequence ?? 0),
        entry: null,
        before: state,
        after: state,
        others: [],
        window,
        index: -1,
      };
    }
    const { entry, others } = window.frames[index];
    return {
      sequence: entry.sequence,
      entry,
      ...window.around(index),
      others: others ?? [],
      window,
      index,
    };
  }

  /** Returns the sequence of the entry before or after another; null if there is none. Before the
      first entry is the place where the page starts.
      @param {Moment} moment
      @param {number} direction -1 or 1 */
  async neighbor(moment, direction) {
    const index = moment.index + direction;
    const inWindow = moment.window.frames[index]?.entry.sequence;
    if (inWindow !== undefined) return inWindow;
    if (direction < 0 && moment.entry === null) return null;
    if (direction < 0 && moment.sequence <= this.source.first) return 0;
    if (direction > 0 && moment.sequence >= this.source.last) return null;
    const offset = await this.source.place({}, moment.sequence);
    const { rows } = await this.source.rows({}, offset + direction, 1, "");
    return rows[0]?.entry.sequence ?? null;
  }

  /** Forgets windows at the end of the log, because the log has grown. */
  grew() {
    for (const [key, window] of this.windows.values) {
      if (window.frames.length < 300) this.windows.delete(key);
    }
  }
}
