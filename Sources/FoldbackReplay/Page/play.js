// Play: stepping through the entries, with the keys of `step`.

import { byID, grouped } from "./dom.js";
import { actorNoun } from "./source.js";

const pauseSlow = 500;
const pauseFast = 50;
// With reduced motion, the picture changes twice a second at most.
const pauseReduced = 500;
const scannedMax = 5_000;

export class Player {
  /** @param {import("./model.js").App} app */
  constructor(app) {
    this.app = app;
    this.isPlaying = false;
    this.typed = "";
    this.reduced = matchMedia("(prefers-reduced-motion: reduce)");
    const on = (/** @type {string} */ id, /** @type {() => void} */ run) =>
      byID(id).addEventListener("click", run);
    on("play-first", () => this.jump(0));
    on("play-last", () => this.jump(app.source.last));
    on("play-previous", () => this.step(-1));
    on("play-next", () => this.step(1));
    on("play-toggle", () => this.toggle());
    byID("jump-form").addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      const text = byID("jump").value.trim();
      if (/^\d{1,15}$/.test(text)) this.jump(Number(text));
    });
    document.addEventListener("keydown", (event) => this.key(event));
    // In a log of others' events, there would be no entry to step to.
    byID("skip-others").closest("label").hidden = actorNoun(app.source.head) !== null;
  }

  /** Shows the selection. */
  select() {
    const { moment, source } = this.app;
    const input = byID("jump");
    if (document.activeElement !== input) input.value = String(moment.sequence);
    byID("jump-of").textContent = `of ${grouped(source.last)}`;
    const [isFirst, isLast] = [moment.entry === null, moment.sequence >= source.last];
    for (const [id, isAtEnd] of /** @type {[string, boolean][]} */ ([
      ["play-first", isFirst],
      ["play-previous", isFirst],
      ["play-next", isLast],
      ["play-last", isLast],
    ])) {
      byID(id).setAttribute("aria-disabled", String(isAtEnd));
    }
  }

  /** @param {number} sequence */
  async jump(sequence) {
    this.stop();
    await this.app.select(sequence);
  }

  /** Returns the entry that a step goes to; null at the end.
      @param {number} direction */
  async target(direction) {
    const { app } = this;
    let next = await app.history.neighbor(app.moment, direction);
    if (!byID("skip-others").checked || next === null || next === 0) return next;
    let offset = await app.source.place({}, next);
    for (let scanned = 0; scanned < scannedMax; scanned += 200) {
      const from = direction > 0 ? offset : Math.max(0, offset - 199);
      const { rows } = await app.source.rows({}, from, direction > 0 ? 200 : offset - from + 1, "");
      const ordered = direction > 0 ? rows : rows.reverse();
      const own = ordered.find(({ entry }) => app.source.recorders.ownIntents(entry).length > 0);
      if (own) return own.entry.sequence;
      if (ordered.length === 0 || from === 0) break;
      offset = direction > 0 ? offset + rows.length : from - 1;
      next = ordered.at(-1)?.entry.sequence ?? next;
    }
    return direction < 0 ? 0 : next;
  }

  /** @param {number} direction
      @returns {Promise<boolean>} whether there was an entry */
  async step(direction) {
    const next = await this.target(direction);
    if (next === null || next === this.app.moment.sequence) return false;
    await this.app.select(next);
    return true;
  }

  toggle() {
    if (this.isPlaying) this.stop();
    else this.play();
  }

  stop() {
    this.isPlaying = false;
    this.paintToggle();
  }

  paintToggle() {
    const toggle = byID("play-toggle");
    toggle.textContent = this.isPlaying ? "Stop" : "Play";
    toggle.setAttribute("aria-pressed", String(this.isPlaying));
  }

  async play() {
    this.isPlaying = true;
    this.paintToggle();
    if (this.app.moment.sequence >= this.app.source.last) await this.app.select(0);
    while (this.isPlaying) {
      const started = performance.now();
      const speed = byID("speed").value;
      const isReduced = this.reduced.matches && speed !== "1";
      const entries = isReduced ? ({ 10: 10, max: 50 }[/** @type {"max"} */ (speed)] ?? 1) : 1;
      let isThere = true;
      if (entries > 1) {
        const target = Math.min(this.app.source.last, this.app.moment.sequence + entries);
        isThere = target > this.app.moment.sequence;
        if (isThere) await this.app.select(target);
      } else isThere = await this.step(1);
      if (!isThere) break;
      const pause = isReduced
        ? pauseReduced
        : ({ 1: pauseSlow, 10: pauseFast, max: 0 }[/** @type {"max"} */ (speed)] ?? pauseSlow);
      const left = Math.max(0, pause - (performance.now() - started));
      await new Promise((resolve) =>
        left > 0 ? setTimeout(resolve, left) : requestAnimationFrame(resolve),
      );
    }
    this.stop();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const isTyping = target.matches(
      "input:not([type=checkbox]):not([type=range]), textarea, select, [contenteditable]",
    );
    if (
      event.defaultPrevented ||
      isTyping ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      !byID("use-keys").checked
    )
      return;
    const isControl = target.matches(
      "button, summary, a, input, [role=button], [role=tab], [role=treeitem]",
    );
    const isScrolling = target.matches(
      "input, [role=tab], [role=treeitem], [role=listbox], [role=button], .table-frame",
    );
    if (/^\d$/.test(event.key)) return this.type(this.typed + event.key);
    if (event.key === "Enter" && this.typed !== "") {
      event.preventDefault();
      this.jump(Number(this.typed));
      return this.type("");
    }
    if (event.key === "Escape") return this.type("");
    /** @type {{[key: string]: () => any}} */
    const keys = {
      n: () => this.step(1),
      p: () => this.step(-1),
      g: () => this.jump(0),
      e: () => this.jump(this.app.source.last),
    };
    if (!isControl) keys[" "] = () => this.toggle();
    if (!isScrolling)
      Object.assign(keys, { ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1) });
    if (!Object.hasOwn(keys, event.key)) return undefined;
    event.preventDefault();
    this.type("");
    return keys[event.key]();
  }

  /** @param {string} digits */
  type(digits) {
    this.typed = digits.slice(0, 15);
    const node = byID("typed");
    node.hidden = this.typed === "";
    node.textContent = `Entry ${this.typed}: press Enter`;
  }
}
