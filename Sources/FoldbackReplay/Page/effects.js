// What an entry did, in sentences.

import { differences } from "./json.js";
import { counted } from "./dom.js";
import { eventWords, keyOf, overlayOf, plain, rejectionText } from "./words.js";

/** A part of a sentence: text, or something that the page shows in a special way.
    @typedef {string | {intent: number} | {place: string} | {value: any} | {reason: string}
      | {entry: number}} Piece */
/** A sentence, with the state that it is about.
    @typedef {{tone: string, pieces: Piece[]}} Sentence */

const listedMax = 4;

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
  return [
    main,
    ...changeSentences(entry, moment, changes),
    ...conflictSentences(moment),
    ...otherSentences(moment),
    ...faultSentences(moment),
  ];
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
      return {
        tone: "pending",
        pieces: [
          "The app recorded ",
          intent,
          ": ",
          { reason: eventWords(entry.event) },
          ". ",
          ...(entry.retries === undefined ? [] : ["It retries ", { intent: entry.retries }, ". "]),
          entry.confirmOnly
            ? "It counts only when the server confirms it."
            : changes.length > 0
              ? "It counts at once, before the server answers."
              : "The view did not change.",
        ],
      };
    case "acknowledged":
      if (!isThere && wasThere) {
        return {
          tone: "confirmed",
          pieces: [
            "The server confirmed ",
            intent,
            before.confirmed === after.confirmed
              ? ". Its effect was in confirmed state already."
              : ".",
          ],
        };
      }
      if (isThere && !wasThere) {
        return {
          tone: "accepted",
          pieces: ["The server accepted ", intent, " after all, so it counts again."],
        };
      }
      return {
        tone: "accepted",
        pieces: [
          "The server accepted ",
          intent,
          isThere
            ? ". It stays in the overlay until the downlink delivers its effect."
            : ". It was settled before, so nothing happened.",
        ],
      };
    case "rejected": {
      const why = rejectionText(entry);
      const reason = /** @type {Piece[]} */ (why === "" ? [] : [" (", { reason: why }, ")"]);
      if (!wasThere)
        return {
          tone: "rejected",
          pieces: [
            "The server rejected ",
            intent,
            ...reason,
            ". It was settled before, so nothing was rolled back.",
          ],
        };
      return {
        tone: "rejected",
        pieces: wasConflicted
          ? [
              "The server rejected ",
              intent,
              ...reason,
              ". It did not count, because it was conflicted.",
            ]
          : [
              "Rollback: ",
              intent,
              " no longer counts, because the server rejected it",
              ...reason,
              ".",
            ],
      };
    }
    case "withdrawn":
      return {
        tone: "withdrawn",
        pieces: ["The app took back ", intent, " before it was sent. It no longer counts."],
      };
    case "abandoned":
      return {
        tone: "withdrawn",
        pieces: [
          "The user gave up ",
          intent,
          ", although it may have been sent. It no longer counts.",
        ],
      };
    case "dismissed":
      return {
        tone: "dismissed",
        pieces: ["The rejection of ", intent, " was dismissed. It is no longer listed."],
      };
    default:
      return batchSentence(entry, before, after);
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
  const pieces =
    count === 0
      ? ["The server has nothing new"]
      : [`The server delivered ${counted(count, "confirmed event")}`];
  pieces.push(` (up to position ${plain(entry.through)}).`);
  if (settled.length > 0) {
    pieces.push(" It confirms ", ...listed(settled.map((number) => ({ intent: number }))), ".");
  }
  const others = [
    ...new Set(
      (entry.events ?? [])
        .map((/** @type {any} */ event) => event.origin?.replica)
        .filter((/** @type {any} */ replica) => replica !== undefined && replica !== entry.replica),
    ),
  ];
  if (settled.length === 0 && count > 0) {
    pieces.push(
      others.length > 0
        ? ` It comes from ${others.slice(0, 3).map(plain).join(", ")}.`
        : count === 1
          ? " It is not an intent of this log."
          : " None of them is an intent of this log.",
    );
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
  return rest.flatMap((item, index) =>
    index === 0 ? [item] : [index === rest.length - 1 ? " and " : ", ", item],
  );
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
    return ["intent", "dismissed"].includes(entry.kind)
      ? []
      : [{ tone: "plain", pieces: ["The view did not change."] }];
  }
  const isBack = ["rejected", "withdrawn", "abandoned"].includes(entry.kind);
  const isSettling =
    entry.kind === "confirmed" && overlayOf(before).length > overlayOf(after).length;
  /** @type {Sentence[]} */
  const difference = isSettling
    ? [{ tone: "plain", pieces: ["The result is different from what the view showed:"] }]
    : [];
  const sentences = changes
    .slice(0, listedMax)
    .map((change) => ({ tone: "plain", pieces: changePieces(change, isBack) }));
  const more = changes.length - listedMax;
  if (more > 0)
    sentences.push({
      tone: "plain",
      pieces: [`${counted(more, "more change")} of the view: see below.`],
    });
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
    return [
      place,
      isBack ? " is gone again. It was " : " was removed. It was ",
      { value: change.old },
      ".",
    ];
  }
  return [
    place,
    isBack ? " went back from " : " went from ",
    { value: change.old },
    " to ",
    { value: change.new },
    ".",
  ];
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
    sentences.push({
      tone: "conflicted",
      pieces: [
        { intent: number },
        isNew ? " does not apply to the present state: " : " no longer applies: ",
        { reason: withoutPeriod(after.reasons?.[keyOf(number)]) },
        ". It is conflicted: still pending, but it does not count.",
      ],
    });
  }
  const overlay = new Set(overlayOf(after).map(keyOf));
  for (const number of before.conflicted) {
    if (now.has(keyOf(number)) || !overlay.has(keyOf(number))) continue;
    sentences.push({
      tone: "pending",
      pieces: [{ intent: number }, " applies again, so it counts again."],
    });
  }
  return sentences;
}

/** @param {import("./history.js").Moment} moment
    @returns {Sentence[]} */
function otherSentences({ others, before, after }) {
  // An intent that became conflicted has its own sentence.
  const old = new Set(before.conflicted.map(keyOf));
  const said = new Set(after.conflicted.map(keyOf).filter((key) => !old.has(key)));
  return (others ?? [])
    .filter((other) => !said.has(keyOf(other.intent)))
    .slice(0, listedMax)
    .map((other) => ({
      tone: "conflicted",
      pieces: [
        { intent: other.intent },
        " came out differently: ",
        { reason: withoutPeriod(other.old) },
        " \u2192 ",
        { reason: withoutPeriod(other.new) },
        ".",
      ],
    }));
}

/** @param {import("./history.js").Moment} moment
    @returns {Sentence[]} */
function faultSentences({ before, after }) {
  return (after.faulted ?? [])
    .slice((before.faulted ?? []).length)
    .slice(0, listedMax)
    .map((/** @type {any} */ fault) => ({
      tone: "rejected",
      pieces: [
        "Fault: a confirmed event could not be applied, so it was skipped: ",
        { reason: withoutPeriod(fault.reason) },
        ".",
      ],
    }));
}
