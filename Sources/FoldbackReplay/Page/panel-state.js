// The tabs about the selected entry: the entry itself, and the state after it.

import { button, counted, el, members, valueNode, visible, visibleText } from "./dom.js";
import { appended, compareNames, differences, isObject, namesOf, shortText } from "./json.js";
import { changesTable, attributedTable } from "./pieces.js";
import { stateParts } from "./model.js";
import { actorNoun, projectionNamed } from "./source.js";
import { statesOf } from "./history.js";
import { tree, treeOptions } from "./tree.js";
import { attributedEvents } from "./words.js";
import { decidedAfter } from "./server-lane.js";

/** A tab. `paint` is called when the tab or what it shows changes, and `grew`
    when the log has grown and the selected entry is the same.
    @typedef {{id: string, title: string, paint: (app: import("./model.js").App, node: HTMLElement) => any,
      grew?: (app: import("./model.js").App, node: HTMLElement) => any,
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
    if (!entry)
      return node.replaceChildren(
        el(
          "p",
          { class: "soft" },
          "No entry is selected. Press Next, or choose an entry in the list.",
        ),
      );
    const view = differences(before.view, after.view);
    const caused = attributedEvents(entry);
    const noun = actorNoun(app.source.head);
    const states = statesOf(app.moment);
    // Without intents of its own, a log has one state.
    const changes =
      noun !== null
        ? [
            changesTable(app, view, {
              states,
              caption: "Changes of the state",
              none: "The state did not change.",
            }),
          ]
        : [
            changesTable(app, view, {
              states,
              caption: "Changes of the view (what the app shows)",
              none: "The view did not change.",
            }),
            changesTable(app, differences(before.confirmed, after.confirmed), {
              states,
              caption: "Changes of confirmed state (what the server said)",
              none: "Confirmed state did not change.",
            }),
          ];
    node.replaceChildren(
      ...(caused.length > 0 ? [attributedTable(caused, noun ?? "actor")] : []),
      ...changes,
      ...decidedAfter(app),
      el("h3", {}, "The entry in the log"),
      members(entry),
    );
  },
  grew(app, node) {
    if (app.source.decisions && !node.contains(document.activeElement)) this.paint(app, node);
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
    const parts = el(
      "div",
      { class: "group", role: "group", "aria-label": "Part of the state" },
      ...stateParts.map((part) =>
        button(
          words[/** @type {"view"} */ (part)],
          () => {
            model.part = part;
            app.changed();
            /** @type {any} */ (node.querySelector(`[data-part=${part}]`))?.focus();
          },
          { "aria-pressed": String(model.part === part), "data-part": part },
        ),
      ),
    );
    const hints = {
      view: "What the app shows: confirmed state with pending intents on top.",
      confirmed: "What the server has confirmed.",
      difference: "What pending and accepted intents add to confirmed state.",
    };
    const head = el(
      "div",
      { class: "panel-head" },
      parts,
      el("span", { class: "soft" }, hints[/** @type {"view"} */ (model.part)]),
    );
    if (model.part === "difference") {
      return node.replaceChildren(
        head,
        changesTable(app, differences(moment.after.confirmed, moment.after.view), {
          states: statesOf(moment),
          caption: "Where the view differs from confirmed state",
          old: "confirmed",
          next: "view",
          none: "The view equals confirmed state. Nothing is pending in it.",
        }),
      );
    }
    const part = /** @type {"view" | "confirmed"} */ (model.part);
    const changes = differences(moment.before[part], moment.after[part]);
    const { isRows } = projectionNamed(source.head, model.projection);
    const body =
      isRows && isObject(moment.after[part])
        ? tables(app, moment.after[part], changes, node)
        : [
            tree(
              moment.after[part],
              `State, ${part}`,
              treeOptions(changes, (place) => app.openPlace(place, statesOf(moment)), openedPlaces),
            ),
          ];
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
  const select = el(
    "select",
    {
      id: "table-select",
      on: {
        change: () => {
          app.model.table = select.value;
          app.changed();
          /** @type {any} */ (node.querySelector("#table-select"))?.focus();
        },
      },
    },
    ...names.map((one) =>
      el(
        "option",
        { value: one, selected: one === name },
        `${visibleText(one)} (${Object.keys(state[one] ?? {}).length})`,
      ),
    ),
  );
  return [
    el("div", { class: "field-row" }, el("label", { for: "table-select" }, "Table"), select),
    rowsTable(app, name, state[name], changes),
  ];
}

/** Returns the changes of a table by the keys of their rows.
    @param {string} place of the table
    @param {import("./json.js").Difference[]} changes
    @returns {Map<string, {old?: any, new?: any}>} */
function touchedRows(place, changes) {
  const touched = new Map();
  for (const change of changes) {
    const key = change.place.startsWith(`${place}/`)
      ? change.place.slice(place.length + 1).split("/")[0]
      : null;
    if (key !== null)
      touched.set(
        key,
        touched.has(key)
          ? { old: 0, new: 0 }
          : change.place === `${place}/${key}`
            ? change
            : { old: 0, new: 0 },
      );
  }
  return touched;
}

/** @param {import("./model.js").App} app
    @param {string} table
    @param {any} rows
    @param {import("./json.js").Difference[]} changes */
function rowsTable(app, table, rows, changes) {
  const place = appended("", table);
  const touched = touchedRows(place, changes);
  const keys = [
    ...new Set([
      ...Object.keys(rows ?? {}),
      ...[...touched]
        .filter(([, change]) => change.new === undefined)
        .map(([key]) => key.replaceAll("~1", "/").replaceAll("~0", "~")),
    ]),
  ].sort(compareNames);
  const columns = [
    ...new Set(
      keys.slice(0, rowsMax).flatMap((key) => (isObject(rows?.[key]) ? namesOf(rows[key]) : [])),
    ),
  ].slice(0, columnsMax);
  const body = el("tbody");
  const note = el("p", { class: "note" });
  let shown = 0;
  const more = () => {
    for (const key of keys.slice(shown, shown + rowsMax))
      body.append(
        tableRow(
          app,
          appended(place, key),
          key,
          Object.hasOwn(rows ?? {}, key) ? rows[key] : undefined,
          columns,
          touched,
        ),
      );
    shown = Math.min(keys.length, shown + rowsMax);
    note.replaceChildren();
    if (shown < keys.length) {
      note.append(
        `${counted(keys.length, "row")}; the first ${shown} are shown. `,
        button(`Show ${Math.min(rowsMax, keys.length - shown)} more`, more, { class: "small" }),
      );
    }
  };
  more();
  const heads = ["key", ...(columns.length > 0 ? columns : ["value"])];
  return el(
    "div",
    { class: "table-frame", tabindex: 0, role: "region", "aria-label": "Rows" },
    el(
      "table",
      { class: "rows" },
      el("caption", { class: "sr" }, `Rows of ${visibleText(table)}`),
      el(
        "thead",
        {},
        el("tr", {}, ...heads.map((name) => el("th", { scope: "col" }, visible(name)))),
      ),
      body,
    ),
    note,
  );
}

/** @param {import("./model.js").App} app
    @param {string} place
    @param {string} key
    @param {any} row
    @param {string[]} columns
    @param {Map<string, any>} touched */
function tableRow(app, place, key, row, columns, touched) {
  const change = touched.get(place.slice(place.lastIndexOf("/") + 1));
  const how = !change
    ? null
    : change.old === undefined
      ? "added"
      : change.new === undefined
        ? "removed"
        : "changed";
  const keyNode = button("", () => app.openPlace(place), { class: "link place" });
  keyNode.append(visible(key));
  const cells =
    columns.length === 0 || !isObject(row)
      ? [
          el(
            "td",
            { colspan: Math.max(1, columns.length) },
            row === undefined ? "" : valueNode(row),
          ),
        ]
      : columns.map((column) =>
          el("td", {}, Object.hasOwn(row, column) ? visible(shortText(row[column], 80)) : ""),
        );
  return el(
    "tr",
    { "data-change": how },
    el("th", { scope: "row" }, keyNode, how ? el("span", { class: "tag" }, how) : null),
    ...cells,
  );
}
