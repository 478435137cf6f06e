// The list of entries with its filters.

import { button, byID, counted, el, grouped, mark, timeText } from "./dom.js";
import { numberOf } from "./json.js";
import { entryKinds, fieldNames, filterFlaw, filterNames, filterOptions, intentStates, isFilterEmpty, troubles } from "./filters.js";
import { entryWords, keyOf, kindName, kindWords, markOf } from "./words.js";
import { commandLabel, filterCommand } from "./commands.js";
import { commandNodes } from "./pieces.js";
import { VirtualList } from "./virtual.js";

const typingPause = 200;
const countingPause = 500;

export class Entries {
  /** @param {import("./model.js").App} app */
  constructor(app) {
    this.app = app;
    this.timer = 0;
    this.counting = 0;
    this.list = new VirtualList(byID("list"), {
      load: async (offset, count) =>
        filterFlaw(app.model.filter)
          ? { count: 0, isWhole: true, rows: [] }
          : app.source.rows(app.model.filter, offset, count, app.model.projection),
      row: (row) => this.row(row),
      choose: (offset) => this.choose(offset),
      counted: (count, isWhole) => this.showCount(count, isWhole),
    });
    this.makeForm();
    this.fillForm();
  }

  /** @param {import("./source.js").Row} row */
  row({ entry, changes }) {
    const intents = [...new Set(this.app.source.recorders.ownIntents(entry).map(keyOf))];
    const numbers =
      intents.slice(0, 1).join("") + (intents.length > 1 ? ` +${intents.length - 1}` : "");
    const words = entryWords(entry);
    return el(
      "div",
      { class: "row", "data-kind": entry.kind, "data-sequence": entry.sequence },
      el("span", { class: "number" }, entry.sequence),
      el("span", { class: "time" }, timeText(numberOf(entry.at)).slice(11)),
      el("span", { class: "kind" }, mark(markOf(entry)), el("span", {}, kindWords(entry))),
      el(
        "span",
        { class: "intent" },
        numbers === "" ? "" : el("span", { class: "sr" }, "intent "),
        numbers,
      ),
      el("span", { class: "words", title: words }, el("bdi", {}, words)),
      el(
        "span",
        { class: "changes" },
        changes || "",
        changes ? el("span", { class: "sr" }, changes === 1 ? " change" : " changes") : null,
      ),
    );
  }

  /** @param {number} offset */
  async choose(offset) {
    const loaded = this.list.loaded;
    const known = loaded?.rows[offset - loaded.start];
    const { rows } = known
      ? { rows: [known] }
      : await this.app.source.rows(this.app.model.filter, offset, 1, this.app.model.projection);
    if (rows[0]) await this.app.select(rows[0].entry.sequence);
  }

  /** Returns the offset of the selected entry; -1 if the filter does not let it through. */
  async offset() {
    const { app } = this;
    if (app.model.selected === 0 || filterFlaw(app.model.filter)) return -1;
    const offset = await app.source.place(app.model.filter, app.model.selected);
    const { rows } = await app.source.rows(app.model.filter, offset, 1, app.model.projection);
    return rows[0]?.entry.sequence === app.model.selected ? offset : -1;
  }

  /** Loads the list again, because the filter, the projection or the log changed. */
  async reload() {
    const flaw = filterFlaw(this.app.model.filter);
    const node = byID("filter-flaw");
    node.hidden = flaw === null;
    node.textContent = flaw ?? "";
    if (flaw) return;
    try {
      await this.list.reload(await this.offset());
    } catch (error) {
      node.hidden = false;
      node.textContent = error instanceof Error ? error.message : String(error);
    }
    this.showCommand();
  }

  /** @param {number} count
      @param {boolean} isWhole */
  showCount(count, isWhole) {
    const { filter } = this.app.model;
    const { source } = this.app;
    const onPage = source.isPartial ? " on this page" : "";
    const words = isFilterEmpty(filter)
      ? `${counted(count, "entry", "entries")}${onPage}`
      : `${grouped(count)} of ${counted(source.count, "entry", "entries")}${onPage} match`;
    byID("entries-count").textContent = isWhole ? words : `${words} so far`;
    const empty = byID("list-empty");
    empty.hidden = count > 0 || !isWhole;
    empty.textContent = isFilterEmpty(filter)
      ? source.isPartial
        ? "This page has no entries."
        : "This log has no entries yet."
      : "No entry matches the filters.";
    byID("list").hidden = count === 0 && isWhole;
    // The numbers of a long log are wide.
    const digits = Math.max(4, String(source.last).length);
    byID("entries-card").style.setProperty("--number-width", `${digits * 9 + 4}px`);
    clearTimeout(this.counting);
    if (!isWhole) this.counting = window.setTimeout(() => this.list.paint(true), countingPause);
  }

  showCommand() {
    const node = byID("filter-command");
    const { filter } = this.app.model;
    node.hidden = filterOptions(filter).length === 0;
    if (node.hidden) return;
    const words = "Copy the command of the filters";
    node.replaceChildren(commandLabel(this.app), ...commandNodes(filterCommand(this.app), words));
  }

  makeForm() {
    const field = (
      /** @type {string} */ name,
      /** @type {string} */ label,
      /** @type {string} */ placeholder,
    ) =>
      el(
        "div",
        { class: "field" },
        el("label", { for: `filter-${name}` }, label),
        el("input", { id: `filter-${name}`, name, placeholder, autocomplete: "off" }),
      );
    const choice = (
      /** @type {string} */ name,
      /** @type {string} */ label,
      /** @type {string[][]} */ options,
    ) =>
      el(
        "div",
        { class: "field" },
        el("label", { for: `filter-${name}` }, label),
        el(
          "select",
          { id: `filter-${name}`, name },
          ...options.map(([value, words]) => el("option", { value }, words)),
        ),
      );
    const form = byID("filters");
    form.append(
      el(
        "fieldset",
        {},
        el("legend", {}, "Entries that say"),
        ...entryKinds.map((kind) =>
          el(
            "label",
            { class: "check" },
            el("input", { type: "checkbox", name: "kind", value: kind }),
            mark(kind),
            ` ${kindName(kind)}`,
          ),
        ),
      ),
      el(
        "div",
        { class: "fields" },
        field("intent", "Intent", "12"),
        field("key", "Document key", "post"),
        choice("state", "Intents that are now", [
          ["", "in any state"],
          ...intentStates.map((state) => [state, state]),
        ]),
        choice("with", "Entries", [["", "with or without trouble"], ...troubles]),
        field("since", "From (UTC)", "2026-11-21"),
        field("until", "Before (UTC)", "2026-11-21T15:04:05Z"),
      ),
      button("Clear filters", () => this.clear()),
    );
    const isOverDocuments = this.app.source.head.projections.some(
      (/** @type {any} */ one) => one.isOverDocuments,
    );
    byID("filter-key").closest(".field").hidden = !isOverDocuments;
    const changed = () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.readForm(), typingPause);
    };
    form.addEventListener("input", changed);
    form.addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
    byID("filter-text").addEventListener("input", changed);
    byID("filters-toggle").addEventListener("click", () => this.openForm(form.hidden));
  }

  /** @param {boolean} isOpen */
  openForm(isOpen) {
    byID("filters").hidden = !isOpen;
    byID("filters-toggle").setAttribute("aria-expanded", String(isOpen));
  }

  readForm() {
    const form = byID("filters");
    /** @type {import("./filters.js").Filter} */
    const filter = {};
    const kinds = [...form.querySelectorAll("[name=kind]:checked")].map((node) => node.value);
    if (kinds.length > 0) filter.kind = kinds;
    for (const name of fieldNames) {
      const value = byID(`filter-${name}`).value.trim();
      if (value !== "") Reflect.set(filter, name, value);
    }
    const text = byID("filter-text").value;
    if (text !== "") filter.text = text;
    this.app.model.filter = filter;
    this.app.model.save();
    this.showToggle();
    this.reload();
  }

  fillForm() {
    const { filter } = this.app.model;
    for (const node of byID("filters").querySelectorAll("[name=kind]"))
      node.checked = (filter.kind ?? []).includes(node.value);
    for (const name of filterNames) {
      byID(`filter-${name}`).value = Reflect.get(filter, name) ?? "";
    }
    this.showToggle();
    const { text: _, ...others } = filter;
    if (!isFilterEmpty(others)) this.openForm(true);
  }

  showToggle() {
    const { filter } = this.app.model;
    const count =
      (filter.kind ?? []).length +
      fieldNames.filter((name) => Reflect.get(filter, name)).length;
    byID("filters-toggle").textContent = count > 0 ? `Filters (${count})` : "Filters";
  }

  clear() {
    this.app.model.filter = {};
    this.fillForm();
    this.readForm();
  }
}
