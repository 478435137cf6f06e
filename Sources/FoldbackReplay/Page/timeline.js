// The timeline: a bar for each intent from recording to settlement, batches as ticks on an axis.

import { byID, durationText, el, grouped, timeText } from "./dom.js";
import { numberOf } from "./json.js";
import { barNode } from "./bars.js";
import { inLanes, lifeName, livesIn, timeScale } from "./lanes.js";
import { keyOf } from "./words.js";
import { decisionsIn } from "./decisions.js";
import { serverLane } from "./server-lane.js";

const laneHeight = 28;
/** The lanes have a share of the window's height. They scroll inside. */
const [lanesShare, lanesHeightMin, lanesHeightMax] = [0.16, 84, 224];
const axisHeight = 52;
export const margin = 18;
const [stepMin, stepMax] = [3, 96];
const [stepFitMin, stepFitMax] = [14, 40];

/** Draws the window of frames around the selected entry. */
export class Timeline {
  /** @param {import("./model.js").App} app */
  constructor(app) {
    this.app = app;
    /** The wanted pixels for each place on the axis. */
    this.zoomed = stepFitMin;
    /** The place in the window at the middle of the picture; null follows the selection.
        @type {number | null} */
    this.center = null;
    /** @type {HTMLElement} */
    this.frame = byID("timeline-frame");
    /** @type {HTMLElement} */
    this.lanesBox = byID("lanes");
    /** How far the lanes should be scrolled, how far they are, and the height of their box. */
    this.top = 0;
    this.scrolled = 0;
    this.height = 0;
    /** The bars of the picture, each with its lane.
        @type {Map<import("./lanes.js").Life, number>} */
    this.placed = new Map();
    /** The lane that was scrolled to, and its intent. */
    this.revealed = "";
    /** Where the first place of the axis is, in pixels. */
    this.left = margin;
    this.width = Math.max(240, this.lanesBox.clientWidth);
    this.window = /** @type {import("./history.js").FrameWindow | null} */ (null);
    this.count = 0;
    this.share = 0;
    this.start = 0;
    this.end = 0;
    this.listen();
  }

  listen() {
    const on = (/** @type {string} */ id, /** @type {() => void} */ run) =>
      byID(id).addEventListener("click", run);
    on("zoom-in", () => this.zoom(1.5));
    on("zoom-out", () => this.zoom(1 / 1.5));
    on("pan-left", () => this.pan(-0.5));
    on("pan-right", () => this.pan(0.5));
    for (const axis of ["sequence", "time"]) {
      on(`axis-${axis}`, () => {
        this.app.model.axis = axis;
        this.app.changed();
      });
    }
    this.frame.addEventListener(
      "wheel",
      (/** @type {WheelEvent} */ event) => {
        if (!event.ctrlKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY) && !event.shiftKey)
          return;
        event.preventDefault();
        if (event.ctrlKey) this.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2);
        else this.moveBy((event.deltaX || event.deltaY) / this.step);
      },
      { passive: false },
    );
    this.frame.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.key(event));
    this.frame.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) =>
      this.drag(event),
    );
    this.lanesBox.addEventListener("scroll", () => {
      this.scrolled = this.lanesBox.scrollTop;
      if (this.scrolled === this.top) return;
      this.top = this.scrolled;
      this.paintLanes();
    });
    new ResizeObserver(() => {
      const width = Math.max(240, this.lanesBox.clientWidth);
      if (width === this.width) return;
      this.width = width;
      this.height = 0;
      this.paint();
    }).observe(this.lanesBox);
    const fit = () => {
      this.share = Math.round(innerHeight * lanesShare);
      this.height = 0;
      this.paint();
    };
    addEventListener("resize", fit);
    fit();
  }

  /** @param {number} factor */
  zoom(factor) {
    this.zoomed = Math.min(stepMax, this.step * factor);
    this.height = 0;
    this.paint();
  }

  /** @param {number} share of the picture's width */
  pan(share) {
    this.moveBy((share * this.width) / this.step);
  }

  /** @param {number} places */
  moveBy(places) {
    const length = this.window?.frames.length ?? 0;
    this.center = Math.min(
      length - 0.5,
      Math.max(0, (this.center ?? this.selectedPlace()) + places),
    );
    this.paint();
  }

  /** The pixels for each place on the axis. A window with enough entries fills the width. */
  get step() {
    const places = Math.max(1, (this.window?.frames.length ?? 1) - 1);
    const fitting = (this.width - this.left - margin) / places;
    return Math.max(this.zoomed, stepMin, Math.min(stepFitMax, fitting));
  }

  selectedPlace() {
    return this.place(this.app.moment.index);
  }

  /** Returns the place on the axis of a frame.
      @param {number} index */
  place(index) {
    if (this.app.model.axis === "sequence" || !this.scale) return index;
    return this.scale.place(
      this.scale.times[Math.min(Math.max(0, index), this.scale.times.length - 1)] ?? 0,
    );
  }

  /** @param {number} index */
  x(index) {
    // A life that began before the window or goes on after it reaches the margin.
    const length = this.window?.frames.length ?? 0;
    const beyond = index < 0 ? -0.8 : index >= length ? 0.8 : 0;
    return this.xOf(
      this.place(index >= length ? length - 1 : index) +
        (index < 0 && this.app.model.axis === "sequence" ? 1 : 0) +
        beyond,
    );
  }

  /** @param {number} place on the axis */
  xOf(place) {
    return (place - this.start) * this.step + this.left;
  }

  /** Returns where something between two entries is.
      @param {number} index of the frame before it; -1 if it is before the first
      @param {number} time when it was */
  gapX(index, time) {
    if (this.app.model.axis === "sequence" || !this.scale) return this.xOf(index + 0.5);
    const { times, place } = this.scale;
    const from = times[index] ?? -Infinity;
    return this.xOf(place(Math.max(from, Math.min(time, times[index + 1] ?? Infinity))));
  }

  /** Shows another selection. */
  select() {
    this.center = null;
    this.paint();
  }

  paint() {
    const { moment, model } = this.app;
    if (!moment) return;
    if (this.window !== moment.window) {
      this.window = moment.window;
      this.scale = timeScale(moment.window);
      this.read(moment.window);
    }
    for (const axis of ["sequence", "time"])
      byID(`axis-${axis}`).setAttribute("aria-pressed", String(model.axis === axis));
    const visible = (this.width - this.left - margin) / this.step;
    const length = moment.window.frames.length;
    const center = this.center ?? this.selectedPlace();
    this.start =
      length - 1 <= visible ? 0 : Math.min(Math.max(0, center - visible / 2), length - 1 - visible);
    this.end = this.start + visible;
    this.paintWords();
    this.layOut();
    this.paintLanes();
    if (this.gaps) byID("server-lane").replaceChildren(serverLane(this, this.gaps));
    byID("axis").replaceChildren(
      el(
        "svg",
        { class: "timeline", width: this.width, height: axisHeight, "aria-hidden": "true" },
        ...this.axis(),
        ...this.selection(axisHeight - 8),
      ),
    );
  }

  /** Paints the lanes that can be seen, and those next to them.
      @param {string} [focused] what gets the focus, if it is not what has it now */
  paintLanes(focused = this.focused) {
    this.lanesBox.replaceChildren(this.lanesPicture(focused));
    this.lanesBox.style.height = `${this.height}px`;
    // Scrolling lays out the page, so it happens only if it is needed.
    if (this.scrolled !== this.top) this.lanesBox.scrollTop = this.top;
    this.scrolled = this.top;
    if (focused !== undefined)
      /** @type {HTMLElement | null} */ (
        this.lanesBox.querySelector(`[${this.focusable}="${CSS.escape(focused)}"]`)
      )?.focus({ preventScroll: true });
  }

  /** What has the focus now. */
  get focused() {
    const name = this.focusable;
    return document.activeElement?.closest(`#lanes [${name}]`)?.getAttribute(name) ?? undefined;
  }

  /** Makes the box as high as the lanes need, and scrolls only as far as the given lane needs.
      @param {number} count of lanes
      @param {number} laneHeight
      @param {number} [lane] */
  reveal(count, laneHeight, lane) {
    const all = Math.max(1, count) * laneHeight;
    const most = Math.min(lanesHeightMax, Math.max(lanesHeightMin, this.share));
    // The page below does not jump while the window moves.
    this.height = Math.max(this.height, Math.min(all, most));
    if (lane !== undefined) {
      const [from, to] = [lane * laneHeight, (lane + 1) * laneHeight - this.height];
      this.top = Math.min(from, Math.max(to, this.top));
    }
    this.top = Math.max(0, Math.min(this.top, all - this.height));
  }

  /** The attribute that names what can have the focus. */
  get focusable() {
    return "data-life";
  }

  /** Reads a window before it is painted.
      @param {import("./history.js").FrameWindow} window */
  read(window) {
    this.lives = livesIn(window, (intent) => this.app.source.endOf(intent));
    this.readDecisions();
  }

  /** Reads what the server decided during the window. */
  readDecisions() {
    const { decisions } = this.app.source;
    this.gaps = decisions && this.window ? decisionsIn(decisions, this.window) : null;
  }

  /** Puts the bars in lanes. The lane of the selected intent can always be seen. */
  layOut() {
    const lives = (this.lives ?? []).filter((life) => {
      const [from, to] = this.extent(life);
      return to > 0 && from < this.width;
    });
    const { placed, lanes } = inLanes(lives, (life) => this.extent(life));
    this.placed = placed;
    this.count = lanes;
    const { index } = this.app.moment;
    const own = lives.filter((life) => life.key === this.current);
    const shown = own.findLast(({ segments }) => segments[0].from <= index) ?? own[0];
    const lane = shown && placed.get(shown);
    const isOther = this.revealed !== `${lane} ${this.current}`;
    this.revealed = `${lane} ${this.current}`;
    this.reveal(lanes, laneHeight, isOther ? lane : undefined);
  }

  /** The number of the intent that the page is about. */
  get current() {
    const { model, moment } = this.app;
    const intent = moment.entry?.intent;
    return model.tab === "intent" ? model.intent : intent === undefined ? "" : keyOf(intent);
  }

  paintWords() {
    const { source, moment } = this.app;
    const { frames, first, last } = moment.window;
    byID("timeline-words").textContent =
      frames.length === 0
        ? "no entries"
        : `entries ${grouped(first)} to ${grouped(last)} of ${grouped(source.last)}`;
  }

  /** @param {string} [focused] the life whose bar has the focus */
  lanesPicture(focused) {
    const { width, placed } = this;
    const height = Math.max(this.height, this.count * laneHeight);
    const picture = el("svg", {
      class: "timeline",
      width,
      height,
      role: "group",
      "aria-label": "Intents",
    });
    picture.append(...this.selection(height));
    const bars = el("g", {
      role: "toolbar",
      "aria-label": "Intents of the window",
      "aria-orientation": "horizontal",
    });
    for (const [life, lane] of placed) {
      const y = lane * laneHeight;
      const isNear = y > this.top - 2 * laneHeight && y < this.top + this.height + laneHeight;
      if (isNear || lifeName(life) === focused) bars.append(barNode(this, life, y + 4));
    }
    // Tab gets to one bar: the one that has the focus, or else the current one.
    const own = [...bars.children].find((bar) => bar.getAttribute("data-life") === focused);
    const first = own ?? bars.querySelector("[data-current]") ?? bars.firstElementChild;
    first?.setAttribute("tabindex", "0");
    if (placed.size > 0) picture.append(bars);
    if (placed.size === 0) {
      picture.append(
        el(
          "text",
          { class: "axis-text", x: margin, y: 20 },
          this.app.source.last === 0 ? "There are no entries yet." : "No intent is pending here.",
        ),
      );
    }
    return picture;
  }

  /** @param {import("./lanes.js").Life} life
      @returns {[number, number]} */
  extent(life) {
    const from = this.x(life.segments[0].from);
    const to = this.x(life.end ? life.end.at : (this.window?.frames.length ?? 0));
    return [from - 8, Math.max(to + 12, from + 22)];
  }

  /** @param {number} height */
  selection(height) {
    const { index } = this.app.moment;
    const x = this.x(index);
    if (this.window?.frames.length === 0 || x < this.left - 38 || x > this.width + 20) return [];
    const w = this.app.model.axis === "sequence" ? Math.max(6, Math.min(24, this.step)) : 6;
    return [
      el("rect", {
        class: "selected-entry",
        x: x - w / 2,
        y: 0,
        width: w,
        height,
        rx: 2,
      }),
    ];
  }

  axis() {
    const frames = this.window?.frames ?? [];
    const y = axisHeight - 30;
    const nodes = [el("line", { class: "axis", x1: 0, x2: this.width, y1: y, y2: y })];
    let [ticks, batches] = ["", ""];
    let labelEnd = -Infinity;
    frames.forEach((frame, index) => {
      const x = this.x(index);
      if (x < this.left - 22 || x > this.width + 4) return;
      const { entry } = frame;
      if (entry.kind === "confirmed")
        batches += `M${x} ${y}v${-Math.min(16, 5 + 2 * (entry.events?.length ?? 0))}`;
      else ticks += `M${x} ${y}v4`;
      const words = this.label(entry, index);
      const half = words.length * 3.6;
      if (x - half < labelEnd + 12 || x - half < this.left - margin || x + half > this.width) return;
      labelEnd = x + half;
      ticks += `M${x} ${y}v7`;
      nodes.push(el("text", { class: "axis-text", x, y: y + 20, "text-anchor": "middle" }, words));
    });
    return [
      el("path", { class: "tick", d: ticks }),
      el("path", { class: "batch", d: batches }),
      ...nodes,
    ];
  }

  /** @param {any} entry
      @param {number} index */
  label(entry, index) {
    if (this.app.model.axis === "sequence") return String(entry.sequence);
    const time = numberOf(entry.at);
    return index === 0
      ? timeText(time).slice(11)
      : `+${durationText(time - (this.scale?.start ?? 0))}`;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const bars = [...this.placed.keys()];
    const at = bars.findIndex((life) => lifeName(life) === this.focused);
    if (at < 0) return;
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: bars.length - 1 }[
      event.key
    ];
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.app.openIntent(bars[at].intent);
    } else if (next !== undefined) {
      event.preventDefault();
      const bar = bars[Math.min(bars.length - 1, Math.max(0, next))];
      this.reveal(this.count, laneHeight, this.placed.get(bar));
      this.paintLanes(lifeName(bar));
    } else if (event.key === "+" || event.key === "-") {
      event.preventDefault();
      this.zoom(event.key === "+" ? 1.5 : 1 / 1.5);
    }
  }

  /** Moves the picture with the pointer. A click on the ground selects the nearest entry.
      @param {PointerEvent} event */
  drag(event) {
    const { target } = event;
    const isOnBar = /** @type {any} */ (target).closest(".bar, .lane");
    // The box itself is only under the pointer where it has its scrollbar.
    if (event.button !== 0 || isOnBar || target === this.lanesBox) return;
    const startX = event.clientX;
    const startCenter = this.start + (this.end - this.start) / 2;
    let moved = 0;
    const move = (/** @type {PointerEvent} */ now) => {
      moved = Math.max(moved, Math.abs(now.clientX - startX));
      if (moved < 4) return;
      this.center = startCenter - (now.clientX - startX) / this.step;
      this.paint();
    };
    const stop = (/** @type {PointerEvent} */ now) => {
      removeEventListener("pointermove", move);
      if (moved < 4 && now.type === "pointerup")
        this.selectAt(now.clientX - this.frame.getBoundingClientRect().left);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", stop, { once: true });
    addEventListener("pointercancel", stop, { once: true });
  }

  /** @param {number} x */
  selectAt(x) {
    const frames = this.window?.frames ?? [];
    let [nearest, distance] = [-1, Infinity];
    for (let index = 0; index < frames.length; index += 1) {
      const found = Math.abs(this.x(index) - x);
      if (found < distance) [nearest, distance] = [index, found];
    }
    if (nearest >= 0) this.app.select(frames[nearest].entry.sequence);
  }
}
