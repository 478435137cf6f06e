// The tab that asks what would have happened: edits, and the branch next to the actual history.

import { button, counted, el, visibleText } from "./dom.js";
import { differences, parseJSON } from "./json.js";
import { changesTable, entryLink } from "./pieces.js";
import { entryWords, keyOf, kindWords } from "./words.js";
import { whatIfCommand } from "./commands.js";
import { showLater } from "./panel-stories.js";
import { BoundedCache, readEntry } from "./source.js";
import { VirtualList } from "./virtual.js";

/** @type {import("./commands.js").Edit[]} */
const edits = [];
const form = { kind: "drop", first: "", second: "", event: "" };
const editKinds = [["drop", "drop an entry"], ["reject", "the server rejects an intent"],
  ["acknowledge", "the server accepts an intent"], ["edit", "another event for an intent"],
  ["swap", "swap two entries"], ["insert", "one more intent after an entry"]];

/** @type {import("./panel-state.js").Panel} */
export const whatIfPanel = {
  id: "what-if",
  title: "What if",
  paint(app, node) {
    /** @type {any} */
    const kept = node;
    if (kept.isMade) return kept.offer();
    kept.isMade = true;
    const offer = el("div", { class: "panel-head" });
    const list = el("ul", { class: "plain edits" });
    const result = el("div", { class: "result" });
    const refresh = () => {
      list.replaceChildren(...edits.map((edit, index) => el("li", {}, editWords(edit), " ", button("Remove", () => {
        edits.splice(index, 1);
        refresh();
      }, { class: "small", "aria-label": `Remove: ${editWords(edit)}` }))));
      runner.hidden = edits.length === 0;
      document.dispatchEvent(new Event("command"));
    };
    const add = (/** @type {import("./commands.js").Edit} */ edit) => {
      edits.push(edit);
      refresh();
    };
    const runner = app.source.isLive ? button("Run", () => showLater(result, branch(app)), { class: "primary" })
      : el("p", { class: "note" }, "This page is a file. The command below shows the branch in a terminal.");
    kept.offer = () => offer.replaceChildren(...offers(app.moment.entry).map(([words, edit]) => button(words, () => add(edit))));
    kept.offer();
    node.replaceChildren(el("p", { class: "soft" }, "Change the history in thought, and see how the states would differ. The log stays as it is."),
      offer, editFields(add), list, runner, result);
    refresh();
    return undefined;
  },
  command: (app) => (edits.length === 0 ? null : whatIfCommand(app, edits)),
};

/** Returns the edits that the selected entry suggests.
    @param {any} entry
    @returns {[string, import("./commands.js").Edit][]} */
function offers(entry) {
  if (!entry) return [];
  /** @type {[string, import("./commands.js").Edit][]} */
  const offered = [[`Drop entry ${entry.sequence}`, { drop: entry.sequence }]];
  if (entry.intent === undefined) return offered;
  const number = Number(keyOf(entry.intent));
  if (entry.kind !== "rejected") offered.push([`Reject intent ${number}`, { reject: number }]);
  if (entry.kind !== "acknowledged") offered.push([`Accept intent ${number}`, { acknowledge: number }]);
  return offered;
}

/** @param {import("./commands.js").Edit} edit */
function editWords(edit) {
  if (edit.drop !== undefined) return `Entry ${edit.drop} is not there.`;
  if (edit.swap) return `Entries ${edit.swap[0]} and ${edit.swap[1]} change places.`;
  if (edit.reject !== undefined) return `The server rejects intent ${edit.reject}.`;
  if (edit.acknowledge !== undefined) return `The server accepts intent ${edit.acknowledge}.`;
  const event = visibleText(String(edit.event).slice(0, 200));
  return edit.edit !== undefined ? `Intent ${edit.edit} has the event ${event}.` : `After entry ${edit.insert}, one more intent has the event ${event}.`;
}

/** @param {(edit: import("./commands.js").Edit) => void} add */
function editFields(add) {
  const flaw = el("p", { class: "flaw", role: "alert" });
  const field = (/** @type {"first" | "second" | "event"} */ name, /** @type {string} */ id, /** @type {string} */ placeholder) => {
    const input = el("input", { id, value: form[name], placeholder, autocomplete: "off", spellcheck: "false", on: { input: () => {
      form[name] = input.value;
    } } });
    const label = el("label", { for: id });
    return { node: el("div", { class: name === "event" ? "field grow" : "field" }, label, input), label };
  };
  const [first, second, event] = [field("first", "edit-first", ""), field("second", "edit-second", ""), field("event", "edit-event", "{\"liked\":{\"post\":\"42\"}}")];
  const kind = el("select", { id: "edit-kind", on: { change: () => refresh() } }, ...editKinds.map(([value, words]) => el("option", { value, selected: value === form.kind }, words)));
  const refresh = () => {
    form.kind = kind.value;
    first.label.textContent = ["drop", "swap", "insert"].includes(form.kind) ? "Entry" : "Intent";
    second.label.textContent = "and entry";
    event.label.textContent = "Event (JSON)";
    second.node.hidden = form.kind !== "swap";
    event.node.hidden = !["edit", "insert"].includes(form.kind);
  };
  refresh();
  return el("form", { class: "fields", on: { submit: (/** @type {Event} */ submitted) => {
    submitted.preventDefault();
    const problem = flawOfForm();
    flaw.textContent = problem ?? "";
    if (!problem) add(editOfForm());
  } } }, el("div", { class: "field" }, el("label", { for: "edit-kind" }, "Edit"), kind), first.node, second.node, event.node,
  el("button", {}, "Add"), flaw);
}

function flawOfForm() {
  const isWhole = (/** @type {string} */ text) => /^\d{1,15}$/.test(text.trim());
  if (!isWhole(form.first) || (form.kind === "swap" && !isWhole(form.second))) return "Give a whole number.";
  if (!["edit", "insert"].includes(form.kind)) return null;
  try {
    JSON.parse(form.event);
    return null;
  } catch {
    return "The event is not JSON.";
  }
}

/** @returns {import("./commands.js").Edit} */
function editOfForm() {
  const number = Number(form.first);
  if (form.kind === "swap") return { swap: [number, Number(form.second)] };
  if (form.kind === "edit" || form.kind === "insert") return { [form.kind]: number, event: form.event };
  return { [form.kind]: number };
}

// ---- The branch ---------------------------------------------------------------------------------

/** @param {import("./model.js").App} app */
async function branch(app) {
  const { projection } = app.model;
  const sent = edits.map((edit) => (edit.event === undefined ? edit : { ...edit, event: parseJSON(edit.event) }));
  const answer = await app.source.ask("/api/what-if", { projection, edits: sent });
  const changed = new Map(answer.divergences.map((/** @type {any} */ one) => [Number(one.sequence), one]));
  const list = el("div", { id: "branch-list", class: "list branch", role: "listbox", tabindex: 0, "aria-label": "The actual history and the branch, entry by entry" });
  const place = el("div", { class: "result" });
  const rows = new BranchRows(app, answer, changed);
  const first = answer.rows.findIndex((/** @type {any} */ row) => row.actual === undefined || row.branch === undefined || changed.has(row.actual));
  const choose = (/** @type {number} */ offset) => {
    virtual.select(offset);
    showLater(place, comparisonAt(app, answer, answer.rows[offset]));
  };
  const virtual = new VirtualList(list, { load: (offset, count) => rows.load(offset, count), row: (row) => rows.node(row), choose });
  requestAnimationFrame(() => virtual.reload(first).then(() => first >= 0 && choose(first)));
  return [el("p", { class: "verdict", "data-tone": answer.differs ? "rejected" : "confirmed" }, answer.differs
    ? `The states differ. ${counted(changed.size, "entry", "entries")} changed the difference.` : "No state would have differed."),
  ...notes(answer), el("div", { class: "branch-head", "aria-hidden": "true" }, el("span", {}, "What happened"), el("span", {}, "In the branch"), el("span", {}, "")), list, place];
}

/** @param {any} answer */
function notes(answer) {
  const found = [];
  if (answer.leftOut?.length > 0) found.push(`Left out, because they are no longer possible: entries ${answer.leftOut.map(keyOf).join(" ")}.`);
  if (answer.inserted?.length > 0) found.push(`New intents, with their numbers in the branch: ${answer.inserted.map(keyOf).join(" ")}.`);
  if (answer.renumbered?.length > 0) found.push(`Other numbers in the branch: ${answer.renumbered.slice(0, 10).map((/** @type {any} */ one) => `intent ${keyOf(one.old)} is ${keyOf(one.new)}`).join(", ")}.`);
  if (answer.retryingNothing?.length > 0) found.push(`Intents that retry nothing: ${answer.retryingNothing.map(keyOf).join(" ")}.`);
  return found.map((words) => el("p", { class: "note" }, words));
}

/** The rows of the two histories. Entries are asked for when a row can be seen. */
class BranchRows {
  /** @param {import("./model.js").App} app
      @param {any} answer
      @param {Map<number, any>} changed */
  constructor(app, answer, changed) {
    this.app = app;
    this.answer = answer;
    this.changed = changed;
    this.edited = new Set(edits.map((edit) => edit.edit).filter((number) => number !== undefined).map(String));
    /** @type {BoundedCache<any>} */
    this.entries = new BoundedCache(400);
  }

  /** @param {number} offset
      @param {number} count */
  async load(offset, count) {
    const rows = this.answer.rows.slice(offset, offset + count);
    const actual = rows.filter((/** @type {any} */ row) => row.actual !== undefined).map((/** @type {any} */ row) => row.actual);
    if (actual.length > 0) await this.loadActual(Math.min(...actual), Math.max(...actual));
    const loaded = [];
    for (const row of rows) {
      const entry = row.actual === undefined ? null : this.entries.get(`actual ${row.actual}`) ?? null;
      const isSame = entry && row.branch !== undefined && !(entry.kind === "intent" && this.edited.has(keyOf(entry.intent)));
      const other = row.branch === undefined ? null : isSame ? entry : await this.loadBranch(row.branch);
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
    const { entry } = await this.app.source.ask(`/api/branch?${new URLSearchParams({ id: this.answer.id, sequence: `${sequence}` })}`);
    if (entry) this.entries.set(key, readEntry(entry));
    return entry ?? null;
  }

  /** @param {any} row */
  node(row) {
    const side = (/** @type {any} */ entry, /** @type {any} */ number, /** @type {boolean} */ isSame) => el("span", { class: "side", "data-absent": !entry, "data-same": isSame },
      entry ? `${number}  ${kindWords(entry)}${entry.intent === undefined ? "" : ` ${keyOf(entry.intent)}`}: ` : "absent", entry ? el("bdi", {}, entryWords(entry)) : null);
    const divergence = this.changed.get(row.actual);
    const count = divergence ? divergence.view.length : 0;
    const how = !row.entry ? "added" : !row.other ? "removed" : row.isSame ? null : "changed";
    return el("div", { class: "row", "data-change": how }, side(row.entry, row.actual, false), side(row.other, row.branch, Boolean(row.isSame)),
      el("span", { class: "changes" }, divergence ? `\u2260 ${count}` : "", divergence ? el("span", { class: "sr" }, " places of the view differ in another way now") : null));
  }
}

/** @param {import("./model.js").App} app
    @param {any} answer
    @param {any} row */
async function comparisonAt(app, answer, row) {
  const { projection } = app.model;
  const index = answer.rows.indexOf(row);
  const before = (/** @type {"actual" | "branch"} */ name) => {
    for (let at = index; at >= 0; at -= 1) if (answer.rows[at][name] !== undefined) return answer.rows[at][name];
    return 0;
  };
  const [actual, branched] = [before("actual"), before("branch")];
  const [here, there] = await Promise.all([app.history.at(projection, actual),
    app.source.ask(`/api/branch?${new URLSearchParams({ id: answer.id, sequence: `${branched}` })}`)]);
  return [el("h3", {}, "The state after ", entryLink(app, actual), `, and after entry ${branched} of the branch`),
    changesTable(app, differences(here.after.view, there.state.view), { caption: "Differences of the view", old: "what happened", next: "in the branch", none: "The view is the same in both." }),
    el("p", { class: "soft" }, `In the branch, pending: ${there.state.pending.map(keyOf).join(" ") || "none"}; conflicted: ${there.state.conflicted.map(keyOf).join(" ") || "none"}.`)];
}
