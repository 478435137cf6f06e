// An entry and its effect in words.

import { ExactNumber, differences, isObject, namesOf, shortText } from "./json.js";
import { counted, visibleText } from "./dom.js";

/** A part of a sentence: text, or something that the page shows in a special way.
    @typedef {string | {intent: number} | {place: string} | {value: any} | {reason: string}
      | {entry: number}} Piece */
/** A sentence, with the state that it is about.
    @typedef {{tone: string, pieces: Piece[]}} Sentence */

const wordsMax = 160;
const listedMax = 4;

// ---- Events and entries -------------------------------------------------------------------------

/** @param {any} value */
function plain(value) {
  return typeof value === "string" && value !== "" ? visibleText(value.slice(0, wordsMax))
    : visibleText(shortText(value, wordsMax));
}

/** @param {any} event */
function documentWords(event) {
  const key = plain(event.key);
  const require = typeof event.require === "string" ? ` (must be ${event.require})` : "";
  switch (event.op) {
    case "set": return `set ${key} to ${visibleText(shortText(event.value, wordsMax))}${require}`;
    case "merge": return `merge ${visibleText(shortText(event.value, wordsMax))} into ${key}${require}`;
    case "delete": return `delete ${key}${require}`;
    case "increment": return `increment ${plain(event.field)} of ${key} by ${plain(event.by)}${require}`;
    default: return null;
  }
}

/** Returns an object's members as `post 42, by ann`.
    @param {any} object
    @param {number} depth
    @returns {string} */
function memberWords(object, depth) {
  return namesOf(object).slice(0, 8).map((name) => {
    const value = object[name];
    const label = /^_\d+$/.test(name) ? "" : `${visibleText(name.slice(0, wordsMax))} `;
    if (isObject(value) && Object.keys(value).length > 0 && depth < 3) {
      return label === "" ? memberWords(value, depth + 1) : `${label}(${memberWords(value, depth + 1)})`;
    }
    return label + plain(value);
  }).join(", ");
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
  const rest = namesOf(event).filter((name) => name !== cases[0])
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
      const notes = [entry.confirmOnly && "shows only when confirmed",
        entry.once !== undefined && `once ${plain(entry.once)}`,
        entry.retries !== undefined && `retries intent ${entry.retries}`].filter(Boolean);
      return eventWords(entry.event) + (notes.length > 0 ? ` (${notes.join(", ")})` : "");
    }
    case "acknowledged":
      return (entry.position === undefined ? "accepted by the server"
        : `accepted at position ${plain(entry.position)}`)
        + (entry.event === undefined ? "" : `, as: ${eventWords(entry.event)}`);
    case "rejected": return cut(rejectionText(entry));
    case "withdrawn": return "taken back before it was sent";
    case "abandoned": return "given up, although it may have been sent";
    case "dismissed": return "its rejection is no longer listed";
    default: return batchWords(entry);
  }
}

/** @param {any} entry */
function rejectionText(entry) {
  const message = visibleText(String(entry.message ?? "").slice(0, wordsMax));
  return entry.code === undefined ? message : `${plain(entry.code)}${message === "" ? "" : `: ${message}`}`;
}

/** @param {any} entry */
function batchWords(entry) {
  const events = entry.events ?? [];
  if (events.length === 0) return `nothing new up to position ${plain(entry.through)}`;
  const shown = events.slice(0, 3).map((/** @type {any} */ event) => eventWords(event.event)
    + (event.origin ? ` [${plain(event.origin.replica)} ${plain(event.origin.intent)}]` : ""));
  const more = events.length - shown.length;
  return shown.join("; ") + (more > 0 ? `; and ${more} more` : "");
}

/** Returns the kind of an entry as a short label.
    @param {any} entry */
export function kindWords(entry) {
  return entry.kind === "intent" ? "recorded" : entry.kind === "acknowledged" ? "accepted" : entry.kind;
}

/** Returns the numbers of this replica's intents that a batch names.
    @param {any} entry
    @param {string} replica */
export function ownIntents(entry, replica) {
  if (entry.kind !== "confirmed") return entry.intent === undefined ? [] : [entry.intent];
  return (entry.events ?? []).filter((/** @type {any} */ event) => event.origin?.replica === replica)
    .map((/** @type {any} */ event) => event.origin.intent);
}

// ---- Effects ------------------------------------------------------------------------------------

/** @param {any} number */
export const keyOf = (number) => (number instanceof ExactNumber ? number.digits : String(number));

/** @param {any} state
    @returns {any[]} */
export function overlayOf(state) {
  return [...new Set([...state.pending, ...state.accepted])].sort((a, b) => Number(keyOf(a)) - Number(keyOf(b)));
}

/** Explains what an entry did.
    @param {import("./history.js").Moment} moment
    @returns {Sentence[]} */
export function explained(moment) {
  const { entry, before, after } = moment;
  if (!entry) {
    return [{ tone: "plain", pieces: ["This is the state before the first entry."] }];
  }
  const changes = differences(before.view, after.view);
  const main = mainSentence(moment, changes);
  return [main, ...changeSentences(entry, moment, changes), ...conflictSentences(moment),
    ...otherSentences(moment), ...faultSentences(moment)];
}

/** @param {import("./history.js").Moment} moment
    @param {import("./json.js").Difference[]} changes
    @returns {Sentence} */
function mainSentence({ entry, before, after }, changes) {
  const intent = { intent: entry.intent };
  const wasThere = overlayOf(before).map(keyOf).includes(keyOf(entry.intent));
  const isThere = overlayOf(after).map(keyOf).includes(keyOf(entry.intent));
  const wasConflicted = before.conflicted.map(keyOf).includes(keyOf(entry.intent));
  switch (entry.kind) {
    case "intent":
      return { tone: "pending", pieces: ["The app recorded ", intent, ": ", { reason: eventWords(entry.event) }, ". ",
        ...(entry.retries === undefined ? [] : ["It retries ", { intent: entry.retries }, ". "]),
        entry.confirmOnly ? "It counts only when the server confirms it." : changes.length > 0
          ? "It counts at once, before the server answers." : "The view did not change."] };
    case "acknowledged":
      if (!isThere && wasThere) {
        return { tone: "confirmed", pieces: ["The server confirmed ", intent, before.confirmed === after.confirmed
          ? ". Its effect was in confirmed state already." : "."] };
      }
      if (isThere && !wasThere) {
        return { tone: "accepted", pieces: ["The server accepted ", intent,
          " after all, so it counts again."] };
      }
      return { tone: "accepted", pieces: ["The server accepted ", intent, isThere
        ? ". It stays in the overlay until the downlink delivers its effect."
        : ". It was settled before, so nothing happened."] };
    case "rejected": {
      const why = rejectionText(entry);
      const reason = /** @type {Piece[]} */ (why === "" ? [] : [" (", { reason: why }, ")"]);
      if (!wasThere) return { tone: "rejected", pieces: ["The server rejected ", intent, ...reason, ". It was settled before, so nothing was rolled back."] };
      return { tone: "rejected", pieces: wasConflicted
        ? ["The server rejected ", intent, ...reason, ". It did not count, because it was conflicted."]
        : ["Rollback: ", intent, " no longer counts, because the server rejected it", ...reason, "."] };
    }
    case "withdrawn":
      return { tone: "withdrawn", pieces: ["The app took back ", intent, " before it was sent. It no longer counts."] };
    case "abandoned":
      return { tone: "withdrawn", pieces: ["The user gave up ", intent, ", although it may have been sent. It no longer counts."] };
    case "dismissed":
      return { tone: "dismissed", pieces: ["The rejection of ", intent, " was dismissed. It is no longer listed."] };
    default: return batchSentence(entry, before, after);
  }
}

/** @param {any} entry
    @param {any} before
    @param {any} after
    @returns {Sentence} */
function batchSentence(entry, before, after) {
  const count = entry.events?.length ?? 0;
  const still = new Set(overlayOf(after).map(keyOf));
  const settled = overlayOf(before).filter((number) => !still.has(keyOf(number)));
  /** @type {Piece[]} */
  const pieces = count === 0 ? ["The server has nothing new"]
    : [`The server delivered ${counted(count, "confirmed event")}`];
  pieces.push(` (up to position ${plain(entry.through)}).`);
  if (settled.length > 0) {
    pieces.push(" It confirms ", ...listed(settled.map((number) => ({ intent: number }))), ".");
  }
  const others = [...new Set((entry.events ?? []).map((/** @type {any} */ event) => event.origin?.replica)
    .filter((/** @type {any} */ replica) => replica !== undefined && replica !== entry.replica))];
  if (settled.length === 0 && count > 0) {
    pieces.push(others.length > 0 ? ` It comes from ${others.slice(0, 3).map(plain).join(", ")}.`
      : count === 1 ? " It is not an intent of this log." : " None of them is an intent of this log.");
  }
  return { tone: settled.length > 0 ? "confirmed" : "plain", pieces };
}

/** @param {any} text */
function withoutPeriod(text) {
  return String(text ?? "").replace(/\.$/, "");
}

/** @param {Piece[]} items
    @returns {Piece[]} */
function listed(items) {
  const shown = items.slice(0, listedMax);
  const more = items.length - shown.length;
  const rest = more > 0 ? [...shown, `${more} more`] : shown;
  return rest.flatMap((item, index) => (index === 0 ? [item]
    : [index === rest.length - 1 ? " and " : ", ", item]));
}

/** @param {any} entry
    @param {import("./history.js").Moment} moment
    @param {import("./json.js").Difference[]} changes
    @returns {Sentence[]} */
function changeSentences(entry, { before, after }, changes) {
  if (changes.length === 0) {
    const settles = overlayOf(before).length > overlayOf(after).length;
    if (entry.kind === "confirmed" && settles) {
      return [{ tone: "confirmed", pieces: ["As predicted: the view did not change."] }];
    }
    return ["intent", "dismissed"].includes(entry.kind) ? []
      : [{ tone: "plain", pieces: ["The view did not change."] }];
  }
  const isBack = ["rejected", "withdrawn", "abandoned"].includes(entry.kind);
  const isSettling = entry.kind === "confirmed" && overlayOf(before).length > overlayOf(after).length;
  /** @type {Sentence[]} */
  const difference = isSettling ? [{ tone: "plain", pieces: ["The result is different from what the view showed:"] }] : [];
  const sentences = changes.slice(0, listedMax).map((change) => ({ tone: "plain", pieces: changePieces(change, isBack) }));
  const more = changes.length - listedMax;
  if (more > 0) sentences.push({ tone: "plain", pieces: [`${counted(more, "more change")} of the view: see below.`] });
  return [...difference, ...sentences];
}

/** @param {import("./json.js").Difference} change
    @param {boolean} isBack
    @returns {Piece[]} */
export function changePieces(change, isBack = false) {
  const place = { place: change.place };
  if (change.old === undefined) {
    return [place, isBack ? " came back: " : " is new: ", { value: change.new }, "."];
  }
  if (change.new === undefined) {
    return [place, isBack ? " is gone again. It was " : " was removed. It was ", { value: change.old }, "."];
  }
  return [place, isBack ? " went back from " : " went from ", { value: change.old }, " to ", { value: change.new }, "."];
}

/** @param {import("./history.js").Moment} moment
    @returns {Sentence[]} */
function conflictSentences({ before, after, entry }) {
  const old = new Set(before.conflicted.map(keyOf));
  const now = new Set(after.conflicted.map(keyOf));
  /** @type {Sentence[]} */
  const sentences = [];
  for (const number of after.conflicted) {
    if (old.has(keyOf(number))) continue;
    const isNew = entry.kind === "intent" && keyOf(entry.intent) === keyOf(number);
    sentences.push({ tone: "conflicted", pieces: [{ intent: number },
      isNew ? " does not apply to the present state: " : " no longer applies: ", { reason: withoutPeriod(after.reasons?.[keyOf(number)]) },
      ". It is conflicted: still pending, but it does not count."] });
  }
  const overlay = new Set(overlayOf(after).map(keyOf));
  for (const number of before.conflicted) {
    if (now.has(keyOf(number)) || !overlay.has(keyOf(number))) continue;
    sentences.push({ tone: "pending", pieces: [{ intent: number }, " applies again, so it counts again."] });
  }
  return sentences;
}

/** @param {import("./history.js").Moment} moment
    @returns {Sentence[]} */
function otherSentences({ others, before, after }) {
  // An intent that became conflicted has its own sentence.
  const old = new Set(before.conflicted.map(keyOf));
  const said = new Set(after.conflicted.map(keyOf).filter((key) => !old.has(key)));
  return (others ?? []).filter((other) => !said.has(keyOf(other.intent))).slice(0, listedMax).map((other) => ({ tone: "conflicted",
    pieces: [{ intent: other.intent }, " came out differently: ", { reason: withoutPeriod(other.old) }, " \u2192 ", { reason: withoutPeriod(other.new) }, "."] }));
}

/** @param {import("./history.js").Moment} moment
    @returns {Sentence[]} */
function faultSentences({ before, after }) {
  return (after.faulted ?? []).slice((before.faulted ?? []).length).slice(0, listedMax).map((/** @type {any} */ fault) => ({ tone: "rejected",
    pieces: ["Fault: a confirmed event could not be applied, so it was skipped: ", { reason: withoutPeriod(fault.reason) }, "."] }));
}
