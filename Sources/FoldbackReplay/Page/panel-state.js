// The tabs about the selected entry: the entry itself, the state after it, the overlay.

import { badge, button, counted, el, members, timeText, valueNode, visible, visibleText } from "./dom.js";
import { compareNames, differences, isObject, namesOf, numberOf, appended, shortText } from "./json.js";
import { changesTable, intentLink } from "./pieces.js";
import { stateParts } from "./model.js";
import { projectionNamed } from "./source.js";
import { eventWords, keyOf, overlayOf } from "./words.js";
import { tree, treeOptions } from "./tree.js";

/** A tab. `paint` is called when the tab or what it shows changes.
    @typedef {{id: string, title: string, paint: (app: import("./model.js").App, node: HTMLElement) => any,
      command?: (app: import("./model.js").App) => string | null}} Panel */

const rowsMax = 100;
const columnsMax = 8;

// ---- The entry ----------------------------------------------------------------------------------

/** @type {Panel} */
export const entryPanel = {
  id: "entry",
  title: "Changes",
  paint(app, node) {
    const { entry, before, after } = app.moment;
    if (!entry) return node.replaceChildren(el("p", { class: "soft" }, "No entry is selected. Press Next, or choose an entry in the list."));
    const confirmed = differences(before.confirmed, after.confirmed);
    node.replaceChildren(
      changesTable(app, differences(before.view, after.view), { caption: "Changes of the view (what the app shows)", none: "The view did not change." }),
      changesTable(app, confirmed, { caption: "Changes of confirmed state (what the server said)", none: "Confirmed state did not change." }),
      el("h3", {}, "The entry in the log"), members(entry));
  },
};

// ---- State --------------------------------------------------------------------------------------

const openedPlaces = new Set();

/** @type {Panel} */
export const statePanel = {
  id: "state",
  title: "State",
  paint(app, node) {
    const { model, moment, source } = app;
    const words = { view: "View", confirmed: "Confirmed", difference: "Difference" };
    const parts = el("div", { class: "group", role: "group", "aria-label": "Part of the state" }, ...stateParts.map((part) =>
      button(words[/** @type {"view"} */ (part)], () => {
        model.part = part;
        app.changed();
        /** @type {any} */ (node.querySelector(`[data-part=${part}]`))?.focus();
      }, { "aria-pressed": String(model.part === part), "data-part": part })));
    const hints = { view: "What the app shows: confirmed state with pending intents on top.",
      confirmed: "What the server has confirmed.",
      difference: "What pending and accepted intents add to confirmed state." };
    const head = el("div", { class: "panel-head" }, parts, el("span", { class: "soft" }, hints[/** @type {"view"} */ (model.part)]));
    if (model.part === "difference") {
      return node.replaceChildren(head, changesTable(app, differences(moment.after.confirmed, moment.after.view),
        { caption: "Where the view differs from confirmed state", old: "confirmed", next: "view", none: "The view equals confirmed state. Nothing is pending in it." }));
    }
    const part = /** @type {"view" | "confirmed"} */ (model.part);
    const changes = differences(moment.before[part], moment.after[part]);
    const { isRows } = projectionNamed(source.head, model.projection);
    const body = isRows && isObject(moment.after[part]) ? tables(app, moment.after[part], changes, node)
      : [tree(moment.after[part], `State, ${part}`, treeOptions(changes, (place) => app.openPlace(place), openedPlaces))];
    node.replaceChildren(head, ...body);
  },
};

/** @param {import("./model.js").App} app
    @param {any} state
    @param {import("./json.js").Difference[]} changes
    @param {HTMLElement} node */
function tables(app, state, changes, node) {
  const names = namesOf(state);
  if (names.length === 0) return [el("p", { class: "soft" }, "There are no rows.")];
  const name = names.includes(app.model.table) ? app.model.table : names[0];
  const select = el("select", { id: "table-select", on: { change: () => {
    app.model.table = select.value;
    app.changed();
    /** @type {any} */ (node.querySelector("#table-select"))?.focus();
  } } }, ...names.map((one) => el("option", { value: one, selected: one === name }, `${visibleText(one)} (${Object.keys(state[one] ?? {}).length})`)));
  return [el("div", { class: "field-row" }, el("label", { for: "table-select" }, "Table"), select),
    rowsTable(app, name, state[name], changes)];
}

/** @param {import("./model.js").App} app
    @param {string} table
    @param {any} rows
    @param {import("./json.js").Difference[]} changes */
function rowsTable(app, table, rows, changes) {
  const place = appended("", table);
  const touched = new Map();
  for (const change of changes) {
    const key = change.place.startsWith(`${place}/`) ? change.place.slice(place.length + 1).split("/")[0] : null;
    if (key !== null) touched.set(key, touched.has(key) ? { old: 0, new: 0 } : change.place === `${place}/${key}` ? change : { old: 0, new: 0 });
  }
  const keys = [...new Set([...Object.keys(rows ?? {}), ...[...touched].filter(([, change]) => change.new === undefined)
    .map(([key]) => key.replaceAll("~1", "/").replaceAll("~0", "~"))])].sort(compareNames);
  const columns = [...new Set(keys.slice(0, rowsMax).flatMap((key) => (isObject(rows?.[key]) ? namesOf(rows[key]) : [])))].slice(0, columnsMax);
  const body = el("tbody");
  const note = el("p", { class: "note" });
  let shown = 0;
  const more = () => {
    for (const key of keys.slice(shown, shown + rowsMax)) body.append(tableRow(app, appended(place, key), key, Object.hasOwn(rows ?? {}, key) ? rows[key] : undefined, columns, touched));
    shown = Math.min(keys.length, shown + rowsMax);
    note.replaceChildren();
    if (shown < keys.length) {
      note.append(`${counted(keys.length, "row")}; the first ${shown} are shown. `,
        button(`Show ${Math.min(rowsMax, keys.length - shown)} more`, more, { class: "small" }));
    }
  };
  more();
  const heads = ["key", ...(columns.length > 0 ? columns : ["value"])];
  return el("div", { class: "table-frame", tabindex: 0, role: "region", "aria-label": "Rows" }, el("table", { class: "rows" },
    el("caption", { class: "sr" }, `Rows of ${visibleText(table)}`),
    el("thead", {}, el("tr", {}, ...heads.map((name) => el("th", { scope: "col" }, visible(name))))), body), note);
}

/** @param {import("./model.js").App} app
    @param {string} place
    @param {string} key
    @param {any} row
    @param {string[]} columns
    @param {Map<string, any>} touched */
function tableRow(app, place, key, row, columns, touched) {
  const change = touched.get(place.slice(place.lastIndexOf("/") + 1));
  const how = !change ? null : change.old === undefined ? "added" : change.new === undefined ? "removed" : "changed";
  const keyNode = button("", () => app.openPlace(place), { class: "link place" });
  keyNode.append(visible(key));
  const cells = columns.length === 0 || !isObject(row) ? [el("td", { colspan: Math.max(1, columns.length) }, row === undefined ? "" : valueNode(row))]
    : columns.map((column) => el("td", {}, Object.hasOwn(row, column) ? visible(shortText(row[column], 80)) : ""));
  return el("tr", { "data-change": how }, el("th", { scope: "row" }, keyNode, how ? el("span", { class: "tag" }, how) : null), ...cells);
}

// ---- Overlay ------------------------------------------------------------------------------------

/** @type {Panel} */
export const overlayPanel = {
  id: "overlay",
  title: "Overlay",
  async paint(app, node) {
    const { after } = app.moment;
    const overlay = overlayOf(after);
    const head = el("p", { class: "soft" }, "The intents that the server has not confirmed yet, in the order in which they are folded over confirmed state.");
    if (overlay.length === 0) return node.replaceChildren(head, el("p", {}, "The overlay is empty: the view equals confirmed state."));
    const shown = overlay.slice(0, rowsMax);
    const list = el("ol", { class: "overlay" }, ...shown.map((number) => overlayItem(app, number, null)));
    const note = overlay.length > shown.length ? el("p", { class: "note" }, `${counted(overlay.length, "intent")}; the first ${shown.length} are shown.`) : null;
    node.replaceChildren(head, list, ...(note ? [note] : []));
    const { moment } = app;
    const events = await recordedEvents(app, shown);
    if (app.moment === moment && list.isConnected) list.replaceChildren(...shown.map((number) => overlayItem(app, number, events.get(keyOf(number)) ?? null)));
  },
};

/** Returns the entries that recorded these intents.
    @param {import("./model.js").App} app
    @param {any[]} numbers */
async function recordedEvents(app, numbers) {
  const entries = new Map();
  for (const { entry } of app.moment.window.frames) if (entry.kind === "intent") entries.set(keyOf(entry.intent), entry);
  for (const number of numbers.filter((one) => !entries.has(keyOf(one))).slice(0, 20)) {
    const { rows } = await app.source.rows({ kind: ["intent"], intent: keyOf(number) }, 0, 1, app.model.projection);
    if (rows[0]) entries.set(keyOf(number), rows[0].entry);
  }
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
  return el("li", {}, el("div", { class: "overlay-head" }, intentLink(app, number), badge(has(after.accepted) ? "accepted" : "pending"),
    isConflicted ? badge("conflicted") : null, entry ? el("span", { class: "soft" }, `recorded ${timeText(numberOf(entry.at))}`) : null),
  el("p", {}, entry ? eventWords(entry.event) : "\u2026", entry?.confirmOnly ? " (counts only when confirmed)" : ""),
  isConflicted ? el("p", { class: "reason", "data-state": "conflicted" }, "Does not count: ", visible(after.reasons?.[key] ?? "")) : null,
  attempt ? el("p", { class: "soft" }, `${counted(numberOf(attempt.count), "sending attempt")}, the last at ${timeText(numberOf(attempt.startedAt))}.`) : null,
  attempt?.quarantine ? el("p", { class: "reason", "data-state": "rejected" }, `Quarantined since ${timeText(numberOf(attempt.quarantine.since))}: `, visible(String(attempt.quarantine.reason))) : null);
}
