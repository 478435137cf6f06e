// The lives of intents in a window of frames, and their places in lanes.

import { numberOf, patched } from "./json.js";
import { takingKinds } from "./filters.js";
import { keyOf } from "./words.js";

/** A part of a life: from one entry to another, by their indexes in the window.
    @typedef {{from: number, to: number, state: string, isConflicted: boolean}} Segment */
/** A life begins and ends at a frame. `isSkipped`: at an entry before the frame, which this page does
    not have.
    @typedef {{intent: any, key: string, segments: Segment[], isEarlier: boolean, isSkipped: boolean,
      entry: any, end: {at: number, how: string, isSkipped: boolean} | null}} Life */

/** @param {import("./json.js").PatchOperation[]} patch */
function aboutOverlay(patch) {
  return patch.filter(({ path }) => /^\/(pending|accepted|conflicted)(\/|$)/.test(path));
}

/** @param {any} overlay */
function statesIn(overlay) {
  const conflicted = new Set(overlay.conflicted.map(keyOf));
  /** @type {Map<string, {number: any, state: string, isConflicted: boolean}>} */
  const states = new Map();
  for (const state of ["pending", "accepted"]) {
    for (const number of overlay[state]) {
      states.set(keyOf(number), { number, state, isConflicted: conflicted.has(keyOf(number)) });
    }
  }
  return states;
}

/** Returns the lives of the intents that are in the overlay somewhere in the window.
    An index of -1 is before the window.
    @param {import("./history.js").FrameWindow} window
    @param {(intent: string) => string | undefined} endOf an intent's state at the end of the log
    @returns {Life[]} */
export function livesIn(window, endOf) {
  const { pending, accepted, conflicted } = window.state;
  let overlay = { pending, accepted, conflicted };
  /** @type {Map<string, Life>} */
  const open = new Map();
  /** @type {Life[]} */
  const lives = [];
  const begin = (
    /** @type {any} */ { number, state, isConflicted },
    /** @type {number} */ at,
    /** @type {any} */ entry,
    isSkipped = false,
  ) => {
    const life = {
      intent: number,
      key: keyOf(number),
      isEarlier: at < 0,
      isSkipped,
      entry,
      end: null,
      segments: [{ from: at, to: at, state, isConflicted }],
    };
    // The state at the end of the log says nothing about an earlier life.
    for (const { key, end } of lives) if (key === life.key && end?.isSkipped) end.how = "settled";
    open.set(life.key, life);
    lives.push(life);
  };
  for (const state of statesIn(overlay).values()) begin(state, -1, null);
  window.frames.forEach((frame, index) => {
    for (const patch of [frame.skipped ?? [], frame.patch]) {
      const isSkipped = patch === frame.skipped;
      const changes = aboutOverlay(patch);
      if (changes.length === 0) continue;
      overlay = patched(overlay, changes, new WeakSet());
      const now = statesIn(overlay);
      for (const [key, life] of open) {
        if (now.has(key)) continue;
        const how = isSkipped ? settledHow(endOf(key)) : endingOf(life, frame.entry);
        lastSegment(life).to = index;
        life.end = { at: index, how, isSkipped };
        open.delete(key);
      }
      for (const [key, state] of now) {
        const life = open.get(key);
        if (!life) begin(state, index, isSkipped ? null : frame.entry, isSkipped);
        else change(life, state, index);
      }
    }
  });
  for (const life of open.values()) lastSegment(life).to = window.frames.length;
  return lives;
}

/** @param {Life} life */
function lastSegment(life) {
  return life.segments[life.segments.length - 1];
}

/** Returns how an entry ended a life.
    @param {Life} life
    @param {any} entry */
function endingOf(life, entry) {
  const isOwn = entry.intent !== undefined && keyOf(entry.intent) === life.key;
  if (isOwn && takingKinds.includes(entry.kind)) return entry.kind;
  const isReplaced = entry.replaces !== undefined && keyOf(entry.replaces) === life.key;
  return isReplaced ? "withdrawn" : "confirmed";
}

/** Returns how an intent ended that an entry settled that this page does not have.
    @param {string | undefined} state of the intent at the end of the log */
function settledHow(state) {
  const isKnown = state !== undefined && ["confirmed", "rejected", "withdrawn"].includes(state);
  return isKnown ? state : "settled";
}

/** @param {Life} life
    @param {{state: string, isConflicted: boolean}} now
    @param {number} index */
function change(life, now, index) {
  const last = lastSegment(life);
  if (last.state === now.state && last.isConflicted === now.isConflicted) return;
  last.to = index;
  life.segments.push({ from: index, to: index, state: now.state, isConflicted: now.isConflicted });
}

/** Distinguishes the lives of one intent, which may be in the overlay again.
    @param {Life} life */
export const lifeName = (life) => `${life.key} ${life.segments[0].from}`;

/** Inserts into a descending list, so that the least can be popped.
    @param {any[]} list
    @param {any} item
    @param {(item: any) => number} rankOf */
function insert(list, item, rankOf) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rankOf(list[middle]) >= rankOf(item)) low = middle + 1;
    else high = middle;
  }
  list.splice(low, 0, item);
}

/** Puts lives in lanes, so that those in a lane do not touch. A life gets the first lane that is
    free.
    @param {Life[]} lives in the order in which they begin
    @param {(life: Life) => [number, number]} extent from and to, in pixels
    @returns {{placed: Map<Life, number>, lanes: number}} */
export function inLanes(lives, extent) {
  /** @type {{lane: number, end: number}[]} */
  const taken = [];
  /** @type {number[]} */
  const free = [];
  const placed = new Map();
  let lanes = 0;
  for (const life of lives) {
    const [from, end] = extent(life);
    while (taken.length > 0 && taken[taken.length - 1].end <= from)
      insert(free, taken.pop()?.lane, (lane) => lane);
    const lane = free.pop() ?? lanes;
    lanes = Math.max(lanes, lane + 1);
    insert(taken, { lane, end }, (one) => one.end);
    placed.set(life, lane);
  }
  return { placed, lanes };
}

/** Describes a life for those who do not see the bar.
    @param {Life} life
    @param {import("./history.js").FrameWindow} window */
export function lifeWords(life, window) {
  const at = (/** @type {number} */ index) => `entry ${window.frames[index]?.entry.sequence}`;
  const from = at(life.segments[0].from);
  const parts = [
    life.isEarlier
      ? "recorded before this window"
      : life.isSkipped
        ? `in the overlay from before ${from}`
        : life.entry?.kind === "intent"
          ? `recorded at ${from}`
          : `in the overlay again from ${from}`,
  ];
  life.segments.slice(1).forEach((segment, index) => {
    const before = life.segments[index];
    if (segment.isConflicted && !before.isConflicted)
      parts.push(`conflicted at ${at(segment.from)}`);
    else if (!segment.isConflicted && before.isConflicted)
      parts.push(`applies again at ${at(segment.from)}`);
    if (segment.state !== before.state) parts.push(`${segment.state} at ${at(segment.from)}`);
  });
  const last = life.segments.at(-1);
  parts.push(
    life.end
      ? `${life.end.how} ${life.end.isSkipped ? "before" : "at"} ${at(life.end.at)}`
      : `still ${last?.state} at the end of the window`,
  );
  return `Intent ${life.key}: ${parts.join(", ")}`;
}

/** Returns where time places an index of the window: between 0 and the number of frames.
    @param {import("./history.js").FrameWindow} window */
export function timeScale(window) {
  const times = window.frames.map((frame) => numberOf(frame.entry.at));
  // Clocks go back. The axis does not.
  for (let index = 1; index < times.length; index += 1)
    times[index] = Math.max(times[index], times[index - 1]);
  const [start, end] = [times[0] ?? 0, times.at(-1) ?? 0];
  const span = Math.max(1, end - start);
  const scale = Math.max(1, times.length - 1) / span;
  return {
    times,
    start,
    place: (/** @type {number} */ time) => (time - start) * scale,
    timeOf: (/** @type {number} */ place) => start + place / scale,
  };
}
