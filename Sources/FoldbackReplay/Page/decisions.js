// What a server decided, beside the entries of a device's log. Each decision stands after an entry.

import { numberOf } from "./json.js";
import { lowerBound } from "./source.js";
import { keyOf } from "./words.js";

/** @typedef {import("./source.js").Decision} Decision */

/** The decisions of a server in order. */
export class Decisions {
  /** @param {import("./recorders.js").Recorders} recorders */
  constructor(recorders) {
    this.recorders = recorders;
    /** @type {Decision[]} */
    this.list = [];
    /** The decisions on intents with a number, of any replica.
        @type {Map<string, Decision[]>} */
    this.numbered = new Map();
  }

  /** Takes the decisions after the first `kept`.
      @param {number} kept
      @param {any[]} more */
  take(kept, more) {
    const read = (/** @type {any} */ one) => ({
      ...one,
      after: numberOf(one.after),
      at: numberOf(one.at),
      position: numberOf(one.position),
    });
    this.list = [...this.list.slice(0, kept), ...more.map(read)];
    this.numbered.clear();
    for (const decision of this.list) {
      if (!decision.origin) continue;
      const key = keyOf(decision.origin.intent);
      const others = this.numbered.get(key);
      if (others) others.push(decision);
      else this.numbered.set(key, [decision]);
    }
  }

  /** The number of decisions whose places stay: the log knows of them, and of all with their
      positions. */
  get settled() {
    const open = this.list.findIndex(({ isKnown }) => !isKnown);
    if (open < 0) return this.list.length;
    return lowerBound(this.list.length, (at) => this.list[at].position, this.list[open].position);
  }

  /** Returns the decisions after an entry and before the next.
      @param {number} sequence
      @param {number} next */
  between(sequence, next) {
    const at = (/** @type {number} */ wanted) =>
      lowerBound(this.list.length, (index) => this.list[index].after, wanted);
    return this.list.slice(at(sequence), at(next));
  }

  /** Returns the decision on an intent of this log.
      @param {string} intent */
  on(intent) {
    return this.numbered.get(intent)?.find(({ origin }) => this.recorders.isOwn(origin));
  }
}

/** Returns the decisions of a window by the index of the frame that they follow; -1 is before the first.
    @param {Decisions} decisions
    @param {import("./history.js").FrameWindow} window
    @returns {Map<number, Decision[]>} */
export function decisionsIn(decisions, window) {
  const { frames } = window;
  const starts = frames.map(({ entry }) => entry.sequence);
  const before = window.previous ?? Math.max(0, window.first - 1);
  /** @type {Map<number, Decision[]>} */
  const found = new Map();
  for (let index = -1; index < frames.length; index += 1) {
    const from = index < 0 ? before : starts[index];
    const some = decisions.between(from, starts[index + 1] ?? Infinity);
    if (some.length > 0) found.set(index, some);
  }
  return found;
}
