// Which replica recorded which intents. An imported log, or a copy, continues as another replica.

import { lowerBound } from "./source.js";
import { keyOf } from "./words.js";

/** Knows the replicas of a log from the intents that it was told of. Numbers rise, and a replica
    does not come back, so between two intents of a replica all intents are of that replica. */
export class Recorders {
  /** @param {() => any} status the status of the log */
  constructor(status) {
    this.status = status;
    /** @type {{first: number, last: number, replica: string}[]} */
    this.runs = [];
  }

  /** Takes what an entry says about its recorder.
      @param {any} entry */
  note(entry) {
    if (entry.kind === "intent" && typeof entry.replica === "string")
      this.add(Number(keyOf(entry.intent)), entry.replica);
  }

  /** @param {number} number
      @param {string} replica */
  add(number, replica) {
    const index = this.indexOf(number);
    const [before, after] = [this.runs[index], this.runs[index + 1]];
    if (before?.replica === replica) before.last = Math.max(before.last, number);
    else if (after?.replica === replica) after.first = number;
    else this.runs.splice(index + 1, 0, { first: number, last: number, replica });
  }

  /** Returns the index of the last run that starts at an intent or before it; -1 if none does.
      @param {number} number */
  indexOf(number) {
    return lowerBound(this.runs.length, (index) => this.runs[index].first, number + 1) - 1;
  }

  /** Returns the replicas that may have recorded an intent of the log.
      @param {number} number */
  candidates(number) {
    const index = this.indexOf(number);
    const before = this.runs[index];
    if (before && number <= before.last) return [before.replica];
    const after = this.runs[index + 1]?.replica ?? this.status().replica;
    return before && before.replica !== after ? [before.replica, after] : [after];
  }

  /** Whether it is known which replica recorded an intent.
      @param {number} number */
  isSure(number) {
    const isAfterOne = this.runs.length > 0 && this.runs[0].first <= number;
    return isAfterOne && this.candidates(number).length === 1;
  }

  /** Returns whether an event of a batch names an intent of this log.
      @param {any} origin */
  isOwn(origin) {
    if (origin === undefined || origin === null) return false;
    const number = Number(keyOf(origin.intent));
    const next = this.status().nextIntent;
    if (next !== undefined && number >= Number(keyOf(next))) return false;
    return this.candidates(number).includes(origin.replica);
  }

  /** Returns the numbers of this log's intents that an entry records, answers or names.
      @param {any} entry
      @returns {any[]} */
  ownIntents(entry) {
    if (entry.kind !== "confirmed") return entry.intent === undefined ? [] : [entry.intent];
    return (entry.events ?? [])
      .filter((/** @type {any} */ event) => this.isOwn(event.origin))
      .map((/** @type {any} */ event) => event.origin.intent);
  }
}
