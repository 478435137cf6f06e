// The story of an intent, read from frames, as `why --intent` tells it.

import { differences, jsonText } from "./json.js";
import { isAbout } from "./filters.js";
import { FrameRun } from "./run.js";

/** Returns the frames where the intent became conflicted or applied again.
    @param {import("./source.js").State} start
    @param {any[]} frames
    @param {string} intent */
export function conflictPlaces(start, frames, intent) {
  const places = [];
  const run = new FrameRun(/** @type {any} */ ({ conflicted: start.conflicted }));
  const isConflicted = () => run.state.conflicted.some((number) => jsonText(number) === intent);
  const about = (/** @type {any[]} */ patch) =>
    patch.filter(({ path }) => path.startsWith("/conflicted"));
  let was = isConflicted();
  for (let index = 0; index < frames.length; index += 1) {
    const { patch, skipped } = frames[index];
    run.apply(about(skipped ?? []), 0);
    was = isConflicted();
    run.apply(about(patch), 0);
    if (isConflicted() !== was) places.push(index);
  }
  return places;
}

/** @param {string} intent
    @param {any[]} entries
    @param {number} recorded the index of its own entry
    @param {number[]} conflicts
    @param {(index: number) => any} around
    @param {string} state at the end
    @param {any} attempt
    @returns {import("./source.js").Story} */
export function readStory(intent, entries, recorded, conflicts, around, state, attempt) {
  const replica = entries[recorded].replica;
  const places = new Set(conflicts.filter((index) => index >= recorded));
  for (let index = recorded; index < entries.length; index += 1) {
    if (isAbout(entries[index], intent, replica)) places.add(index);
  }
  const chapters = [...places]
    .sort((a, b) => a - b)
    .map((index) => {
      const { before, after, frame } = around(index);
      const has = (/** @type {any[]} */ numbers) =>
        numbers.some((number) => jsonText(number) === intent);
      return {
        entry: frame.entry,
        changes: differences(before.view, after.view),
        others: (frame.others ?? []).filter(
          (/** @type {any} */ other) => Number(jsonText(other.intent)) > Number(intent),
        ),
        conflict: has(after.conflicted) ? (after.reasons?.[intent] ?? "") : undefined,
        state: has(after.pending) ? "pending" : has(after.accepted) ? "accepted" : undefined,
      };
    });
  return { intent, state, chapters, attempt };
}
