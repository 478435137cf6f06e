// A list that renders only the rows that can be seen.

import { el } from "./dom.js";

// Browsers limit an element's height. A longer list scrolls several rows for each pixel.
const heightMax = 8_000_000;
const extraRows = 4;

/** A listbox with any number of rows of equal height. */
export class VirtualList {
  /** @param {HTMLElement} node the scrolling element, which has the role listbox
      @param {object} options
      @param {(offset: number, count: number) => Promise<{count: number, isWhole: boolean, rows: any[]}>} options.load
      @param {(row: any) => HTMLElement} options.row
      @param {(offset: number) => void} options.choose
      @param {(count: number, isWhole: boolean) => void} [options.counted] */
  constructor(node, options) {
    this.node = node;
    this.options = options;
    this.count = 0;
    this.selected = -1;
    this.rowHeight = 32;
    this.token = 0;
    // Reading these from the element would lay out the page again and again.
    this.viewHeight = node.clientHeight;
    this.scrolled = node.scrollTop;
    this.drawn = "";
    this.spacer = el("div", { role: "none", class: "spacer-box" });
    this.rows = el("div", { role: "none", class: "rows-box" });
    node.replaceChildren(this.spacer, this.rows);
    node.addEventListener(
      "scroll",
      () => {
        this.scrolled = node.scrollTop;
        this.paint();
      },
      { passive: true },
    );
    node.addEventListener("keydown", (event) => this.key(event));
    node.addEventListener("click", (event) => {
      const row = /** @type {HTMLElement} */ (event.target).closest("[role=option]");
      if (row) this.choose(Number(row.getAttribute("data-offset")));
    });
    new ResizeObserver(() => {
      const wasSeen = this.isSeen(this.selected);
      this.viewHeight = node.clientHeight;
      this.scrolled = node.scrollTop;
      this.measure();
      if (wasSeen) this.reveal(this.selected);
      this.paint();
    }).observe(node);
    this.measure();
  }

  measure() {
    this.rowHeight = parseFloat(getComputedStyle(this.node).getPropertyValue("--row-height")) || 32;
  }

  get height() {
    return Math.min(heightMax, this.count * this.rowHeight);
  }

  /** How many rows can be seen. */
  get seen() {
    return Math.max(1, Math.floor(this.viewHeight / this.rowHeight));
  }

  /** How many rows one pixel of scrolling is worth, in rows. */
  get rowsPerPixel() {
    const scrollable = this.height - this.viewHeight;
    return scrollable <= 0 ? 0 : (this.count - this.viewHeight / this.rowHeight) / scrollable;
  }

  get top() {
    return this.scrolled * this.rowsPerPixel;
  }

  /** @param {number} offset */
  isSeen(offset) {
    return offset >= this.top && offset + 1 <= this.top + this.viewHeight / this.rowHeight;
  }

  /** Loads the rows again.
      @param {number} selected the offset of the selected row, or -1 */
  async reload(selected) {
    this.selected = selected;
    this.loaded = undefined;
    await this.paint(true);
  }

  /** @param {number} selected
      @param {boolean} [isScrolling] */
  async select(selected, isScrolling = true) {
    this.selected = selected;
    if (isScrolling) this.reveal(selected);
    await this.paint();
  }

  /** @param {number} offset */
  reveal(offset) {
    if (offset < 0 || this.rowsPerPixel === 0) return;
    const seen = this.viewHeight / this.rowHeight;
    const top = this.top;
    let wanted = top;
    if (offset < top + 1) wanted = offset - 1;
    if (offset > top + seen - 2) wanted = offset - seen + 2;
    const isFar = Math.abs(wanted - top) > seen;
    if (isFar) wanted = offset - seen / 2;
    if (wanted === top) return;
    const scrollable = this.height - this.viewHeight;
    this.scrolled = Math.round(Math.min(scrollable, Math.max(0, wanted / this.rowsPerPixel)));
    this.node.scrollTop = this.scrolled;
  }

  /** @param {boolean} [isNew] whether the rows may be other rows now */
  async paint(isNew = false) {
    const start = Math.max(0, Math.floor(this.top) - extraRows);
    const count = this.seen + 2 * extraRows + 2;
    const isLoaded =
      this.loaded &&
      !isNew &&
      start >= this.loaded.start &&
      Math.min(this.count, start + count) <= this.loaded.start + this.loaded.rows.length;
    if (isLoaded) return this.draw(start, count);
    this.token += 1;
    const { token } = this;
    const from = Math.max(0, start - 50);
    const answer = await this.options.load(from, count + 100);
    if (token !== this.token) return undefined;
    this.loaded = { start: from, rows: answer.rows };
    const isOtherCount = this.count !== answer.count;
    this.count = answer.count;
    this.spacer.style.height = `${this.height}px`;
    this.options.counted?.(answer.count, answer.isWhole);
    if (isOtherCount || isNew) this.reveal(this.selected);
    return this.draw(Math.max(0, Math.floor(this.top) - extraRows), count);
  }

  /** @param {number} start
      @param {number} count */
  draw(start, count) {
    const { loaded } = this;
    const key = [start, count, this.count, this.selected, this.scrolled].join(" ");
    if (!loaded || (key === this.drawn && this.drawnRows === loaded.rows)) return;
    this.drawn = key;
    this.drawnRows = loaded.rows;
    const rows = [];
    for (let offset = start; offset < Math.min(this.count, start + count); offset += 1) {
      const row = loaded.rows[offset - loaded.start];
      if (row === undefined) continue;
      const node = this.options.row(row);
      for (const [name, value] of Object.entries({
        role: "option",
        id: `${this.node.id}-${offset}`,
        "data-offset": offset,
        "aria-posinset": offset + 1,
        "aria-setsize": this.count,
        "aria-selected": offset === this.selected,
      })) {
        node.setAttribute(name, String(value));
      }
      rows.push(node);
    }
    this.rows.replaceChildren(...rows);
    // The rows follow the scroll position, which stands for several rows in a very long list.
    const y =
      this.height === this.count * this.rowHeight
        ? start * this.rowHeight
        : this.scrolled - (this.top - start) * this.rowHeight;
    this.rows.style.transform = `translateY(${Math.max(0, y)}px)`;
    const active = this.rows.querySelector("[aria-selected=true]");
    if (active) this.node.setAttribute("aria-activedescendant", active.id);
    else this.node.removeAttribute("aria-activedescendant");
  }

  /** @param {number} offset */
  choose(offset) {
    if (this.count === 0) return;
    this.options.choose(Math.min(this.count - 1, Math.max(0, offset)));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.node) return;
    const at = this.selected < 0 ? Math.floor(this.top) : this.selected;
    const next = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + this.seen,
      PageUp: at - this.seen,
      Home: 0,
      End: this.count - 1,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.choose(next);
  }
}
