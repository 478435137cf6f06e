// A branch of the history next to the actual history, entry by entry.

import { counted, el, grouped } from "./dom.js";
import { differences, numberOf, parseJSON } from "./json.js";
import { changesTable, entryLink, placeLink } from "./pieces.js";
import { entryWords, keyOf, kindWords } from "./words.js";
import { showLater } from "./panel-stories.js";
import { BoundedCache, readEntry } from "./source.js";
import { VirtualList } from "./virtual.js";

const placesMax = 4;

/** Asks for the branch, and shows it.
    @param {import("./model.js").App} app
    @param {import("./commands.js").Edit[]} edits */
export async function branchNodes(app, edits) {
  const { projection } = app.model;
  const sent = edits.map((edit) =>
    edit.event === undefined ? edit : { ...edit, event: parseJSON(edit.event) },
  );
  const answer = await app.source.ask("/api/what-if", { projection, edits: sent });
  const changed = new Map(
    answer.divergences.map((/** @type {any} */ one) => [Number(one.sequence), one]),
  );
  const list = el("div", {
    id: "branch-list",
    class: "list branch",
    role: "listbox",
    tabindex: 0,
    "aria-label": "The actual history and the branch, entry by entry",
  });
  const place = el("div", { class: "result" });
  const rows = new BranchRows(app, answer, changed, edits);
  const first = answer.rows.findIndex(
    (/** @type {any} */ row) =>
      row.actual === undefined ||
      row.branch === undefined ||
      row.same === false ||
      changed.has(row.actual),
  );
  const choose = (/** @type {number} */ offset) => {
    virtual.select(offset);
    showLater(place, comparisonAt(app, answer, answer.rows[offset]));
  };
  const virtual = new VirtualList(list, {
    load: (offset, count) => rows.load(offset, count),
    row: (row) => rows.node(row),
    choose,
  });
  requestAnimationFrame(() => virtual.reload(first).then(() => first >= 0 && choose(first)));
  return [
    ...(await verdictAtEnd(app, answer)),
    ...notes(answer),
    el(
      "div",
      { class: "branch-head", "aria-hidden": "true" },
      el("span", {}, "What happened"),
      el("span", {}, "In the branch"),
      el("span", {}, ""),
    ),
    list,
    place,
  ];
}

/** Says first where the end differs, because that is the question, and then since when.
    @param {import("./model.js").App} app
    @param {any} answer */
async function verdictAtEnd(app, answer) {
  const verdict = (/** @type {any[]} */ ...words) => el("p", { class: "verdict" }, ...words);
  if (!answer.differs) return [verdict("No state would have differed.")];
  // A long answer lacks its last rows.
  const isWhole = numberOf(answer.rowOffset) + answer.rows.length >= numberOf(answer.rowCount);
  const row = answer.rows.findLast((/** @type {any} */ one) => one.actual !== undefined);
  const last = isWhole ? numberOf(row.actual) : app.source.last;
  const { after } = await app.history.at(app.model.projection, last);
  const view = differences(after.view, answer.end.view);
  const confirmed = differences(after.confirmed, answer.end.confirmed);
  const [places, of] = view.length > 0 ? [view, ""] : [confirmed, " of confirmed state"];
  const more = places.length - placesMax;
  const verb = places.length === 1 ? "differs" : "differ";
  const count = counted(numberOf(answer.divergenceCount), "entry", "entries");
  return [
    places.length === 0
      ? verdict("At the end, the view and confirmed state are the same.")
      : verdict(
          `At the end, ${counted(places.length, "place")}${of} ${verb}:`,
          ...places.slice(0, placesMax).map(({ place }) => placeLink(app, place)),
          more > 0 ? `and ${grouped(more)} more` : "",
        ),
    el(
      "p",
      { class: "soft" },
      `${count} changed the difference. The first is `,
      entryLink(app, numberOf(answer.divergences[0].sequence)),
      ".",
    ),
  ];
}

/** @param {any} answer */
function notes(answer) {
  const found = [];
  if (answer.leftOut?.length > 0)
    found.push(
      `Left out, because they are no longer possible: entries ${answer.leftOut.map(keyOf).join(" ")}.`,
    );
  if (answer.inserted?.length > 0)
    found.push(
      `New intents, with their numbers in the branch: ${answer.inserted.map(keyOf).join(" ")}.`,
    );
  if (answer.renumbered?.length > 0)
    found.push(
      `Other numbers in the branch: ${answer.renumbered
        .slice(0, 10)
        .map((/** @type {any} */ one) => `intent ${keyOf(one.old)} is ${keyOf(one.new)}`)
        .join(", ")}.`,
    );
  if (answer.retryingNothing?.length > 0)
    found.push(`Intents that retry nothing: ${answer.retryingNothing.map(keyOf).join(" ")}.`);
  return found.map((words) => el("p", { class: "note" }, words));
}

/** The rows of the two histories. Entries are asked for when a row can be seen. */
class BranchRows {
  /** @param {import("./model.js").App} app
      @param {any} answer
      @param {Map<number, any>} changed
      @param {import("./commands.js").Edit[]} edits */
  constructor(app, answer, changed, edits) {
    this.app = app;
    this.answer = answer;
    this.changed = changed;
    this.edited = new Set(
      edits
        .map((edit) => edit.edit ?? edit.reject ?? edit.acknowledge)
        .filter((number) => number !== undefined)
        .map(String),
    );
    /** @type {BoundedCache<any>} */
    this.entries = new BoundedCache(400);
  }

  /** @param {number} offset
      @param {number} count */
  async load(offset, count) {
    const rows = this.answer.rows.slice(offset, offset + count);
    const actual = rows
      .filter((/** @type {any} */ row) => row.actual !== undefined)
      .map((/** @type {any} */ row) => row.actual);
    if (actual.length > 0) await this.loadActual(Math.min(...actual), Math.max(...actual));
    const loaded = [];
    for (const row of rows) {
      const entry =
        row.actual === undefined ? null : (this.entries.get(`actual ${row.actual}`) ?? null);
      const isSame =
        entry &&
        row.branch !== undefined &&
        (row.same ?? !this.edited.has(keyOf(entry.intent ?? null)));
      const other =
        row.branch === undefined ? null : isSame ? entry : await this.loadBranch(row.branch);
      loaded.push({ ...row, entry, other, isSame });
    }
    return { count: this.answer.rows.length, isWhole: true, rows: loaded };
  }

  /** @param {number} from
      @param {number} to */
  async loadActual(from, to) {
    const { source, model } = this.app;
    const offset = await source.place({}, from);
    const { rows } = await source.rows({}, offset, Math.min(400, to - from + 1), model.projection);
    for (const { entry } of rows) this.entries.set(`actual ${entry.sequence}`, entry);
  }

  /** @param {number} sequence */
  async loadBranch(sequence) {
    const key = `branch ${sequence}`;
    const known = this.entries.get(key);
    if (known) return known;
    const { entry } = await this.app.source.ask(
      `/api/branch?${new URLSearchParams({ id: this.answer.id, sequence: `${sequence}` })}`,
    );
    if (entry) this.entries.set(key, readEntry(entry));
    return entry ?? null;
  }

  /** @param {any} row */
  node(row) {
    const side = (
      /** @type {any} */ entry,
      /** @type {any} */ number,
      /** @type {boolean} */ isSame,
    ) =>
      el(
        "span",
        { class: "side", "data-absent": !entry, "data-same": isSame },
        entry
          ? `${number}  ${kindWords(entry)}${entry.intent === undefined ? "" : ` ${keyOf(entry.intent)}`}: `
          : "absent",
        entry ? el("bdi", {}, entryWords(entry)) : null,
      );
    const divergence = this.changed.get(row.actual);
    const count = divergence ? divergence.view.length : 0;
    const how = !row.entry ? "added" : !row.other ? "removed" : row.isSame ? null : "changed";
    return el(
      "div",
      { class: "row", "data-change": how },
      side(row.entry, row.actual, false),
      side(row.other, row.branch, Boolean(row.isSame)),
      el(
        "span",
        { class: "changes" },
        divergence ? `\u2260 ${count}` : "",
        divergence
          ? el("span", { class: "sr" }, " places of the view differ in another way now")
          : null,
      ),
    );
  }
}

/** @param {import("./model.js").App} app
    @param {any} answer
    @param {any} row */
async function comparisonAt(app, answer, row) {
  const { projection } = app.model;
  const index = answer.rows.indexOf(row);
  const before = (/** @type {"actual" | "branch"} */ name) => {
    for (let at = index; at >= 0; at -= 1)
      if (answer.rows[at][name] !== undefined) return answer.rows[at][name];
    return 0;
  };
  const [actual, branched] = [before("actual"), before("branch")];
  const [here, there] = await Promise.all([
    app.history.at(projection, actual),
    app.source.ask(
      `/api/branch?${new URLSearchParams({ id: answer.id, sequence: `${branched}` })}`,
    ),
  ]);
  return [
    el(
      "h3",
      {},
      "The state after ",
      entryLink(app, actual),
      `, and after entry ${branched} of the branch`,
    ),
    changesTable(app, differences(here.after.view, there.state.view), {
      caption: "Differences of the view",
      old: "what happened",
      next: "in the branch",
      none: "The view is the same in both.",
    }),
    el(
      "p",
      { class: "soft" },
      `In the branch, pending: ${there.state.pending.map(keyOf).join(" ") || "none"}; conflicted: ${there.state.conflicted.map(keyOf).join(" ") || "none"}.`,
    ),
  ];
}
