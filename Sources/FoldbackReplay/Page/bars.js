// The bars of the timeline: one for each life of an intent.

import { counted, el, mark } from "./dom.js";
import { numberOf } from "./json.js";
import { lifeName, lifeWords } from "./lanes.js";
import { decidedOn } from "./server-lane.js";

/** @typedef {import("./lanes.js").Life} Life */

const barHeight = 16;

/** Returns the bar of a life.
    @param {import("./timeline.js").Timeline} timeline
    @param {Life} life
    @param {number} y */
export function barNode(timeline, life, y) {
  const { app, width } = timeline;
  const from = Math.max(-8, timeline.x(life.segments[0].from));
  const [, to] = timeline.extent(life);
  const window = /** @type {any} */ (timeline.window);
  const decided = decidedOn(timeline, life.key);
  const words = lifeWords(life, window) + attemptWords(timeline, life) + (decided?.words ?? "");
  const node = el(
    "g",
    {
      class: "bar",
      role: "button",
      tabindex: -1,
      "data-intent": life.key,
      "data-life": lifeName(life),
      "aria-label": words,
      "data-current": life.key === timeline.current,
      on: { click: () => app.openIntent(life.intent) },
    },
    el("title", {}, words),
    el("rect", {
      class: "target",
      x: from - 4,
      y: y - 4,
      width: Math.max(26, Math.min(width, to) - from),
      height: 26,
      rx: 4,
    }),
  );
  for (const segment of life.segments) {
    const a = Math.max(-8, timeline.x(segment.from));
    const b = Math.min(width + 8, timeline.x(segment.to));
    if (b < 0 || a > width) continue;
    const w = Math.max(2, b - a);
    node.append(
      el("rect", {
        class: "segment",
        "data-state": segment.isConflicted ? "conflicted" : segment.state,
        x: a,
        y,
        width: w,
        height: barHeight,
        rx: 3,
      }),
    );
    if (segment.isConflicted) node.append(el("path", { class: "zigzag", d: zigzag(a, y, w) }));
  }
  node.append(...barMarks(timeline, life, from, y));
  if (decided)
    node.append(
      el("line", {
        class: "decided",
        x1: decided.x,
        x2: decided.x,
        y1: y - 3,
        y2: y + barHeight + 3,
      }),
    );
  return node;
}

/** @param {import("./timeline.js").Timeline} timeline
    @param {Life} life
    @param {number} from
    @param {number} y */
function barMarks(timeline, life, from, y) {
  const nodes = [];
  const end = life.end ? timeline.x(life.end.at) : timeline.width;
  if (end - from > life.key.length * 8 + 12) {
    nodes.push(el("text", { class: "bar-text", x: Math.max(4, from + 5), y: y + 12 }, life.key));
  }
  if (life.isEarlier && from > -8)
    nodes.push(el("path", { class: "more", d: `M${from + 1} ${y + 3}l-5 5l5 5` }));
  if (life.end && end < timeline.width + 8) {
    nodes.push(mark(life.end.how, { x: end - 8, y, width: 16, height: 16, class: "mark end" }));
  } else if (!life.end) {
    const x = Math.min(timeline.width - 6, timeline.x(timeline.window?.frames.length ?? 0));
    nodes.push(el("path", { class: "more", d: `M${x - 1} ${y + 3}l5 5l-5 5` }));
    nodes.push(...attemptTicks(timeline, life, y));
  }
  return nodes;
}

/** @param {import("./timeline.js").Timeline} timeline
    @param {Life} life */
function openAttempt(timeline, life) {
  const attempts = timeline.app.source.head.attempts ?? {};
  return Object.hasOwn(attempts, life.key) && !life.end ? attempts[life.key] : null;
}

/** @param {import("./timeline.js").Timeline} timeline
    @param {Life} life */
function attemptWords(timeline, life) {
  const attempt = openAttempt(timeline, life);
  if (!attempt) return "";
  const count = counted(numberOf(attempt.count), "sending attempt");
  return `, ${count}${attempt.quarantine ? ", quarantined" : ""}`;
}

/** Returns ticks for the attempts: the log has their number and the time of the last.
    @param {import("./timeline.js").Timeline} timeline
    @param {Life} life
    @param {number} y */
function attemptTicks(timeline, life, y) {
  const { scale, width } = timeline;
  const attempt = openAttempt(timeline, life);
  if (!attempt || !scale) return [];
  const time = numberOf(attempt.startedAt);
  const after = scale.times.findIndex((one) => one > time);
  const x = Math.min(width - 12, timeline.x(after < 0 ? scale.times.length : after) - 6);
  const count = Math.min(5, numberOf(attempt.count));
  const ticks = [];
  for (let index = 0; index < count; index += 1) {
    const place = x - index * 4;
    ticks.push(
      el("line", {
        class: attempt.quarantine ? "attempt quarantined" : "attempt",
        x1: place,
        x2: place,
        y1: y - 2,
        y2: y + barHeight + 2,
      }),
    );
  }
  return ticks;
}

/** @param {number} x
    @param {number} y
    @param {number} width */
function zigzag(x, y, width) {
  let path = `M${x} ${y + barHeight - 3}`;
  for (let at = 0; at + 6 <= width; at += 12) path += `l6 ${-barHeight + 6}l6 ${barHeight - 6}`;
  return path;
}
