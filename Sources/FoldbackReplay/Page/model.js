// What the page shows: the selection, filters, pins and tabs. The link's fragment carries it.

import { entryKinds, filterNames, filterParameters } from "./filters.js";

/** The page's parts, as panels see them.
    @typedef {object} App
    @property {import("./source.js").Source} source
    @property {import("./history.js").History} history
    @property {Model} model
    @property {string} command the command line for the present tab
    @property {import("./history.js").Moment} moment the selected entry
    @property {(sequence: number) => Promise<void>} select
    @property {(intent: any) => void} openIntent shows the story of an intent
    @property {(place: string, states?: any[]) => void} openPlace shows the story of a place of these
      states
    @property {(tab: string) => void} openTab
    @property {(text: string) => Promise<void>} toggleSearch searches the entries for a text, or ends
      that search
    @property {() => void} changed paints again what depends on the model */

export const tabNames = [
  "entry",
  "state",
  "overlay",
  "intent",
  "place",
  "compare",
  "what-if",
  "find",
  "export",
  "plots",
];
export const stateParts = ["view", "confirmed", "difference"];

export class Model {
  /** @param {string} projection */
  constructor(projection) {
    this.projection = projection;
    this.selected = 0;
    this.tab = "entry";
    this.part = "view";
    this.intent = "";
    this.place = /** @type {string | null} */ (null);
    this.pin = /** @type {number | null} */ (null);
    this.axis = "sequence";
    this.table = "";
    this.filter = /** @type {import("./filters.js").Filter} */ ({});
    this.timer = 0;
    this.written = "";
  }

  /** Reads a fragment. Returns whether it names an entry.
      @param {string} fragment
      @param {string[]} projections */
  read(fragment, projections) {
    const parameters = new URLSearchParams(fragment.replace(/^#/, ""));
    const one = (/** @type {string} */ name) => parameters.get(name) ?? "";
    const among = (
      /** @type {string} */ name,
      /** @type {string[]} */ known,
      /** @type {string} */ otherwise,
    ) => (known.includes(one(name)) ? one(name) : otherwise);
    const number = (/** @type {string} */ name) =>
      /^\d{1,15}$/.test(one(name)) ? Number(one(name)) : null;
    this.projection = among("projection", projections, projections[0] ?? "");
    this.tab = among("tab", tabNames, "entry");
    this.part = among("part", stateParts, "view");
    this.axis = among("axis", ["sequence", "time"], "sequence");
    this.intent = /^\d+$/.test(one("story")) ? one("story") : "";
    this.place = parameters.get("place");
    this.table = one("table");
    this.pin = number("pin");
    this.filter = {};
    const kinds = parameters.getAll("kind").filter((kind) => entryKinds.includes(kind));
    if (kinds.length > 0) this.filter.kind = kinds;
    for (const name of filterNames) if (one(name)) Reflect.set(this.filter, name, one(name));
    const entry = number("entry");
    this.selected = entry ?? 0;
    return entry !== null;
  }

  /** Returns the fragment that {@link read} reads. */
  fragment() {
    const parameters = new URLSearchParams({ entry: String(this.selected) });
    const set = (
      /** @type {string} */ name,
      /** @type {any} */ value,
      /** @type {any} */ usual,
    ) => {
      if (value !== usual && value !== null && value !== "") parameters.set(name, String(value));
    };
    set("tab", this.tab, "entry");
    set("projection", this.projection, "");
    set("part", this.part, "view");
    set("axis", this.axis, "sequence");
    if (this.tab === "intent") set("story", this.intent, "");
    if (this.place !== null) parameters.set("place", this.place);
    set("table", this.table, "");
    set("pin", this.pin, null);
    return filterParameters(this.filter, parameters).toString();
  }

  /** Writes the fragment soon. A browser refuses hundreds of changes in a short time. */
  save() {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.saveNow(), 250);
  }

  saveNow() {
    clearTimeout(this.timer);
    this.written = `#${this.fragment()}`;
    if (location.hash !== this.written) history.replaceState(null, "", this.written);
  }
}
