// The events of a window by who caused them, in a bounded number of lanes.

import { counted } from "./dom.js";
import { compareNames } from "./json.js";
import { attributedEvents, originWords, outcomeCounts, outcomeWords, plain, worstFirst, worstOutcome } from "./words.js";

const replicasMax = 5;
const cellEventsMax = 8;

/** The shape of a mark around a place, and the line in it.
    @type {{[outcome: string]: (x: number, y: number, r: number) => [string, string]}} */
export const laneShapes = {
  accepted: (x, y, r) => [
    `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
    `M${x - r * 0.5} ${y + r * 0.05}l${r * 0.35} ${r * 0.35}l${r * 0.65} ${-r * 0.7}`,
  ],
  reworded: (x, y, r) => [
    `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
    `M${x - r * 0.6} ${y + r * 0.15}q${r * 0.3} ${-r * 0.6} ${r * 0.6} ${-r * 0.15}t${r * 0.6} ${-r * 0.15}`,
  ],
  rejected: (x, y, r) => [
    `M${x} ${y - r * 1.4}l${r * 1.4} ${r * 1.4}l${-r * 1.4} ${r * 1.4}l${-r * 1.4} ${-r * 1.4}z`,
    `M${x - r * 0.4} ${y - r * 0.4}l${r * 0.8} ${r * 0.8}m0 ${-r * 0.8}l${-r * 0.8} ${r * 0.8}`,
  ],
};

/** The events of a lane in one entry, by the entry's index in the window.
    @typedef {{index: number, events: any[], outcome: string}} Cell */
/** What one actor caused in a window, or what several others did: a lane of others has their names,
    and no name itself.
    @typedef {{name: string | null, names: string[], cells: Map<number, Cell>, events: any[]}} Lane */

/** Returns a lane for each actor in some frames, in the order of the names.
    @param {import("./source.js").Frame[]} frames
    @param {number} start the index of the first frame to look at
    @param {number} end the index after the last
    @returns {Lane[]} */
export function actorLanes(frames, start, end) {
  /** @type {Map<string, Lane>} */
  const lanes = new Map();
  for (let index = Math.max(0, start); index < Math.min(end, frames.length); index += 1) {
    for (const event of attributedEvents(frames[index].entry)) {
      let lane = lanes.get(event.actor);
      if (!lane) {
        lane = { name: event.actor, names: [event.actor], cells: new Map(), events: [] };
        lanes.set(event.actor, lane);
      }
      addToLane(lane, index, event);
    }
  }
  return [...lanes.values()].sort((a, b) => compareNames(a.name ?? "", b.name ?? ""));
}

/** @param {Lane} lane
    @param {number} index
    @param {any} event */
function addToLane(lane, index, event) {
  lane.events.push(event);
  const cell = lane.cells.get(index);
  if (!cell) {
    lane.cells.set(index, { index, events: [event], outcome: event.outcome });
    return;
  }
  cell.events.push(event);
  cell.outcome = worstOutcome([cell, event]) ?? event.outcome;
}

/** Returns at most `max` lanes. If there are more, those with most events stay, and the last lane
    has what the others caused.
    @param {Lane[]} lanes
    @param {number} max
    @returns {Lane[]} */
export function boundedLanes(lanes, max) {
  if (lanes.length <= max) return lanes;
  const busiest = [...lanes].sort((a, b) => b.events.length - a.events.length).slice(0, max - 1);
  const kept = new Set(busiest);
  /** @type {Lane} */
  const others = { name: null, names: [], cells: new Map(), events: [] };
  for (const lane of lanes) {
    if (kept.has(lane)) continue;
    others.names.push(...lane.names);
    for (const { index, events } of lane.cells.values())
      for (const event of events) addToLane(others, index, event);
  }
  return [...lanes.filter((lane) => kept.has(lane)), others];
}

/** @param {Lane} lane
    @param {string} noun */
export function laneName({ name, names }, noun) {
  return name === null ? `${counted(names.length, `other ${noun}`)}` : plain(name);
}

/** Says what a lane has, for those who do not see the marks.
    @param {Lane} lane
    @param {string} noun */
export function laneWords(lane, noun) {
  const replicas = [...new Set(lane.events.flatMap(({ origin }) => origin?.replica ?? []))];
  const shown = replicas.slice(0, replicasMax).map(plain);
  const more = replicas.length - shown.length;
  const from =
    lane.name === null || replicas.length === 0
      ? ""
      : `, from ${replicas.length === 1 ? "replica" : "replicas"} ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return `${laneName(lane, noun)}: ${outcomeCounts(lane.events)}${from}`;
}

/** Says what a lane has in one entry.
    @param {Cell} cell
    @param {Lane} lane
    @param {any} entry */
export function cellWords({ events }, lane, entry) {
  const lines = worstFirst(events)
    .slice(0, cellEventsMax)
    .map((event) => {
      const who = lane.name === null ? `${plain(event.actor)}, ` : "";
      return `${who}${originWords(event)} ${event.outcome}: ${outcomeWords(event)}`;
    });
  const more = events.length - lines.length;
  return [`Entry ${entry.sequence}`, ...lines, ...(more > 0 ? [`and ${more} more`] : [])].join(
    "\n",
  );
}
