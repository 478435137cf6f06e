// What a data source offers. The page has two: one reads the blocks of a static file, the other
// asks the inspector. This module has only types and what both share.

import { isObject, numberOf } from "./json.js";

/** The state after an entry, with both sides of the fold and the overlay.
    @typedef {{sequence: number, through: any, view: any, confirmed: any, pending: any[],
      accepted: any[], conflicted: any[], faults: number, reasons: {[intent: string]: string},
      faulted: {entry: number, reason: string}[]}} State */
/** An intent whose effect came out differently.
    @typedef {{intent: any, old: string, new: string}} Other */
/** An entry with the patch from the state before it to the state after it.
    @typedef {{entry: any, patch: import("./json.js").PatchOperation[], others?: Other[],
      skipped?: import("./json.js").PatchOperation[]}} Frame */
/** Frames in a row, and the state before the first. `previous` is the sequence of the frame before.
    @typedef {{state: State, frames: Frame[], previous: number | null}} Frames */
/** @typedef {{entry: any, changes?: number}} Row */
/** @typedef {{count: number, isWhole: boolean, rows: Row[]}} Rows */
/** @typedef {{entry: any, changes: import("./json.js").Difference[], others: Other[],
      conflict?: string, state?: string}} Chapter */
/** @typedef {{intent: any, state: string, chapters: Chapter[], attempt?: any}} Story */
/** @typedef {{entry: any, intents: any[], view?: {old?: any, new?: any},
      confirmed?: {old?: any, new?: any}}} Cause */
/** Where states would differ without an intent. `from` is missing if nowhere, and `to` if the ends
    differ. Of the differences at the end, `first` has a few.
    @typedef {{places: string[], placeCount: number, from?: any, to?: any, conflicts: any[],
      view: {count: number, first: import("./json.js").Difference[]},
      confirmed: {count: number, first: import("./json.js").Difference[]}}} Absence */
/** @typedef {{name: string, text: string}} TextFile */
/** The sequences of rejections, of entries where an intent became conflicted, and of entries with a
    fault, up to the entry `through`. `isOver` if there will not be more, because of damage.
    @typedef {{rejected: number[], conflicted: number[], faulted: number[], through: number,
      isOver: boolean}} Marks */
/** What a server decided, and the entry that it follows. `isKnown`: the log knows of it.
    @typedef {{after: number, at: number, position: number, isKnown: boolean, actor: string,
      outcome: string, origin?: any, event: any, entry: any}} Decision */
/** @typedef {import("./filters.js").Filter} Filter */

/** @typedef {object} Source
    @property {boolean} isLive whether the inspector is there to answer
    @property {any} head
    @property {boolean} isPartial whether the page has only some of the log's entries
    @property {number} count the number of entries that the filters search
    @property {import("./recorders.js").Recorders} recorders
    @property {number} first the first sequence, or 0 if there are no entries
    @property {number} last the last sequence, or 0 if there are no entries
    @property {(filter: Filter, offset: number, count: number, projection: string) => Promise<Rows>} rows
    @property {(filter: Filter, sequence: number) => Promise<number>} place the offset of the first
      matching entry that has this sequence or a higher sequence
    @property {(projection: string, sequence: number) => Promise<Frames>} frames frames around an entry
    @property {(intent: string) => string | undefined} endOf an intent's state after the last entry,
      as far as the page knows it
    @property {(numbers: any[]) => Promise<Map<string, any>>} intents the entries that recorded
      intents, as far as the source has them
    @property {(projection: string, intent: string) => Promise<Story>} story
    @property {(projection: string, intent: string) => Promise<Absence | null>} without what would
      have differed without an intent; null if the source does not know it in advance
    @property {(projection: string, place: string) => Promise<Cause[]>} causes
    @property {(projection: string) => Promise<Marks>} marks
    @property {import("./decisions.js").Decisions | null} decisions of the server whose log is shown,
      too; null if there is none
    @property {() => Promise<any>} verification
    @property {(of: string) => Promise<string | null>} plot
    @property {(form: string, projection: string, filter: Filter, to: number) => Promise<TextFile[]>} exported
    @property {(path: string, body?: any) => Promise<any>} ask a question that only the inspector answers
    @property {(changed: (head: any) => Promise<void>, lost: (reason: string | null) => void) => void} follow */

export const framesMax = 300;
export const framesHop = 100;

/** @param {any} head
    @param {string} name */
export function projectionNamed(head, name) {
  return (
    head.projections.find((/** @type {any} */ one) => one.name === name) ?? head.projections[0]
  );
}

/** Returns what an actor of the log's events is, such as `account`; null if they have no actors.
    @param {any} head
    @returns {string | null} */
export function actorNoun(head) {
  return head.projections[0]?.actors ?? null;
}

/** Returns how many operations of a patch change the view.
    @param {import("./json.js").PatchOperation[]} patch */
export function viewChangeCount(patch) {
  return patch.filter(({ path }) => path === "/view" || path.startsWith("/view/")).length;
}

/** Returns an entry whose numbers are numbers, so that it can be compared and counted.
    @param {any} entry */
export function readEntry(entry) {
  if (!isObject(entry)) throw new TypeError("An entry is not an object.");
  entry.sequence = numberOf(entry.sequence);
  return entry;
}

/** Returns the index of the first item whose sequence is at least `sequence`.
    @param {number} count
    @param {(index: number) => number} sequenceAt
    @param {number} sequence */
export function lowerBound(count, sequenceAt, sequence) {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sequenceAt(middle) < sequence) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Keeps the values that were used last.
    @template V */
export class BoundedCache {
  /** @param {number} max */
  constructor(max) {
    this.max = max;
    /** @type {Map<string, V>} */
    this.values = new Map();
  }

  /** @param {string} key */
  get(key) {
    const value = this.values.get(key);
    if (value === undefined) return undefined;
    this.values.delete(key);
    this.values.set(key, value);
    return value;
  }

  /** @param {string} key
      @param {V} value */
  set(key, value) {
    this.values.delete(key);
    this.values.set(key, value);
    const oldest = this.values.keys().next();
    if (this.values.size > this.max && !oldest.done) this.values.delete(oldest.value);
  }

  /** @param {string} key */
  delete(key) {
    this.values.delete(key);
  }

  clear() {
    this.values.clear();
  }
}
