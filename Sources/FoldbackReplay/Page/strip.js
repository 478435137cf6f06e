// The strip of the whole log over the slider.

import { byID, counted, el, grouped } from "./dom.js";

/** The middle of a slider's thumb stops here. */
const stripMargin = 8;
const stripHeight = 20;
/** How far the pointer may be from a mark. */
const markReach = 5;

/** The kinds of marks: the name, the state whose color it has, its shape, what it counts, and what it
    says of an entry.
    @type {["rejected" | "conflicted" | "faulted", string, string, string, string][]} */
const markKinds = [
  ["rejected", "rejected", " 1l3 4l-3 4l-3-4z", "rejection", "rejected"],
  ["conflicted", "conflicted", " 11l3.5 7h-7z", "new conflict", "a conflict began"],
  ["faulted", "conflicted", " 1h2v9h-2z", "fault", "a confirmed event does not fit the state"],
];
const pauseUntilCounted = 500;

/** The whole log over the slider: the window of the timeline, the selected entry, and marks where
    intents were rejected, where conflicts began, and where events were skipped. By keyboard, the slider and the filters lead to
    the same entries. */
export class LogStrip {
  /** @param {import("./model.js").App} app */
  constructor(app) {
    this.app = app;
    this.node = byID("strip");
    this.width = 0;
    /** Where the marks are.
        @type {import("./source.js").Marks} */
    this.marks = { rejected: [], conflicted: [], faulted: [], through: 0, isOver: false };
    this.known = "";
    this.timer = 0;
    const slider = byID("window-slider");
    slider.addEventListener("change", () => app.select(Number(slider.value)));
    slider.addEventListener("input", () => this.nameSlider(Number(slider.value)));
    this.node.addEventListener("click", (/** @type {MouseEvent} */ event) =>
      app.select(this.at(event.offsetX).sequence),
    );
    this.node.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
      const { sequence, what } = this.at(event.offsetX);
      this.node.title = `Entry ${grouped(sequence)}${what}`;
    });
    new ResizeObserver(() => {
      this.width = this.node.clientWidth;
      this.paint();
    }).observe(this.node);
  }

  /** Shows the selection. */
  select() {
    const { source, moment } = this.app;
    const { first, last } = moment.window;
    byID("window-row").hidden = first <= source.first && last >= source.last;
    const slider = byID("window-slider");
    slider.min = source.first;
    slider.max = source.last;
    slider.value = moment.sequence;
    this.nameSlider(moment.sequence);
    this.paint();
  }

  /** @param {number} sequence */
  nameSlider(sequence) {
    byID("window-output").textContent = `entry ${grouped(sequence)}`;
  }

  /** Asks for the marks, unless they are known. The page does not wait for them. */
  async load() {
    const { source, model } = this.app;
    const key = `${source.last} ${model.projection}`;
    if (this.known === key || byID("window-row").hidden) return;
    this.known = key;
    const marks = await source.marks(model.projection).catch(() => null);
    if (this.known !== key) return;
    // The page says elsewhere that the inspector does not answer. The next selection asks again.
    if (marks === null) return void (this.known = "");
    this.marks = marks;
    const words = markKinds.flatMap(([name, , , what]) =>
      marks[name].length > 0 ? [counted(marks[name].length, what)] : [],
    );
    byID("strip-words").textContent = words.length > 0 ? `Marks: ${words.join(", ")}.` : "";
    this.paint();
    if (marks.isOver || marks.through >= source.last) return;
    // The inspector still counts.
    this.known = "";
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.load(), pauseUntilCounted);
  }

  /** @param {number} sequence */
  x(sequence) {
    const { first, last } = this.app.source;
    const share = (sequence - first) / Math.max(1, last - first);
    return stripMargin + Math.min(1, Math.max(0, share)) * (this.width - 2 * stripMargin);
  }

  /** Returns the entry at a place of the strip: a mark's if one is near.
      @param {number} x */
  at(x) {
    const { first, last } = this.app.source;
    const share = (x - stripMargin) / Math.max(1, this.width - 2 * stripMargin);
    const place = first + Math.min(1, Math.max(0, share)) * (last - first);
    let found = { sequence: Math.round(place), what: "" };
    let reach = markReach;
    for (const [name, , , , words] of markKinds)
      for (const sequence of this.marks[name]) {
        const distance = Math.abs(this.x(sequence) - x);
        if (distance < reach) [found, reach] = [{ sequence, what: `: ${words}` }, distance];
      }
    return found;
  }

  paint() {
    const { moment } = this.app;
    if (!moment || this.width === 0) return;
    const { first, last } = moment.window;
    const [from, to, here] = [first, last, moment.sequence].map((one) => this.x(one));
    const height = stripHeight;
    const shapes = (/** @type {number[]} */ sequences, /** @type {string} */ shape) =>
      [...new Set(sequences.map((one) => Math.round(this.x(one))))]
        .map((x) => `M${x}${shape}`)
        .join("");
    this.node.replaceChildren(
      el(
        "svg",
        { width: this.width, height },
        el("rect", { class: "shown", x: from, width: Math.max(4, to - from), height, rx: 3 }),
        ...markKinds.map(([name, state, shape]) =>
          el("path", { "data-mark": name, "data-state": state, d: shapes(this.marks[name], shape) }),
        ),
        el("rect", { class: "here", x: here - 1, width: 2, height }),
      ),
    );
  }
}
