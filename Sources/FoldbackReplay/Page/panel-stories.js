// The tabs that look over time: the story of an intent, the story of a place, a comparison.

import { badge, button, counted, el, mark, timeText, valueNode, visible } from "./dom.js";
import { differences, numberOf } from "./json.js";
import { takingKinds } from "./filters.js";
import { BoundedCache } from "./source.js";
import { changesTable, entryLink, intentLink, withoutNodes } from "./pieces.js";
import { entryWords, keyOf, kindWords, markOf } from "./words.js";
import { decisionNodes } from "./server-lane.js";

const chaptersMax = 50;

/** Shows what a promise brings, unless something else is shown by then.
    @param {HTMLElement} node
    @param {Promise<Node[]>} content */
export async function showLater(node, content) {
  const wait = el("p", { class: "soft", role: "status" }, "Folding\u2026");
  /** @type {any} */ (node).latest = wait;
  const timer = setTimeout(() => node.append(wait), 150);
  let nodes;
  try {
    nodes = await content;
  } catch (error) {
    nodes = [el("p", { class: "flaw" }, error instanceof Error ? error.message : String(error))];
  }
  clearTimeout(timer);
  wait.remove();
  if (/** @type {any} */ (node).latest === wait) node.replaceChildren(...nodes);
}

/** Shows the last items first loaded, and a button for the earlier ones.
    @param {any[]} items
    @param {(item: any) => HTMLElement} make
    @param {string} what */
function lastItems(items, make, what) {
  const list = el("ol", { class: "chapters" });
  const note = el("p", { class: "note" });
  let from = items.length;
  const more = () => {
    const start = Math.max(0, from - chaptersMax);
    list.prepend(...items.slice(start, from).map(make));
    from = start;
    note.replaceChildren();
    if (from > 0)
      note.append(
        `${counted(items.length, what, "entries")}; the last ${items.length - from} are shown. `,
        button("Show earlier ones", more, { class: "small" }),
      );
  };
  more();
  return [note, list];
}

/** @param {import("./model.js").App} app
    @param {any} entry */
function chapterHead(app, entry) {
  return el(
    "div",
    { class: "chapter-head" },
    mark(markOf(entry)),
    entryLink(app, entry.sequence),
    el("strong", {}, kindWords(entry)),
    el("span", { class: "soft" }, timeText(numberOf(entry.at))),
  );
}

// ---- The story of an intent ---------------------------------------------------------------------

/** @type {import("./panel-state.js").Panel} */
export const intentPanel = {
  id: "intent",
  title: "Intent",
  paint(app, node) {
    const { model, moment } = app;
    if (model.intent === "" && moment.entry?.intent !== undefined)
      model.intent = keyOf(moment.entry.intent);
    if (model.intent === "") {
      /** @type {any} */ (node).latest = null;
      return node.replaceChildren(
        el(
          "p",
          { class: "soft" },
          "Choose an intent: click its bar in the timeline, or its number anywhere.",
        ),
      );
    }
    return showLater(node, intentStory(app, model.intent));
  },
  grew(app, node) {
    if (!node.contains(document.activeElement)) this.paint(app, node);
  },
};

/** The answers that were asked for last. Each costs a fold of the log.
    @type {BoundedCache<Promise<any>>} */
const answers = new BoundedCache(8);

/** Asks once for what is the same until the log grows.
    @template T
    @param {import("./model.js").App} app
    @param {string} what
    @param {() => Promise<T>} ask
    @returns {Promise<T>} */
function askedOnce({ model, source }, what, ask) {
  const key = `${source.last} ${model.projection} ${what}`;
  const known = answers.get(key);
  if (known) return known;
  const answer = ask();
  answers.set(key, answer);
  answer.catch(() => answers.delete(key));
  return answer;
}

/** @param {import("./model.js").App} app
    @param {string} intent */
async function intentStory(app, intent) {
  const story = await askedOnce(app, `intent ${intent}`, () =>
    app.source.story(app.model.projection, intent),
  );
  const attempt = story.attempt;
  return [
    el("h3", {}, `Intent ${intent} is `, badge(story.state)),
    endingNode(story),
    ...decisionNodes(app, intent),
    ...(await withoutNodes(app, intent)),
    ...lastItems(story.chapters, (chapter) => chapterNode(app, intent, chapter), "entry"),
    attempt
      ? el(
          "p",
          {},
          `${counted(numberOf(attempt.count), "sending attempt")}, the last at ${timeText(numberOf(attempt.startedAt))}.`,
        )
      : "",
    attempt?.quarantine
      ? el(
          "p",
          { class: "reason", "data-state": "rejected" },
          "Quarantined: ",
          visible(String(attempt.quarantine.reason)),
        )
      : "",
  ];
}

/** @param {import("./source.js").Story} story */
function endingNode({ state }) {
  /** @type {{[state: string]: string}} */
  const words = {
    pending: "The server has not answered yet.",
    accepted: "The server accepted it, and its effect has not come through the downlink yet.",
    confirmed: "Its effect is in confirmed state.",
    rejected: "The server refused it, so it was rolled back.",
    withdrawn: "The user took it back.",
  };
  return el("p", { class: "soft" }, Object.hasOwn(words, state) ? words[state] : "");
}

/** @param {import("./model.js").App} app
    @param {string} intent
    @param {import("./source.js").Chapter} chapter */
function chapterNode(app, intent, { entry, changes, others, conflict, state }) {
  return el(
    "li",
    { "data-current": entry.sequence === app.model.selected },
    chapterHead(app, entry),
    el("p", {}, el("bdi", {}, entryWords(entry))),
    state
      ? el(
          "p",
          { class: "soft" },
          "Afterwards it is ",
          badge(state),
          conflict === undefined ? "" : badge("conflicted"),
        )
      : null,
    conflict === undefined
      ? null
      : el(
          "p",
          { class: "reason", "data-state": "conflicted" },
          `Intent ${intent} does not apply: `,
          visible(conflict),
        ),
    changes.length > 0
      ? changesTable(app, changes, {
          caption: takingKinds.includes(entry.kind)
            ? "What the rollback changed in the view"
            : "Changes of the view",
        })
      : el("p", { class: "soft" }, "The view did not change."),
    ...others.map((other) =>
      el(
        "p",
        { class: "reason", "data-state": "conflicted" },
        intentLink(app, other.intent),
        " came out differently: ",
        el("del", {}, visible(other.old)),
        " \u2192 ",
        el("ins", {}, visible(other.new)),
      ),
    ),
  );
}

// ---- The story of a place -----------------------------------------------------------------------

/** @type {import("./panel-state.js").Panel} */
export const placePanel = {
  id: "place",
  title: "Place",
  paint(app, node) {
    const { model } = app;
    const input = el("input", {
      id: "place-input",
      value: model.place ?? "",
      placeholder: "/post/likes",
      autocomplete: "off",
      spellcheck: "false",
    });
    const flaw = el("p", { class: "flaw", role: "alert" });
    const form = el(
      "form",
      {
        class: "inline-form wide",
        on: {
          submit: (/** @type {Event} */ event) => {
            event.preventDefault();
            const isPointer = input.value === "" || input.value.startsWith("/");
            flaw.textContent = isPointer
              ? ""
              : "Write a place as /name/name. In the State tab, click a name instead.";
            if (isPointer) app.openPlace(input.value);
          },
        },
      },
      el("label", { for: "place-input" }, "Place"),
      input,
      el("button", {}, "Show"),
    );
    const body = el("div", { class: "place-body" });
    node.replaceChildren(form, flaw, body);
    if (model.place === null) {
      body.append(
        el(
          "p",
          { class: "soft" },
          "Click a name in the State tab, or write a place. This tab then shows the entries that changed its value.",
        ),
      );
      return undefined;
    }
    return showLater(body, placeStory(app, model.place));
  },
  grew(app, node) {
    const body = /** @type {HTMLElement | null} */ (node.querySelector(".place-body"));
    if (!body || app.model.place === null || body.contains(document.activeElement)) return;
    showLater(body, placeStory(app, app.model.place));
  },
};

/** @param {import("./model.js").App} app
    @param {string} place */
async function placeStory(app, place) {
  const causes = await askedOnce(app, `place ${place}`, () =>
    app.source.causes(app.model.projection, place),
  );
  if (causes.length === 0) return [el("p", {}, "No entry changed the value at this place.")];
  const change = (/** @type {string} */ what, /** @type {any} */ both) =>
    both
      ? el(
          "div",
          { class: "cause" },
          el("span", { class: "soft" }, what),
          el("span", { class: "old" }, valueNode(both.old)),
          el("span", { "aria-label": "became", role: "img" }, "\u2192"),
          el("span", { class: "new" }, valueNode(both.new)),
        )
      : null;
  return [
    el("h3", {}, `${counted(causes.length, "entry", "entries")} changed it`),
    ...lastItems(
      causes,
      ({ entry, view, confirmed }) =>
        el(
          "li",
          { "data-current": entry.sequence === app.model.selected },
          chapterHead(app, entry),
          el(
            "p",
            {},
            entry.intent === undefined ? "" : intentLink(app, entry.intent),
            " ",
            el("bdi", {}, entryWords(entry)),
          ),
          change("view", view),
          change("confirmed", confirmed),
        ),
      "entry",
    ),
  ];
}

// ---- Comparison ---------------------------------------------------------------------------------

/** @type {import("./panel-state.js").Panel} */
export const comparePanel = {
  id: "compare",
  title: "Compare",
  paint(app, node) {
    const { model, moment } = app;
    const { pin } = model;
    if (pin === null) {
      /** @type {any} */ (node).latest = null;
      return node.replaceChildren(
        el(
          "p",
          { class: "soft" },
          "Pin an entry, then select another. This tab shows where their states differ.",
        ),
        button(moment.sequence === 0 ? "Pin the start" : `Pin entry ${moment.sequence}`, () => {
          model.pin = moment.sequence;
          app.changed();
        }),
      );
    }
    return showLater(node, comparison(app, pin));
  },
};

/** @param {import("./model.js").App} app
    @param {number} pin */
async function comparison(app, pin) {
  const { model, moment } = app;
  const part = model.part === "confirmed" ? "confirmed" : "view";
  const pinned = await app.history.at(model.projection, pin);
  const [old, next] = [pinned.after, moment.after];
  const parts = el(
    "div",
    { class: "group", role: "group", "aria-label": "Part of the state" },
    ...["view", "confirmed"].map((one) =>
      button(
        one === "view" ? "View" : "Confirmed",
        () => {
          model.part = one;
          app.changed();
        },
        { "aria-pressed": String(part === one) },
      ),
    ),
  );
  const unpin = button("Remove the pin", () => {
    model.pin = null;
    app.changed();
  });
  const differ = ["pending", "accepted", "conflicted"].map((name) => {
    const [a, b] = [old, next].map(
      (state) => Reflect.get(state, name).map(keyOf).join(" ") || "none",
    );
    return el("li", {}, `${name}: ${a}${a === b ? "" : ` \u2192 ${b}`}`);
  });
  return [
    el(
      "p",
      {},
      "From ",
      entryLink(app, pinned.sequence),
      " (pinned) to ",
      entryLink(app, moment.sequence),
      " (selected).",
    ),
    el("div", { class: "panel-head" }, parts, unpin),
    changesTable(app, differences(old[part], next[part]), {
      states: [next[part], old[part]],
      caption: `Differences of the ${part === "view" ? "view" : "confirmed state"}`,
      old: pinned.sequence === 0 ? "at the start" : `after entry ${pinned.sequence}`,
      next: moment.sequence === 0 ? "at the start" : `after entry ${moment.sequence}`,
      none: "The two states are equal.",
    }),
    el("h3", {}, "Intents in the overlay"),
    el("ul", { class: "plain" }, ...differ),
  ];
}
