// What became of intents, read from frames, as `why --intent` tells it.

import { differences, jsonText, numberOf } from "./json.js";
import { isAbout, takingKinds } from "./filters.js";
import { FrameRun } from "./run.js";

/** Returns the frames that changed which intents are conflicted, as far as `isWanted` says.
    @param {import("./source.js").State} start
    @param {any[]} frames
    @param {(old: Set<string>, now: Set<string>) => boolean} isWanted */
function conflictChanges(start, frames, isWanted) {
  const places = [];
  const run = new FrameRun(/** @type {any} */ ({ conflicted: start.conflicted }));
  const conflicted = () => new Set(run.state.conflicted.map(jsonText));
  const about = (/** @type {any[]} */ patch = []) =>
    patch.filter(({ path }) => path.startsWith("/conflicted"));
  for (let index = 0; index < frames.length; index += 1) {
    run.apply(about(frames[index].skipped), 0);
    const patch = about(frames[index].patch);
    if (patch.length === 0) continue;
    const old = conflicted();
    run.apply(patch, 0);
    if (isWanted(old, conflicted())) places.push(index);
  }
  return places;
}

/** Returns the frames where the intent became conflicted or applied again.
    @param {import("./source.js").State} start
    @param {any[]} frames
    @param {string} intent */
export function conflictPlaces(start, frames, intent) {
  return conflictChanges(start, frames, (old, now) => old.has(intent) !== now.has(intent));
}

/** Returns the frames where an intent became conflicted.
    @param {import("./source.js").State} start
    @param {any[]} frames */
export function newConflicts(start, frames) {
  return conflictChanges(start, frames, (old, now) => [...now].some((one) => !old.has(one)));
}

/** Returns the indices of the frames that add a fault.
    @param {{patch: import("./json.js").PatchOperation[]}[]} frames */
export function newFaults(frames) {
  return frames.flatMap(({ patch }, index) =>
    patch.some(({ path }) => path === "/faults") ? [index] : [],
  );
}

/** @param {string} intent
    @param {any[]} entries
    @param {number} recorded the index of its own entry
    @param {import("./recorders.js").Recorders} recorders
    @param {number[]} conflicts
    @param {(index: number) => any} around
    @param {string} state at the end
    @param {any} attempt
    @returns {import("./source.js").Story} */
export function readStory(intent, entries, recorded, recorders, conflicts, around, state, attempt) {
  const places = new Set(conflicts.filter((index) => index >= recorded));
  for (let index = recorded; index < entries.length; index += 1) {
    if (isAbout(entries[index], intent, recorders)) places.add(index);
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

/** Returns the state of each intent after the last entry.
    @param {any[]} entries
    @param {import("./recorders.js").Recorders} recorders
    @param {import("./source.js").State} end */
export function endStates(entries, recorders, end) {
  /** @type {Map<string, string>} */
  const states = new Map();
  let through = 0;
  for (const entry of entries) {
    const number = jsonText(entry.intent ?? null);
    if (entry.kind === "intent" || entry.kind === "restored") states.set(number, "pending");
    if (entry.kind === "acknowledged") states.set(number, "confirmed");
    if (entry.kind === "rejected") states.set(number, "rejected");
    else if (takingKinds.includes(entry.kind)) states.set(number, "withdrawn");
    if (entry.replaces !== undefined) states.set(jsonText(entry.replaces), "withdrawn");
    for (const { origin, position } of entry.events ?? []) {
      const own = jsonText(origin?.intent ?? null);
      if (!states.has(own) || !recorders.isOwn(origin)) continue;
      // An event that came before confirms only an intent that is not settled (F6).
      if (numberOf(position) > through || states.get(own) === "pending")
        states.set(own, "confirmed");
    }
    if (entry.kind === "confirmed") through = Math.max(through, numberOf(entry.through));
  }
  for (const number of end.pending) states.set(jsonText(number), "pending");
  for (const number of end.accepted) states.set(jsonText(number), "accepted");
  return states;
}

/** Learns from batches that confirm intents of the overlay which replica recorded these intents. A
    page with some entries may lack the entries that recorded them.
    @param {import("./source.js").State} start
    @param {any[]} frames
    @param {any[]} entries
    @param {import("./recorders.js").Recorders} recorders */
export function noteSettled(start, frames, entries, recorders) {
  const { pending, accepted } = start;
  const run = new FrameRun(/** @type {any} */ ({ pending, accepted }));
  const about = (/** @type {any[]} */ patch = []) =>
    patch.filter(({ path }) => /^\/(pending|accepted)(\/|$)/.test(path));
  const overlay = () => new Set([...run.state.pending, ...run.state.accepted].map(jsonText));
  for (let index = 0; index < Math.min(frames.length, entries.length); index += 1) {
    run.apply(about(frames[index].skipped), 0);
    const patch = about(frames[index].patch);
    if (patch.length === 0) continue;
    const before = overlay();
    run.apply(patch, 0);
    const after = overlay();
    const origins = (entries[index].events ?? []).map((/** @type {any} */ one) => one.origin);
    for (const key of before) {
      if (after.has(key)) continue;
      const replicas = new Set(
        origins
          .filter((/** @type {any} */ one) => one && jsonText(one.intent) === key)
          .map((/** @type {any} */ one) => one.replica),
      );
      if (replicas.size === 1) recorders.add(Number(key), [...replicas][0]);
    }
  }
}
