// The timeline of a log whose events say who caused them: a lane for each, with marks at entries.

import { announce, byID, counted, el } from "./dom.js";
import { jsonText } from "./json.js";
import { actorNoun } from "./source.js";
import { margin, Timeline } from "./timeline.js";
import { outcomeMark, outcomes } from "./words.js";
import { actorLanes, boundedLanes, cellWords, laneName, laneShapes, laneWords } from "./actor-lanes.js";

const actorLanesMax = 30;
const actorLaneHeight = 26;
const labelMargin = 12;
const [labelWidth, labelWidthNarrow] = [156, 96];
const characterWidth = 7.8;
const detailMin = 4;
const countedStepMin = 28;

/** Draws the events of the window around the selected entry by who caused them. */
export class ActorTimeline extends Timeline {
  /** @param {import("./model.js").App} app */
  constructor(app) {
    super(app);
    this.noun = actorNoun(app.source.head) ?? "actor";
    /** The lanes of the whole window.
        @type {import("./actor-lanes.js").Lane[]} */
    this.all = [];
    /** The lanes that are shown.
        @type {import("./actor-lanes.js").Lane[]} */
    this.lanes = [];
    this.frame.addEventListener("pointermove", (/** @type {PointerEvent} */ event) =>
      this.explain(event),
    );
  }

  get focusable() {
    return "data-actor";
  }

  /** @param {import("./history.js").FrameWindow} window */
  read(window) {
    this.all = actorLanes(window.frames, 0, window.frames.length);
  }

  paint() {
    this.left = (this.width < 600 ? labelWidthNarrow : labelWidth) + margin;
    super.paint();
  }

  paintWords() {
    super.paintWords();
    if (this.all.length > 0)
      byID("timeline-words").textContent += `, ${counted(this.all.length, this.noun)}`;
  }

  layOut() {
    // The lanes stay while the window does. If they are too many, those of the picture have to do.
    const isBounded = this.all.length <= actorLanesMax;
    this.lanes = isBounded ? this.all : boundedLanes(this.visibleLanes(), actorLanesMax);
    this.reveal(this.lanes.length, actorLaneHeight);
  }

  visibleLanes() {
    const frames = this.window?.frames ?? [];
    const isShown = frames.map((_, index) => this.isShown(this.x(index)));
    return actorLanes(frames, isShown.indexOf(true), isShown.lastIndexOf(true) + 1);
  }

  /** @param {number} x */
  isShown(x) {
    return x >= this.left - labelMargin && x <= this.width + 8;
  }

  lanesPicture() {
    const height = Math.max(1, this.lanes.length) * actorLaneHeight;
    const picture = el("svg", {
      class: "timeline",
      width: this.width,
      height,
      role: "group",
      "aria-label": `What each ${this.noun} did`,
    });
    if (this.lanes.length === 0) {
      const words =
        this.app.source.last === 0
          ? "There are no entries yet."
          : `No ${this.noun} did anything here.`;
      picture.append(el("text", { class: "axis-text", x: margin, y: 18 }, words));
      return picture;
    }
    const labels = el("g", {
      role: "toolbar",
      "aria-label": `Each ${this.noun} of the window`,
      "aria-orientation": "vertical",
    });
    this.lanes.forEach((lane, index) => labels.append(this.laneLabel(lane, index)));
    labels.firstElementChild?.setAttribute("tabindex", "0");
    picture.append(...this.lines(), ...this.selection(height), ...this.marks(), labels);
    return picture;
  }

  /** @param {number} lane its index */
  middle(lane) {
    return (lane + 0.5) * actorLaneHeight;
  }

  lines() {
    return this.lanes.map((_, index) =>
      el("line", {
        class: "lane-line",
        x1: this.left - labelMargin,
        x2: this.width,
        y1: this.middle(index),
        y2: this.middle(index),
      }),
    );
  }

  /** Draws all marks of an outcome as one path, so that their number costs little. */
  marks() {
    const r = Math.min(6, Math.max(2.5, this.step * 0.38));
    const paths = new Map(outcomes.map((one) => [one, ["", ""]]));
    const counts = el("g");
    this.lanes.forEach((lane, at) => {
      const y = this.middle(at);
      for (const { index, events, outcome } of lane.cells.values()) {
        const x = this.x(index);
        if (!this.isShown(x)) continue;
        const path = paths.get(outcome);
        laneShapes[outcome](x, y, r).forEach((one, part) => {
          if (path) path[part] += one;
        });
        if (events.length > 1 && this.step >= countedStepMin)
          counts.append(el("text", { class: "lane-count", x: x + r + 4, y: y + 4 }, events.length));
      }
    });
    // A rejection is above what is at the same place.
    const shapes = [...outcomes].reverse().map((one) => {
      const [outline, detail] = paths.get(one) ?? ["", ""];
      return el(
        "g",
        { class: "mark", "data-state": outcomeMark(one), "data-outcome": one },
        el("path", { class: "outline", d: outline }),
        r >= detailMin && el("path", { class: "detail", d: detail }),
      );
    });
    return [...shapes, counts];
  }

  /** @param {import("./actor-lanes.js").Lane} lane
      @param {number} index */
  laneLabel(lane, index) {
    const words = laneWords(lane, this.noun);
    const isFound = lane.name !== null && this.app.model.filter.text === actorText(lane.name);
    const hint =
      lane.name === null
        ? "Zoom in to see them"
        : isFound
          ? "Show all entries"
          : "Show only these entries";
    const [y, end] = [this.middle(index), this.left - margin - labelMargin];
    const rejected = lane.events.filter(({ outcome }) => outcome === "rejected").length;
    const countWidth = rejected > 0 ? String(rejected).length * characterWidth + 28 : 0;
    const charactersMax = Math.floor((end - 12 - countWidth) / characterWidth);
    const name = laneName(lane, this.noun);
    return el(
      "g",
      {
        class: "lane",
        role: "button",
        tabindex: -1,
        "data-actor": lane.name ?? "",
        "aria-label": words,
        "aria-pressed": lane.name === null ? null : String(isFound),
        on: { click: () => this.choose(lane) },
      },
      el("title", {}, `${words}\n${hint}`),
      el("rect", {
        class: "target",
        x: 1,
        y: y - actorLaneHeight / 2 + 1,
        width: end,
        height: actorLaneHeight - 2,
        rx: 4,
      }),
      el(
        "text",
        { class: "lane-name", x: 8, y: y + 4 },
        name.length > charactersMax ? `${name.slice(0, charactersMax - 1)}\u2026` : name,
      ),
      rejected > 0 && this.refusals(rejected, end - 4, y),
    );
  }

  /** @param {number} count
      @param {number} end
      @param {number} y */
  refusals(count, end, y) {
    const [outline, detail] = laneShapes.rejected(end - 8, y, 4.5);
    return el(
      "g",
      { class: "mark", "data-state": "rejected" },
      el("text", { class: "lane-refused", x: end - 18, y: y + 4, "text-anchor": "end" }, count),
      el("path", { class: "outline", d: outline }),
      el("path", { class: "detail", d: detail }),
    );
  }

  /** Shows only the entries of a lane, or all again.
      @param {import("./actor-lanes.js").Lane} lane */
  choose(lane) {
    if (lane.name === null) this.zoom(1.5);
    else this.app.toggleSearch(actorText(lane.name));
  }

  /** Selects the next or previous entry with an event of a lane.
      @param {import("./actor-lanes.js").Lane} shown
      @param {number} direction -1 or 1 */
  stepIn(shown, direction) {
    const lane = this.all.find(({ name }) => name === shown.name) ?? shown;
    const at = this.app.moment.index;
    const indexes = [...lane.cells.keys()]
      .filter((index) => (direction > 0 ? index > at : index < at))
      .sort((a, b) => direction * (a - b));
    const entry = this.window?.frames[indexes[0]]?.entry;
    if (entry) this.app.select(entry.sequence);
    else
      announce(
        `${laneName(lane, this.noun)} has no ${direction > 0 ? "later" : "earlier"} entry in this window.`,
      );
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const labels = /** @type {HTMLElement[]} */ ([...this.frame.querySelectorAll(".lane")]);
    const at = labels.indexOf(/** @type {any} */ (event.target).closest(".lane"));
    if (at < 0) return;
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: labels.length - 1 }[event.key];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (next !== undefined) {
      const label = labels[Math.min(labels.length - 1, Math.max(0, next))];
      for (const one of labels) one.setAttribute("tabindex", one === label ? "0" : "-1");
      label.focus();
    } else if (step !== undefined) this.stepIn(this.lanes[at], step);
    else if (event.key === "Enter" || event.key === " ") this.choose(this.lanes[at]);
    else if (event.key === "+" || event.key === "-") this.zoom(event.key === "+" ? 1.5 : 1 / 1.5);
    else return;
    event.preventDefault();
  }

  /** Says what the mark under the pointer is.
      @param {PointerEvent} event */
  explain(event) {
    const picture = /** @type {Element} */ (event.target).closest(".lanes svg");
    const box = picture?.getBoundingClientRect();
    const lane = box && this.lanes[Math.floor((event.clientY - box.top) / actorLaneHeight)];
    /** @type {import("./actor-lanes.js").Cell | null} */
    let nearest = null;
    let distance = Math.max(7, this.step / 2);
    for (const cell of lane?.cells.values() ?? []) {
      const found = Math.abs(this.x(cell.index) - (event.clientX - (box?.left ?? 0)));
      if (found < distance) [nearest, distance] = [cell, found];
    }
    const entry = nearest && this.window?.frames[nearest.index]?.entry;
    const words = nearest && lane && entry ? cellWords(nearest, lane, entry) : "";
    if (this.frame.title !== words) this.frame.title = words;
    this.frame.classList.toggle("on-mark", words !== "");
  }
}

/** Returns the text that is in the JSON of all entries of a lane, and of no others.
    @param {string} name */
function actorText(name) {
  return `"actor":${jsonText(name)}`;
}
