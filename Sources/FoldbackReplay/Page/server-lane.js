// The server's decisions on a page of a device's log: a lane in the timeline, and parts of the tabs.

import { counted, el, timeText } from "./dom.js";
import { lowerBound } from "./source.js";
import { attributedTable } from "./pieces.js";
import { laneShapes } from "./actor-lanes.js";
import { originWords, outcomeCounts, outcomeMark, outcomes, outcomeWords, plain, worstFirst, worstOutcome } from "./words.js";

/** @typedef {import("./source.js").Decision} Decision */

const serverLaneHeight = 34;
const serverMarkY = 20;
const titleEventsMax = 8;

// ---- In the timeline ----------------------------------------------------------------------------

/** Draws a mark in each gap between two entries in which the server decided: the worst outcome.
    @param {import("./timeline.js").Timeline} timeline
    @param {Map<number, Decision[]>} gaps */
export function serverLane(timeline, gaps) {
  const { width } = timeline;
  const shown = [...gaps].flatMap(([index, decisions]) => {
    const x = timeline.gapX(index, decisions[0].at);
    return x < 0 || x > width ? [] : [{ index, decisions, x }];
  });
  const all = shown.flatMap(({ decisions }) => decisions);
  const words =
    all.length === 0
      ? "The server decided nothing here"
      : `The server decided ${counted(all.length, "intent")} here: ${outcomeCounts(all)}`;
  const r = Math.min(6, Math.max(2.5, timeline.step * 0.38));
  return el(
    "svg",
    { class: "timeline", width, height: serverLaneHeight, role: "img", "aria-label": words },
    el("line", { class: "lane-line", x1: 0, x2: width, y1: serverMarkY, y2: serverMarkY }),
    el("text", { class: "axis-text", x: 2, y: 9 }, "The server"),
    ...shown.map((one) => gapMark(one, r)),
  );
}

/** @param {{index: number, decisions: Decision[], x: number}} gap
    @param {number} r */
function gapMark({ decisions, x }, r) {
  const outcome = worstOutcome(decisions) ?? outcomes[0];
  const [outline, detail] = laneShapes[outcome](x, serverMarkY, r);
  return el(
    "g",
    { class: "mark", "data-state": outcomeMark(outcome), "data-outcome": outcome },
    el("title", {}, gapWords(decisions)),
    el("path", { class: "outline", d: outline }),
    r >= 4 && el("path", { class: "detail", d: detail }),
    decisions.length > 1 &&
      el("text", { class: "lane-count", x: x + r + 3, y: serverMarkY + 4 }, decisions.length),
  );
}

/** @param {Decision[]} decisions */
function gapWords(decisions) {
  const lines = worstFirst(decisions)
    .slice(0, titleEventsMax)
    .map((one) => `${plain(one.actor)}, ${originWords(one)} ${one.outcome}: ${outcomeWords(one)}`);
  const more = decisions.length - lines.length;
  const { after } = decisions[0];
  return [
    after === 0 ? "Decided before entry 1" : `Decided after entry ${after}`,
    ...lines,
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join("\n");
}

/** Returns where on its bar the server decided an intent, and says so.
    @param {import("./timeline.js").Timeline} timeline
    @param {string} intent
    @returns {{x: number, words: string} | null} */
export function decidedOn(timeline, intent) {
  const decision = timeline.app.source.decisions?.on(intent);
  const frames = timeline.window?.frames ?? [];
  if (!decision || frames.length === 0) return null;
  const index = lowerBound(frames.length, (at) => frames[at].entry.sequence, decision.after + 1) - 1;
  return {
    x: timeline.gapX(index, decision.at),
    words: `, ${decision.outcome} by the server after entry ${decision.after}`,
  };
}

// ---- In the tabs --------------------------------------------------------------------------------

/** Shows what the server decided after the selected entry.
    @param {import("./model.js").App} app */
export function decidedAfter({ source, moment }) {
  const { decisions } = source;
  if (!decisions) return [];
  const next = moment.window.frames[moment.index + 1]?.entry.sequence ?? Infinity;
  const found = decisions.between(moment.sequence, next);
  if (found.length === 0) return [];
  const when = next === Infinity ? "after this entry" : `between this entry and entry ${next}`;
  return [attributedTable(found, source.head.space.actors, `What the server decided ${when}`)];
}

/** Says what the server decided on an intent, and what the log knew then.
    @param {import("./model.js").App} app
    @param {string} intent */
export function decisionNodes({ source }, intent) {
  const { decisions } = source;
  if (!decisions) return [];
  const found = decisions.on(intent);
  if (!found) return [el("p", {}, "The server's log has no decision on it.")];
  return [
    el(
      "p",
      {},
      `The server decided on it at position ${found.position}, after entry ${found.after} of this log, at ${timeText(found.at)} by the server's clock: ${found.outcome}, ${outcomeWords(found)}`,
      found.isKnown ? "." : ". This log does not know it yet.",
    ),
  ];
}
