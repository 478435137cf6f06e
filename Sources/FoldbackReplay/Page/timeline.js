// The timeline: a bar for each intent from recording to settlement, batches as ticks on an axis.

import { byID, durationText, el, grouped, mark, timeText } from "./dom.js";
import { numberOf } from "./json.js";
import { inLanes, lifeWords, livesIn, timeScale } from "./lanes.js";

const lanesMax = 12;
const laneHeight = 28;
const barHeight = 16;
export const axisHeight = 58;
export const margin = 18;
const [stepMin, stepMax] = [3, 96];
const [stepFitMin, stepFitMax] = [14, 40];

/** Draws the window of frames around the selected entry. */
export class Timeline {
  /** @param {import("./model.js").App} app */
  constructor(app) {
    this.app = app;
    /** Pixels for each place on the axis; 0 chooses a fitting number.
        @type {number} */
    this.zoomed = 0;
    /** The place in the window at the middle of the picture; null follows the selection.
        @type {number | null} */
    this.center = null;
    /** @type {HTMLElement} */
    this.frame = byID("timeline-frame");
    /** Where the first place of the axis is, in pixels. */
    this.left = margin;
    this.width = Math.max(240, this.frame.clientWidth);
    this.window = /** @type {import("./history.js").FrameWindow | null} */ (null);
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
    const slider = byID("window-slider");
    slider.addEventListener("change", () => this.app.select(Number(slider.value)));
    slider.addEventListener("input", () => this.nameSlider(Number(slider.value)));
    new ResizeObserver(() => {
      const width = Math.max(240, this.frame.clientWidth);
      if (width === this.width) return;
      this.width = width;
      this.frame.style.minHeight = "";
      this.paint();
    }).observe(this.frame);
  }

  /** @param {number} factor */
  zoom(factor) {
    this.zoomed = Math.min(stepMax, Math.max(stepMin, this.step * factor));
    this.frame.style.minHeight = "";
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

  get step() {
    if (this.zoomed > 0) return this.zoomed;
    const fitting = (this.width - this.left - margin) / Math.max(1, (this.window?.frames.length ?? 1) - 1);
    return Math.min(stepFitMax, Math.max(stepFitMin, fitting));
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
    return (
      (this.place(index >= length ? length - 1 : index) +
        (index < 0 && this.app.model.axis === "sequence" ? 1 : 0) +
        beyond -
        this.start) *
        this.step +
      this.left
    );
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
    const name = this.focusable;
    const focused = document.activeElement
      ?.closest(`#timeline-frame [${name}]`)
      ?.getAttribute(name);
    this.frame.replaceChildren(...this.pictures());
    if (focused !== null && focused !== undefined)
      /** @type {HTMLElement | null} */ (
        this.frame.querySelector(`[${name}="${CSS.escape(focused)}"]`)
      )?.focus({ preventScroll: true });
  }

  /** The attribute that names what can have the focus. */
  get focusable() {
    return "data-intent";
  }

  /** Reads a window before it is painted.
      @param {import("./history.js").FrameWindow} window */
  read(window) {
    this.lives = livesIn(window, (intent) => this.app.source.endOf(intent));
  }

  /** @returns {Node[]} */
  pictures() {
    return [this.picture()];
  }

  paintWords() {
    const { source, moment } = this.app;
    const { frames, first, last } = moment.window;
    byID("timeline-words").textContent =
      frames.length === 0
        ? "no entries"
        : `entries ${grouped(first)} to ${grouped(last)} of ${grouped(source.last)}`;
    byID("window-row").hidden = first <= source.first && last >= source.last;
    const slider = byID("window-slider");
    slider.min = source.first;
    slider.max = source.last;
    slider.value = moment.sequence;
    this.nameSlider(moment.sequence);
  }

  /** @param {number} sequence */
  nameSlider(sequence) {
    byID("window-output").textContent = `entry ${grouped(sequence)}`;
  }

  picture() {
    const { width } = this;
    const lives = (this.lives ?? []).filter((life) => {
      const [from, to] = this.extent(life);
      return to > 0 && from < width;
    });
    const { placed, lanes, leftOut } = inLanes(lives, (life) => this.extent(life), lanesMax);
    const height = Math.max(1, lanes) * laneHeight + axisHeight + (leftOut > 0 ? 16 : 0);
    // The page below does not jump while the window moves.
    this.frame.style.minHeight = `${Math.max(height, parseFloat(this.frame.style.minHeight) || 0)}px`;
    const picture = el("svg", {
      class: "timeline",
      width,
      height,
      role: "group",
      "aria-label": "Intents and batches",
    });
    picture.append(...this.axis(height), ...this.selection(height));
    const bars = el("g", {
      role: "toolbar",
      "aria-label": "Intents of the window",
      "aria-orientation": "horizontal",
    });
    for (const [life, lane] of placed) bars.append(this.bar(life, lane * laneHeight + 4));
    const first = bars.querySelector("[data-current]") ?? bars.firstElementChild;
    first?.setAttribute("tabindex", "0");
    if (placed.size > 0) picture.append(bars);
    if (leftOut > 0) {
      picture.append(
        el(
          "text",
          { class: "axis-text", x: margin, y: lanes * laneHeight + 12 },
          `+ ${leftOut} more ${leftOut === 1 ? "intent" : "intents"}: zoom in to see them`,
        ),
      );
    }
    if (lives.length === 0) {
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

  /** @param {import("./lanes.js").Life} life
      @param {number} y */
  bar(life, y) {
    const { app, width } = this;
    const from = Math.max(-8, this.x(life.segments[0].from));
    const [, to] = this.extent(life);
    const isCurrent =
      (app.model.intent === life.key && app.model.tab === "intent") ||
      String(app.moment.entry?.intent) === life.key;
    const words = lifeWords(life, /** @type {any} */ (this.window)) + this.attemptWords(life);
    const node = el(
      "g",
      {
        class: "bar",
        role: "button",
        tabindex: -1,
        "data-intent": life.key,
        "aria-label": words,
        "data-current": isCurrent,
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
      const [a, b] = [Math.max(-8, this.x(segment.from)), Math.min(width + 8, this.x(segment.to))];
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
    node.append(...this.barMarks(life, from, y));
    return node;
  }

  /** @param {import("./lanes.js").Life} life
      @param {number} from
      @param {number} y */
  barMarks(life, from, y) {
    const nodes = [];
    const end = life.end ? this.x(life.end.at) : this.width;
    if (end - from > life.key.length * 8 + 12) {
      nodes.push(el("text", { class: "bar-text", x: Math.max(4, from + 5), y: y + 12 }, life.key));
    }
    if (life.isEarlier && from > -8)
      nodes.push(el("path", { class: "more", d: `M${from + 1} ${y + 3}l-5 5l5 5` }));
    if (life.end && end < this.width + 8) {
      nodes.push(mark(life.end.how, { x: end - 8, y, width: 16, height: 16, class: "mark end" }));
    } else if (!life.end) {
      const x = Math.min(this.width - 6, this.x(this.window?.frames.length ?? 0));
      nodes.push(el("path", { class: "more", d: `M${x - 1} ${y + 3}l5 5l-5 5` }));
      nodes.push(...this.attemptTicks(life, y));
    }
    return nodes;
  }

  /** @param {import("./lanes.js").Life} life */
  attempt(life) {
    const attempts = this.app.source.head.attempts ?? {};
    return Object.hasOwn(attempts, life.key) && !life.end ? attempts[life.key] : null;
  }

  /** @param {import("./lanes.js").Life} life */
  attemptWords(life) {
    const attempt = this.attempt(life);
    return attempt
      ? `, ${attempt.count} sending ${attempt.count === 1 ? "attempt" : "attempts"}${attempt.quarantine ? ", quarantined" : ""}`
      : "";
  }

  /** Ticks for the attempts: the log has their number and the time of the last.
      @param {import("./lanes.js").Life} life
      @param {number} y */
  attemptTicks(life, y) {
    const attempt = this.attempt(life);
    if (!attempt || !this.scale) return [];
    const time = numberOf(attempt.startedAt);
    const after = this.scale.times.findIndex((one) => one > time);
    const x = Math.min(this.width - 12, this.x(after < 0 ? this.scale.times.length : after) - 6);
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
        height: height - 16,
        rx: 2,
      }),
    ];
  }

  /** @param {number} height */
  axis(height) {
    const frames = this.window?.frames ?? [];
    const y = height - 34;
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
    const bars = /** @type {HTMLElement[]} */ ([...this.frame.querySelectorAll(".bar")]);
    const at = bars.indexOf(/** @type {any} */ (event.target).closest(".bar"));
    if (at < 0) return;
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: bars.length - 1 }[
      event.key
    ];
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.app.openIntent(
        this.lives?.find((life) => life.key === bars[at].getAttribute("data-intent"))?.intent,
      );
    } else if (next !== undefined) {
      event.preventDefault();
      const bar = bars[Math.min(bars.length - 1, Math.max(0, next))];
      for (const one of bars) one.setAttribute("tabindex", one === bar ? "0" : "-1");
      bar.focus();
    } else if (event.key === "+" || event.key === "-") {
      event.preventDefault();
      this.zoom(event.key === "+" ? 1.5 : 1 / 1.5);
    }
  }

  /** Moves the picture with the pointer. A click on the ground selects the nearest entry.
      @param {PointerEvent} event */
  drag(event) {
    if (event.button !== 0 || /** @type {any} */ (event.target).closest(".bar, .lane")) return;
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

/** @param {number} x
    @param {number} y
    @param {number} width */
function zigzag(x, y, width) {
  let path = `M${x} ${y + barHeight - 3}`;
  for (let at = 0; at + 6 <= width; at += 12) path += `l6 ${-barHeight + 6}l6 ${barHeight - 6}`;
  return path;
}
