// The filters of `log`, and search over payloads.

import { ExactNumber, isObject, jsonText, numberOf } from "./json.js";

/** What the list of entries shows. Absent members do not filter.
    @typedef {{kind?: string[], intent?: string, key?: string, state?: string, since?: string,
      until?: string, with?: string, text?: string}} Filter */

export const entryKinds = [
  "intent",
  "acknowledged",
  "rejected",
  "withdrawn",
  "abandoned",
  "undone",
  "lapsed",
  "restored",
  "released",
  "dismissed",
  "confirmed",
];
export const intentStates = ["pending", "accepted", "confirmed", "rejected", "withdrawn"];
export const troubles = [
  ["conflict", "where a conflict began"],
  ["fault", "with a fault"],
];
export const fieldNames = ["intent", "key", "state", "since", "until", "with"];
export const filterNames = [...fieldNames, "text"];

/** @param {Filter} filter */
export function isFilterEmpty(filter) {
  return (
    (filter.kind ?? []).length === 0 && filterNames.every((name) => !Reflect.get(filter, name))
  );
}

/** Returns the filter as the parameters of a request or of a link.
    @param {Filter} filter
    @param {URLSearchParams} [into] */
export function filterParameters(filter, into = new URLSearchParams()) {
  for (const kind of filter.kind ?? []) into.append("kind", kind);
  for (const name of filterNames) {
    const value = Reflect.get(filter, name);
    if (value) into.set(name, value);
  }
  return into;
}

/** Returns the filter as options of `log`. The text has no option.
    @param {Filter} filter
    @returns {string[]} */
export function filterOptions(filter) {
  const options = (filter.kind ?? []).flatMap((kind) => ["--kind", kind]);
  for (const name of fieldNames) {
    const value = Reflect.get(filter, name);
    if (value) options.push(`--${name}`, value);
  }
  return options;
}

/** Returns milliseconds since 1970; null if the text is not a moment as `log` reads it.
    @param {string} text */
export function momentOf(text) {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text);
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/.test(text);
  const time = isDay || isTime ? Date.parse(text) : NaN;
  // A browser reads February 30 as a day of March.
  const day = text.slice(0, 10);
  const isDate = !Number.isNaN(time) && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
  return isDate ? time : null;
}

/** Returns what is wrong with a filter; null if nothing is.
    @param {Filter} filter */
export function filterFlaw(filter) {
  if (filter.intent && !/^\d+$/.test(filter.intent)) return "An intent is a whole number.";
  for (const text of [filter.since, filter.until]) {
    if (text && momentOf(text) === null)
      return "Write a moment as 2026-11-21 or 2026-11-21T15:04:05Z.";
  }
  const [since, until] = [filter.since, filter.until].map((text) => (text ? momentOf(text) : null));
  if (since !== null && until !== null && since >= until)
    return "The first moment must be before the second.";
  return null;
}

/** Members of the operations on documents. `events` is only in `all`. */
const documentMembers = {
  set: ["key", "value", "require"],
  merge: ["key", "value", "require"],
  delete: ["key", "require"],
  increment: ["key", "field", "by", "require"],
  all: ["events"],
};

/** Returns whether JSON is an event of documents, as `log` reads it.
    @param {any} event
    @returns {boolean} */
function isDocumentEvent(event) {
  if (!isObject(event) || !Object.hasOwn(documentMembers, event.op)) return false;
  const known = documentMembers[/** @type {"set"} */ (event.op)];
  if (Object.keys(event).some((name) => name !== "op" && !known.includes(name))) return false;
  if (event.op === "all") return Array.isArray(event.events) && event.events.every(isDocumentEvent);
  const isNumber = typeof event.by === "number" || event.by instanceof ExactNumber;
  return (
    typeof event.key === "string" &&
    (!Object.hasOwn(event, "require") || ["present", "absent"].includes(event.require)) &&
    (!["set", "merge"].includes(event.op) || Object.hasOwn(event, "value")) &&
    (event.op !== "increment" || (typeof event.field === "string" && isNumber))
  );
}

/** Returns the keys that a documents event touches.
    @param {any} event
    @returns {string[]} */
function documentKeys(event) {
  return event.op === "all" ? event.events.flatMap(documentKeys) : [event.key];
}

/** @param {any} entry
    @returns {any[]} */
export function eventsOf(entry) {
  if (entry.kind === "confirmed")
    return (entry.events ?? []).map((/** @type {any} */ one) => one.event);
  return entry.event === undefined ? [] : [entry.event];
}

/** Returns a function that decides whether an entry passes.
    @param {Filter} filter
    @param {import("./recorders.js").Recorders} recorders
    @param {(intent: any) => string | undefined} stateOf an intent's state at the end
    @param {(trouble: string) => number[]} entriesWith the entries where a conflict began, or with a
      fault */
export function filterPredicate(filter, recorders, stateOf, entriesWith) {
  const kinds = new Set(filter.kind ?? []);
  const since = filter.since ? momentOf(filter.since) : null;
  const until = filter.until ? momentOf(filter.until) : null;
  const wanted = filter.intent ? String(BigInt(filter.intent)) : null;
  const text = filter.text?.toLowerCase();
  const troubled = filter.with ? new Set(entriesWith(filter.with)) : null;
  /** @param {any} entry */
  return (entry) => {
    if (kinds.size > 0 && !kinds.has(entry.kind)) return false;
    const time = numberOf(entry.at);
    if ((since !== null && time < since) || (until !== null && time >= until)) return false;
    if (wanted !== null && !isAbout(entry, wanted, recorders)) return false;
    if (
      filter.key &&
      !eventsOf(entry).some(
        (event) => isDocumentEvent(event) && documentKeys(event).includes(filter.key ?? ""),
      )
    )
      return false;
    if (filter.state && (entry.kind !== "intent" || stateOf(entry.intent) !== filter.state))
      return false;
    if (troubled && !troubled.has(entry.sequence)) return false;
    return !text || jsonText(entry).toLowerCase().includes(text);
  };
}

/** @param {any} number */
function textOf(number) {
  return typeof number === "number" ? String(number) : String(number?.digits);
}

/** The kinds of entries that take an intent out of the overlay without confirming it. */
export const takingKinds = ["rejected", "withdrawn", "abandoned", "undone", "lapsed"];

/** Returns whether an entry records, answers or names an intent.
    @param {any} entry
    @param {string} number
    @param {import("./recorders.js").Recorders} recorders */
export function isAbout(entry, number, recorders) {
  const isNamed = recorders.ownIntents(entry).some((one) => textOf(one) === number);
  return (
    isNamed ||
    [entry.retries, entry.replaces, entry.undoes].some((one) => textOf(one) === number)
  );
}
