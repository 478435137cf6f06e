// Sentences and lists of changes as nodes, with the intents and places in them as links.

import { commandLine, copyText } from "./commands.js";
import { badge, button, counted, el, mark, valueNode, visible, visibleText } from "./dom.js";
import { isSameJSON, namesIn, numberOf } from "./json.js";
import { statesOf } from "./history.js";
import { keyOf, originWords, outcomeMark, outcomeWords, worstFirst } from "./words.js";

const changesMax = 100;

/** @param {import("./model.js").App} app
    @param {any} number */
export function intentLink(app, number) {
  const words = `intent ${keyOf(number)}`;
  return button(words, () => app.openIntent(number), {
    class: "link",
    title: `Show the story of ${words}`,
  });
}

/** @param {import("./model.js").App} app
    @param {string} place
    @param {any[]} [states] in which the place is; without them, its indexes stay indexes */
export function placeLink(app, place, states = []) {
  const words = place === "" ? "the whole state" : place;
  const node = button("", () => app.openPlace(place, states), {
    class: "link place",
    title: "Show the story of this place",
  });
  node.append(visible(words.length > 200 ? `${words.slice(0, 200)}\u2026` : words));
  return node;
}

/** @param {import("./model.js").App} app
    @param {number} sequence */
export function entryLink(app, sequence) {
  return button(sequence === 0 ? "the start" : `entry ${sequence}`, () => app.select(sequence), {
    class: "link",
  });
}

/** Makes the sentence's first letter a capital, if the sentence starts with a link.
    @param {HTMLElement} node */
function capitalize(node) {
  const first = node.firstChild;
  if (first instanceof HTMLButtonElement && first.firstChild instanceof Text) {
    first.firstChild.data =
      first.firstChild.data.charAt(0).toUpperCase() + first.firstChild.data.slice(1);
  }
}

/** @param {import("./model.js").App} app
    @param {import("./effects.js").Piece[]} pieces */
export function sentenceNode(app, pieces) {
  const nodes = pieces.map((piece) => {
    if (typeof piece === "string") return piece;
    if ("intent" in piece) return intentLink(app, piece.intent);
    if ("place" in piece) return placeLink(app, piece.place, statesOf(app.moment));
    if ("entry" in piece) return entryLink(app, piece.entry);
    if ("reason" in piece)
      return el(
        "q",
        {},
        visible(piece.reason.length > 400 ? `${piece.reason.slice(0, 400)}\u2026` : piece.reason),
      );
    return valueNode(piece.value);
  });
  const node = el("span", {}, ...nodes);
  capitalize(node);
  return node;
}

/** @param {import("./model.js").App} app
    @param {import("./effects.js").Sentence[]} sentences */
export function sentenceList(app, sentences) {
  return sentences.map(({ tone, pieces }, index) =>
    el(
      "p",
      { class: index === 0 ? "main-sentence" : "sentence", "data-tone": tone },
      ["plain"].includes(tone) ? null : mark(tone),
      sentenceNode(app, pieces),
    ),
  );
}

/** Shows differences as a table: place, old value, new value.
    @param {import("./model.js").App} app
    @param {import("./json.js").Difference[]} changes
    @param {{caption: string, old?: string, next?: string, none?: string, states?: any[]}} words and the
      states in which the places are */
export function changesTable(
  app,
  changes,
  { caption, old = "before", next = "after", none = "No differences.", states = [] },
) {
  if (changes.length === 0) return el("p", { class: "soft" }, none);
  const body = el("tbody");
  const foot = el("p", { class: "note" });
  let shown = 0;
  const more = () => {
    for (const change of changes.slice(shown, shown + changesMax))
      body.append(changeRow(app, change, states));
    shown = Math.min(changes.length, shown + changesMax);
    foot.replaceChildren();
    if (shown === changes.length) return;
    foot.append(
      `${counted(changes.length, "difference")}; the first ${shown} are shown. `,
      button(`Show ${Math.min(changesMax, changes.length - shown)} more`, more, { class: "small" }),
    );
  };
  more();
  return el(
    "div",
    { class: "table-frame" },
    el(
      "table",
      { class: "changes" },
      el("caption", {}, caption),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ...["", "place", old, next].map((name, index) =>
            index === 0 ? el("td", {}) : el("th", { scope: "col" }, name),
          ),
        ),
      ),
      body,
    ),
    foot,
  );
}

/** @param {import("./model.js").App} app
    @param {import("./json.js").Difference} change
    @param {any[]} states */
function changeRow(app, change, states) {
  const how =
    change.old === undefined
      ? "added"
      : change.new === undefined
        ? "removed"
        : isSameJSON(change.old, change.new)
          ? "equal again"
          : "changed";
  return el(
    "tr",
    { "data-change": how },
    el(
      "td",
      { class: "sign", title: how },
      el(
        "span",
        { "aria-hidden": "true" },
        { added: "+", removed: "\u2212", changed: "~", "equal again": "=" }[how],
      ),
      el("span", { class: "sr" }, how),
    ),
    el("th", { scope: "row" }, placeLink(app, change.place, states)),
    el("td", { class: "old" }, valueNode(change.old)),
    el("td", { class: "new" }, valueNode(change.new)),
  );
}

/** Shows events with actors as a table: who, the intent, what became of it.
    @param {any[]} events
    @param {string} noun what an actor is
    @param {string} [caption] */
export function attributedTable(events, noun, caption = "Who did what") {
  const body = el("tbody");
  const foot = el("p", { class: "note" });
  const sorted = worstFirst(events);
  let shown = 0;
  const more = () => {
    for (const event of sorted.slice(shown, shown + changesMax)) body.append(attributedRow(event));
    shown = Math.min(sorted.length, shown + changesMax);
    foot.replaceChildren();
    if (shown === sorted.length) return;
    foot.append(
      `${counted(sorted.length, "event")}; the first ${shown} are shown. `,
      button(`Show ${Math.min(changesMax, sorted.length - shown)} more`, more, { class: "small" }),
    );
  };
  more();
  return el(
    "div",
    { class: "table-frame" },
    el(
      "table",
      { class: "attributed" },
      el("caption", {}, caption),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ...[noun, "intent", "outcome", "what"].map((name) => el("th", { scope: "col" }, name)),
        ),
      ),
      body,
    ),
    foot,
  );
}

/** @param {any} event */
function attributedRow(event) {
  return el(
    "tr",
    { "data-outcome": event.outcome },
    el("th", { scope: "row" }, visible(event.actor)),
    el("td", {}, originWords(event)),
    el("td", {}, badge(outcomeMark(event.outcome), event.outcome)),
    el("td", {}, el("bdi", {}, outcomeWords(event))),
  );
}

/** @param {Node[]} nodes */
function separated(nodes) {
  return nodes.flatMap((node, index) => (index === 0 ? [node] : [", ", node]));
}

/** Says what would have differed without an intent, if the page knows it in advance.
    @param {import("./model.js").App} app
    @param {string} intent */
export async function withoutNodes(app, intent) {
  const answer = await app.source.without(app.model.projection, intent);
  if (answer === null) return [];
  const start = `Without intent ${intent}, `;
  // A page of some entries may lack these.
  const linked = (/** @type {number} */ sequence) =>
    app.source.isPartial ? `entry ${sequence}` : entryLink(app, sequence);
  if (answer.from === undefined)
    return [el("p", { class: "verdict" }, `${start}every state would have been the same.`)];
  const nodes = [];
  if (answer.to === undefined) {
    nodes.push(el("p", { class: "verdict" }, `${start}the end of the log would be another one.`));
  } else {
    const more = answer.placeCount - answer.places.length;
    const links = separated(answer.places.map((place) => placeLink(app, place)));
    nodes.push(
      el(
        "p",
        { class: "verdict" },
        `${start}the end of the log would be the same. From `,
        linked(numberOf(answer.from)),
        " until ",
        linked(numberOf(answer.to)),
        ", the states would have been others",
        links.length > 0 ? " at " : "",
        ...links,
        more > 0 ? ` and ${counted(more, "more place")}.` : ".",
      ),
    );
  }
  if (answer.conflicts.length > 0)
    nodes.push(
      el(
        "p",
        {},
        "Conflicted at the end in only one of the two: ",
        ...separated(answer.conflicts.map((number) => intentLink(app, number))),
        ".",
      ),
    );
  for (const [name, words] of [
    ["view", "the view"],
    ["confirmed", "confirmed state"],
  ]) {
    const { count, first } = Reflect.get(answer, name);
    if (count === 0) continue;
    nodes.push(
      changesTable(app, first, {
        caption: `Differences of ${words} at the end of the log${count > first.length ? `: the first ${first.length} of ${counted(count, "place")}` : ""}`,
        old: "what happened",
        next: "without it",
      }),
    );
  }
  return nodes;
}

/** Returns a command line, and a button that copies it.
    @param {string} command
    @param {string} name of the button */
export function commandNodes(command, name) {
  const copy = button("Copy", () => copyText(command), { class: "small", "aria-label": name });
  return [el("code", {}, visibleText(command)), " ", copy];
}

/** Says that a file does not answer a question, and how to open the log in the inspector.
    @param {import("./model.js").App} app
    @param {string} words about what a terminal does */
export function fileNote(app, words) {
  return el(
    "p",
    { class: "note" },
    `This page is a file. ${words} The inspector does it on a page: `,
    ...commandNodes(commandLine(app, "inspect", "--open"), "Copy the command of the inspector"),
  );
}

/** @param {string} place */
export function placeWords(place) {
  return visibleText(namesIn(place).join(" \u203a ") || "the whole state");
}

/** The addresses of the files that are offered now.
    @type {string[]} */
let offeredAddresses = [];

/** Offers files for download. Files that were offered before are no longer kept.
    @param {import("./source.js").TextFile[]} files */
export function fileList(files) {
  for (const address of offeredAddresses) URL.revokeObjectURL(address);
  offeredAddresses = [];
  return el(
    "ul",
    { class: "files" },
    ...files.map(({ name, text }) => {
      const file = new Blob([text], { type: "application/octet-stream" });
      const address = URL.createObjectURL(file);
      offeredAddresses.push(address);
      const link = el("a", { download: name, href: address }, `Save ${visibleText(name)}`);
      return el("li", {}, link, el("span", { class: "soft" }, ` ${counted(file.size, "byte")}`));
    }),
  );
}
