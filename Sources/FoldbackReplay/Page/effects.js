// What an entry did, in sentences.

import { differences, isSameJSON, numberOf } from "./json.js";
import { counted } from "./dom.js";
import { takingKinds } from "./filters.js";
import { entryWords, eventWords, keyOf, attributedEvents, nothingWords, originWords, outcomeCounts, outcomeMark, outcomeWords, overlayOf, plain, rejectionText, worstFirst, worstOutcome } from "./words.js";

/** A part of a sentence: text, or something that the page shows in a special way.
    @typedef {string | {intent: number} | {place: string} | {value: any} | {reason: string}
      | {entry: number}} Piece */
/** A sentence, with the state that it is about.
    @typedef {{tone: string, pieces: Piece[]}} Sentence */

const listedMax = 4;

/** Explains what an entry did.
    @param {import("./history.js").Moment} moment
    @param {import("./recorders.js").Recorders} recorders
    @param {boolean} hasActors whether the log's events say who caused them
    @returns {Sentence[]} */
export function explained(moment, recorders, hasActors) {
  const { entry, before, after } = moment;
  if (!entry) {
    const words =
      moment.sequence === 0
        ? "This is the state before the first entry."
        : `This is the state after entry ${moment.sequence}, before the first entry of this page.`;
    return [{ tone: "plain", pieces: [words] }];
  }
  const changes = differences(before.view, after.view);
  return [
    ...(hasActors && entry.kind === "confirmed"
      ? attributedSentences(entry)
      : [mainSentence(moment, changes, recorders)]),
    ...changeSentences(entry, moment, changes),
    ...conflictSentences(moment),
    ...otherSentences(moment),
    ...faultSentences(moment),
  ];
}

/** @param {import("./history.js").Moment} moment
    @param {import("./json.js").Difference[]} changes
    @param {import("./recorders.js").Recorders} recorders
    @returns {Sentence} */
function mainSentence(moment, changes, recorders) {
  const { entry } = moment;
  const intent = { intent: entry.intent };
  switch (entry.kind) {
    case "intent":
      return recordingSentence(entry, changes);
    case "acknowledged":
      return acceptanceSentence(moment, recorders.status().kind);
    case "rejected":
      return rejectionSentence(moment, changes);
    case "withdrawn":
      return {
        tone: "withdrawn",
        pieces: ["The app took back ", intent, " before it was sent.", ...nowOut(changes)],
      };
    case "abandoned":
      return {
        tone: "withdrawn",
        pieces: [
          "The user gave up ",
          intent,
          ", although it may have been sent.",
          ...nowOut(changes),
        ],
      };
    case "undone":
      return {
        tone: "withdrawn",
        pieces: ["Undo or redo took back ", intent, " before it was sent.", ...nowOut(changes)],
      };
    case "lapsed":
      return {
        tone: "withdrawn",
        pieces: [intent, " lapsed, because the intent that it undoes is gone.", ...nowOut(changes)],
      };
    case "restored":
      return {
        tone: "pending",
        pieces: [intent, " is pending again, because the intent that it undoes came back."],
      };
    case "released":
      return { tone: "pending", pieces: ["The app released ", intent, ". It may be sent now."] };
    case "dismissed":
      return {
        tone: "dismissed",
        pieces: ["The rejection of ", intent, " was dismissed. It is no longer listed."],
      };
    default:
      return batchSentence(moment, recorders);
  }
}

/** An intent that changed nothing did not count before either.
    @param {import("./json.js").Difference[]} changes */
function nowOut(changes) {
  return changes.length > 0 ? [" It no longer counts."] : [];
}

/** @param {any} entry
    @param {import("./json.js").Difference[]} changes
    @returns {Sentence} */
function recordingSentence(entry, changes) {
  return {
    tone: "pending",
    pieces: [
      "The app recorded ",
      { intent: entry.intent },
      ": ",
      { reason: eventWords(entry.event) },
      ". ",
      ...(entry.held ? ["It is a draft, which is not sent before it is released. "] : []),
      ...linkPieces(entry),
      entry.confirmOnly
        ? "It counts only when the server confirms it."
        : changes.length > 0
          ? "It counts at once, before the server answers."
          : "The view did not change.",
    ],
  };
}

/** @param {any} entry
    @returns {Piece[]} */
function linkPieces(entry) {
  /** @type {(words: string, number: any) => Piece[]} */
  const link = (words, number) => (number === undefined ? [] : [words, { intent: number }, ". "]);
  const isFirst = entry.group !== undefined && keyOf(entry.group) === keyOf(entry.intent);
  return [
    ...link("It retries ", entry.retries),
    ...link("It replaces ", entry.replaces),
    ...link("It undoes ", entry.undoes),
    ...(isFirst
      ? ["It is the first of several that were recorded together. "]
      : link("It was recorded together with ", entry.group)),
  ];
}

/** The log has an acknowledgement only of an intent that was pending, or that was rejected or taken
    back before (F7).
    @param {import("./history.js").Moment} moment
    @param {string} kind of the log
    @returns {Sentence} */
function acceptanceSentence({ entry, before, after }, kind) {
  const intent = { intent: entry.intent };
  const wasThere = isInOverlay(before, entry.intent);
  if (!isInOverlay(after, entry.intent)) {
    const isKnown = kind !== "acknowledgement" && isSameJSON(before.confirmed, after.confirmed);
    const how = isKnown ? ". Its effect was in confirmed state already." : ".";
    return {
      tone: "confirmed",
      pieces: wasThere
        ? ["The server confirmed ", intent, how]
        : [
            "The server confirmed ",
            intent,
            " after all, although it was rejected or taken back",
            how,
          ],
    };
  }
  return {
    tone: "accepted",
    pieces: [
      "The server accepted ",
      intent,
      wasThere
        ? ". It stays in the overlay until a batch from the server delivers its effect."
        : " after all, although it was rejected or taken back. It is in the overlay again.",
    ],
  };
}

/** The log has a rejection only of a pending intent (F7).
    @param {import("./history.js").Moment} moment
    @param {import("./json.js").Difference[]} changes
    @returns {Sentence} */
function rejectionSentence({ entry, before }, changes) {
  const intent = { intent: entry.intent };
  const why = rejectionText(entry);
  const reason = /** @type {Piece[]} */ (why === "" ? [] : [" (", { reason: why }, ")"]);
  const wasConflicted = before.conflicted.map(keyOf).includes(keyOf(entry.intent));
  const isRollback = !wasConflicted && changes.length > 0;
  return {
    tone: "rejected",
    pieces: isRollback
      ? ["Rollback: ", intent, " no longer counts, because the server rejected it", ...reason, "."]
      : [
          "The server rejected ",
          intent,
          ...reason,
          wasConflicted ? ". It did not count, because it was conflicted." : ".",
        ],
  };
}

/** @param {any} state
    @param {any} intent */
function isInOverlay(state, intent) {
  return overlayOf(state).map(keyOf).includes(keyOf(intent));
}

/** @param {import("./history.js").Moment} moment
    @param {import("./recorders.js").Recorders} recorders
    @returns {Sentence} */
function batchSentence({ entry, before, after }, recorders) {
  const events = entry.events ?? [];
  const still = new Set(overlayOf(after).map(keyOf));
  const settled = overlayOf(before).filter((number) => !still.has(keyOf(number)));
  const known = new Set(overlayOf(before).map(keyOf));
  // A new event is applied, whatever the state of the intent that it names (F6).
  const isNew = (/** @type {any} */ event) => numberOf(event.position) > numberOf(before.through);
  const late = events.filter(
    (/** @type {any} */ event) =>
      recorders.isOwn(event.origin) && isNew(event) && !known.has(keyOf(event.origin.intent)),
  );
  const lateKeys = new Set(late.map((/** @type {any} */ event) => keyOf(event.origin.intent)));
  const links = (/** @type {any[]} */ numbers) =>
    listed(numbers.map((number) => ({ intent: number })));
  /** @type {Piece[]} */
  const pieces = [
    events.length === 0
      ? "The server has nothing new"
      : `The server delivered ${counted(events.length, "confirmed event")}`,
    ` (up to position ${plain(entry.through)}).`,
  ];
  if (settled.length > 0) pieces.push(" It confirms ", ...links(settled), ".");
  if (late.length > 0)
    pieces.push(
      settled.length > 0 ? " It also has an effect of " : " It has an effect of ",
      ...links([...lateKeys].map(Number)),
      lateKeys.size === 1 ? ", which was settled before." : ", which were settled before.",
    );
  const isOwn =
    settled.length > 0 || events.some((/** @type {any} */ one) => recorders.isOwn(one.origin));
  if (!isOwn && events.length > 0) pieces.push(...sourcePieces(events));
  return { tone: settled.length + late.length > 0 ? "confirmed" : "plain", pieces };
}

/** Says what became of the events of a batch that somebody caused: of a single one, or of all in
    numbers and of those that were not accepted.
    @param {any} entry
    @returns {Sentence[]} */
function attributedSentences(entry) {
  const events = attributedEvents(entry);
  if (events.length === 0)
    return [{ tone: "plain", pieces: ["The log notes: ", { reason: entryWords(entry) }, "."] }];
  if (events.length === 1) return [attributedSentence(events[0])];
  const refused = worstFirst(events).filter(({ outcome }) => outcome !== "accepted");
  const more = refused.length - listedMax;
  const counts = `Position ${plain(entry.through)} has ${events.length} events: ${outcomeCounts(events)}.`;
  return [
    { tone: outcomeMark(worstOutcome(events) ?? "accepted"), pieces: [counts] },
    ...refused.slice(0, listedMax).map(attributedSentence),
    ...(more > 0 ? [{ tone: "plain", pieces: [`${more} more: see below.`] }] : []),
  ];
}

/** @param {any} event
    @returns {Sentence} */
function attributedSentence(event) {
  const { outcome, actor } = event;
  const origin = originWords(event);
  const words = withoutPeriod(outcomeWords(event));
  const what = origin === "" ? `An event of ${plain(actor)}` : `Intent ${origin} of ${plain(actor)}`;
  /** @type {Piece[]} */
  const why = words === "" ? [] : [": ", words === nothingWords ? words : { reason: words }];
  return { tone: outcomeMark(outcome), pieces: [`${what} was ${outcome}`, ...why, "."] };
}

/** Says where the events of a batch come from that names no intent of this log.
    @param {any[]} events
    @returns {Piece[]} */
function sourcePieces(events) {
  const replicas = events.map((event) => event.origin?.replica).filter((one) => one !== undefined);
  const others = [...new Set(replicas)];
  const isOne = events.length === 1;
  if (others.length > 0)
    return [isOne ? " It comes from " : " They come from ", ...listed(others.map(plain)), "."];
  return [isOne ? " It is not an intent of this log." : " None of them is an intent of this log."];
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
    return ["intent", "released", "dismissed"].includes(entry.kind)
      ? []
      : [{ tone: "plain", pieces: ["The view did not change."] }];
  }
  const isBack = takingKinds.includes(entry.kind);
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
