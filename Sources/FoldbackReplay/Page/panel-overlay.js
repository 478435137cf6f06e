// The tab about the overlay: the intents that the server has not confirmed yet.

import { badge, counted, el, timeText, visible } from "./dom.js";
import { numberOf } from "./json.js";
import { intentLink } from "./pieces.js";
import { eventWords, keyOf, overlayOf } from "./words.js";

const intentsMax = 100;

/** @type {import("./panel-state.js").Panel} */
export const overlayPanel = {
  id: "overlay",
  title: "Open intents",
  async paint(app, node) {
    const { after } = app.moment;
    const overlay = overlayOf(after);
    const head = el(
      "p",
      { class: "soft" },
      "The overlay: the intents that the server has not confirmed yet. The view is confirmed state with these on top, in this order.",
    );
    if (overlay.length === 0)
      return node.replaceChildren(
        head,
        el("p", {}, "The overlay is empty: the view equals confirmed state."),
      );
    const shown = overlay.slice(0, intentsMax);
    const list = el(
      "ol",
      { class: "overlay" },
      ...shown.map((number) => overlayItem(app, number, null)),
    );
    const note =
      overlay.length > shown.length
        ? el(
            "p",
            { class: "note" },
            `${counted(overlay.length, "intent")}; the first ${shown.length} are shown.`,
          )
        : null;
    node.replaceChildren(head, list, ...(note ? [note] : []));
    const { moment } = app;
    const events = await recordedEvents(app, shown);
    if (app.moment === moment && list.isConnected)
      list.replaceChildren(
        ...shown.map((number) => overlayItem(app, number, events.get(keyOf(number)) ?? null)),
      );
  },
  grew(app, node) {
    if (!node.contains(document.activeElement)) this.paint(app, node);
  },
};

/** Returns the entries that recorded these intents.
    @param {import("./model.js").App} app
    @param {any[]} numbers */
async function recordedEvents(app, numbers) {
  /** @type {Map<string, any>} */
  const entries = new Map();
  for (const { entry } of app.moment.window.frames)
    if (entry.kind === "intent") entries.set(keyOf(entry.intent), entry);
  const others = await app.source.intents(numbers.filter((one) => !entries.has(keyOf(one))));
  for (const [key, entry] of others) entries.set(key, entry);
  return entries;
}

/** @param {import("./model.js").App} app
    @param {any} number
    @param {any} entry */
function overlayItem(app, number, entry) {
  const { after } = app.moment;
  const key = keyOf(number);
  const has = (/** @type {any[]} */ numbers) => numbers.some((one) => keyOf(one) === key);
  const isConflicted = has(after.conflicted);
  const attempts = app.source.head.attempts ?? {};
  const attempt = Object.hasOwn(attempts, key) ? attempts[key] : null;
  return el(
    "li",
    {},
    el(
      "div",
      { class: "overlay-head" },
      intentLink(app, number),
      badge(has(after.accepted) ? "accepted" : "pending"),
      isConflicted ? badge("conflicted") : null,
      entry ? el("span", { class: "soft" }, `recorded ${timeText(numberOf(entry.at))}`) : null,
    ),
    el(
      "p",
      {},
      entry ? eventWords(entry.event) : "\u2026",
      entry?.confirmOnly ? " (counts only when confirmed)" : "",
      entry?.held ? " (recorded as a draft)" : "",
    ),
    isConflicted
      ? el(
          "p",
          { class: "reason", "data-state": "conflicted" },
          "Does not count: ",
          visible(after.reasons?.[key] ?? ""),
        )
      : null,
    attempt
      ? el(
          "p",
          { class: "soft" },
          `${counted(numberOf(attempt.count), "sending attempt")}, the last at ${timeText(numberOf(attempt.startedAt))}.`,
        )
      : null,
    attempt?.quarantine
      ? el(
          "p",
          { class: "reason", "data-state": "rejected" },
          `Quarantined since ${timeText(numberOf(attempt.quarantine.since))}: `,
          visible(String(attempt.quarantine.reason)),
        )
      : null,
  );
}
