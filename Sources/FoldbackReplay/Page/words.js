// An entry in words.

import { ExactNumber, isObject, namesOf, shortText } from "./json.js";
import { counted, visibleText } from "./dom.js";

const wordsMax = 160;

// ---- Events and entries -------------------------------------------------------------------------

/** @param {any} value */
export function plain(value) {
  return typeof value === "string" && value !== ""
    ? visibleText(value.slice(0, wordsMax))
    : visibleText(shortText(value, wordsMax));
}

/** @param {any} event */
function documentWords(event) {
  const key = plain(event.key);
  const require = typeof event.require === "string" ? ` (must be ${event.require})` : "";
  switch (event.op) {
    case "set":
      return `set ${key} to ${visibleText(shortText(event.value, wordsMax))}${require}`;
    case "merge":
      return `merge ${visibleText(shortText(event.value, wordsMax))} into ${key}${require}`;
    case "delete":
      return `delete ${key}${require}`;
    case "increment":
      return `increment ${plain(event.field)} of ${key} by ${plain(event.by)}${require}`;
    default:
      return null;
  }
}

/** Returns an object's members as `post 42, by ann`.
    @param {any} object
    @param {number} depth
    @returns {string} */
function memberWords(object, depth) {
  return namesOf(object)
    .slice(0, 8)
    .map((name) => {
      const value = object[name];
      const label = /^_\d+$/.test(name) ? "" : `${visibleText(name.slice(0, wordsMax))} `;
      if (isObject(value) && Object.keys(value).length > 0 && depth < 3) {
        return label === ""
          ? memberWords(value, depth + 1)
          : `${label}(${memberWords(value, depth + 1)})`;
      }
      return label + plain(value);
    })
    .join(", ");
}

/** Returns an enumeration's case as `liked: post 42`; null for another object.
    @param {any} value
    @returns {string | null} */
function caseWords(value) {
  if (!isObject(value)) return null;
  const [name, ...others] = Object.keys(value);
  if (name === undefined || others.length > 0 || !isObject(value[name])) return null;
  const words = memberWords(value[name], 0);
  return words === "" ? visibleText(name) : `${visibleText(name)}: ${words}`;
}

/** @param {any} event
    @returns {string} */
export function eventWords(event) {
  if (!isObject(event)) return plain(event);
  if (event.op === "all" && Array.isArray(event.events)) {
    return event.events.slice(0, 8).map(eventWords).join("; ");
  }
  const words = (typeof event.op === "string" ? documentWords(event) : null) ?? caseWords(event);
  if (words !== null) return cut(words);
  if (Array.isArray(event.bytes) && Object.keys(event).length === 1) {
    return `${counted(event.bytes.length, "byte")} that are not JSON`;
  }
  // Often an event is a case with something about all cases: {"by":"ann","did":{"liked":{…}}}.
  const cases = namesOf(event).filter((name) => caseWords(event[name]) !== null);
  if (cases.length !== 1) return cut(visibleText(shortText(event, wordsMax)));
  const rest = namesOf(event)
    .filter((name) => name !== cases[0])
    .map((name) => `${visibleText(name)} ${plain(event[name])}`);
  return cut([caseWords(event[cases[0]]), ...rest].join(", "));
}

/** @param {string} text */
function cut(text) {
  return text.length > wordsMax ? `${text.slice(0, wordsMax)}\u2026` : text;
}

/** Describes an entry without its kind, number and intent.
    @param {any} entry
    @returns {string} */
export function entryWords(entry) {
  switch (entry.kind) {
    case "intent": {
      const notes = [
        entry.confirmOnly && "shows only when confirmed",
        entry.held && "a draft",
        entry.once !== undefined && `once ${plain(entry.once)}`,
        entry.replacing !== undefined && `replaceable by ${plain(entry.replacing)}`,
        ...linkWords(entry),
      ].filter(Boolean);
      return eventWords(entry.event) + (notes.length > 0 ? ` (${notes.join(", ")})` : "");
    }
    case "acknowledged":
      return (
        (entry.position === undefined
          ? "accepted by the server"
          : `accepted at position ${plain(entry.position)}`) +
        (entry.event === undefined ? "" : `, as: ${eventWords(entry.event)}`)
      );
    case "rejected":
      return cut(rejectionText(entry));
    case "withdrawn":
      return "taken back before it was sent";
    case "abandoned":
      return "given up, although it may have been sent";
    case "undone":
      return "taken back by undo or redo";
    case "lapsed":
      return "the intent that it undoes is gone";
    case "restored":
      return "pending again, because the intent that it undoes came back";
    case "released":
      return "a draft that may be sent now";
    case "dismissed":
      return "its rejection is no longer listed";
    default:
      return batchWords(entry);
  }
}

/** Returns the links of an intent to other intents.
    @param {any} entry
    @returns {string[]} */
function linkWords({ intent, retries, replaces, undoes, group }) {
  const words = [
    retries === undefined ? "" : `retries intent ${keyOf(retries)}`,
    replaces === undefined ? "" : `replaces intent ${keyOf(replaces)}`,
    undoes === undefined ? "" : `undoes intent ${keyOf(undoes)}`,
  ];
  if (group !== undefined) {
    const isFirst = keyOf(group) === keyOf(intent);
    words.push(isFirst ? "first of several together" : `together with intent ${keyOf(group)}`);
  }
  return words.filter((one) => one !== "");
}

/** @param {any} entry */
export function rejectionText(entry) {
  const message = visibleText(String(entry.message ?? "").slice(0, wordsMax));
  return entry.code === undefined
    ? message
    : `${plain(entry.code)}${message === "" ? "" : `: ${message}`}`;
}

/** @param {any} entry */
function batchWords(entry) {
  const events = worstFirst(entry.events ?? []);
  if (events.length === 0) return `nothing new up to position ${plain(entry.through)}`;
  // The kind of the entry says what became of a single event.
  const outcome = (/** @type {any} */ one) => (events.length > 1 ? ` ${one.outcome}` : "");
  const shown = events
    .slice(0, 3)
    .map((/** @type {any} */ event) =>
      hasActor(event)
        ? `${plain(event.actor)}${outcome(event)}: ${outcomeWords(event)} [${originWords(event)}]`
        : eventWords(event.event) +
          (event.origin ? ` [${plain(event.origin.replica)} ${plain(event.origin.intent)}]` : ""),
    );
  const more = events.length - shown.length;
  return shown.join("; ") + (more > 0 ? `; and ${more} more` : "");
}

/** Returns a kind of entries in words. The command line and the files have the kind itself.
    @param {string} kind */
export function kindName(kind) {
  return kind === "intent" ? "recorded" : kind === "acknowledged" ? "accepted" : kind;
}

/** Returns the kind of an entry as a short label, or what became of its events if they have actors.
    @param {any} entry */
export function kindWords(entry) {
  const events = attributedEvents(entry);
  const worst = worstOutcome(events);
  if (worst !== null) {
    const count = events.filter(({ outcome }) => outcome === worst).length;
    if (events.length === 1) return worst;
    return count === events.length ? `${count} ${worst}` : `${count} of ${events.length} ${worst}`;
  }
  return kindName(entry.kind);
}

// ---- Events with actors -------------------------------------------------------------------------

/** What can become of an event that somebody caused, the worst first. */
export const outcomes = ["rejected", "reworded", "accepted"];

export const nothingWords = "nothing was applied";

/** @param {any} event of a batch */
const hasActor = ({ actor, outcome }) =>
  typeof actor === "string" && actor !== "" && outcomes.includes(outcome);

/** Returns the events of an entry that somebody caused.
    @param {any} entry
    @returns {any[]} */
export function attributedEvents(entry) {
  return entry.kind === "confirmed" ? (entry.events ?? []).filter(hasActor) : [];
}

/** @param {any[]} events
    @returns {string | null} */
export function worstOutcome(events) {
  return outcomes.find((one) => events.some(({ outcome }) => outcome === one)) ?? null;
}

/** @param {any[]} events */
export function worstFirst(events) {
  const rank = (/** @type {any} */ event) => (hasActor(event) ? outcomes.indexOf(event.outcome) : 0);
  return [...events].sort((a, b) => rank(a) - rank(b));
}

/** Returns the name of the mark that shows an outcome. An accepted event is in confirmed state.
    @param {string} outcome */
export const outcomeMark = (outcome) => (outcome === "accepted" ? "confirmed" : outcome);

/** Returns the name of an entry's mark.
    @param {any} entry */
export function markOf(entry) {
  const worst = worstOutcome(attributedEvents(entry));
  return worst === null ? entry.kind : outcomeMark(worst);
}

/** Says what was applied, or why nothing was.
    @param {any} event with an actor
    @returns {string} */
export function outcomeWords({ event, outcome }) {
  const found = isObject(event) ? event[outcome] : undefined;
  if (found === null) return nothingWords;
  return outcome === "rejected" && isObject(found)
    ? rejectionText(found)
    : eventWords(found ?? event);
}

/** Returns the name of the intent that an event comes from.
    @param {any} event */
export function originWords({ origin }) {
  return isObject(origin) ? `${plain(origin.replica)}.${keyOf(origin.intent)}` : "";
}

/** @param {any[]} events with actors
    @returns {string} such as `3 accepted, 1 rejected` */
export function outcomeCounts(events) {
  return [...outcomes]
    .reverse()
    .map((one) => [one, events.filter(({ outcome }) => outcome === one).length])
    .filter(([, count]) => count !== 0)
    .map(([one, count]) => `${count} ${one}`)
    .join(", ");
}

/** @param {any} number */
export const keyOf = (number) => (number instanceof ExactNumber ? number.digits : String(number));

/** @param {any} state
    @returns {any[]} */
export function overlayOf(state) {
  return [...new Set([...state.pending, ...state.accepted])].sort(
    (a, b) => Number(keyOf(a)) - Number(keyOf(b)),
  );
}
