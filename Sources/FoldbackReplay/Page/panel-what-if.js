// The tab that asks what would have happened: a list of edits.

import { button, el, visibleText } from "./dom.js";
import { keyOf } from "./words.js";
import { whatIfCommand } from "./commands.js";
import { commandNodes, fileNote, withoutNodes } from "./pieces.js";
import { showLater } from "./panel-stories.js";
import { branchNodes } from "./branch.js";

/** @type {import("./commands.js").Edit[]} */
const edits = [];
const purpose =
  "Change the history in thought, and see how the states would differ. The log stays as it is.";
const form = { kind: "drop", first: "", second: "", event: "" };
const editKinds = [
  ["drop", "drop an entry"],
  ["reject", "the server rejects an intent"],
  ["acknowledge", "the server accepts an intent"],
  ["edit", "another event for an intent"],
  ["swap", "swap two entries"],
  ["insert", "one more intent after an entry"],
];

/** @type {import("./panel-state.js").Panel} */
export const whatIfPanel = {
  id: "what-if",
  title: "What if",
  paint(app, node) {
    if (!app.source.isLive) return paintCommands(app, node);
    /** @type {any} */
    const kept = node;
    if (kept.isMade) return kept.offer();
    kept.isMade = true;
    const offer = el("div", { class: "panel-head" });
    const list = el("ul", { class: "plain edits" });
    const result = el("div", { class: "result" });
    // The branch has all edits of the list, so each change of the list makes another branch.
    const run = () => {
      paintList();
      document.dispatchEvent(new Event("command"));
      const nodes = edits.length === 0 ? Promise.resolve([]) : branchNodes(app, [...edits]);
      showLater(result, nodes).then(() => result.scrollIntoView({ block: "nearest" }));
    };
    const paintList = () =>
      list.replaceChildren(
        ...edits.map((edit, index) =>
          el(
            "li",
            {},
            editWords(edit),
            " ",
            button(
              "Remove",
              () => {
                edits.splice(index, 1);
                run();
              },
              { class: "small", "aria-label": `Remove: ${editWords(edit)}` },
            ),
          ),
        ),
      );
    // An intent can have one edit, so another one takes its place.
    const add = (/** @type {import("./commands.js").Edit} */ edit) => {
      const place = edits.findIndex((one) => subject(one) !== null && subject(one) === subject(edit));
      if (place < 0) edits.push(edit);
      else edits[place] = edit;
      run();
    };
    kept.offer = () =>
      offer.replaceChildren(
        ...offers(app.moment.entry).map(([words, edit]) => button(words, () => add(edit))),
      );
    kept.offer();
    node.replaceChildren(el("p", { class: "soft" }, purpose), offer, editFields(add), list, result);
    return undefined;
  },
  command: (app) => {
    const first = offers(app.moment.entry).slice(0, 1).map(([, edit]) => edit);
    const shown = edits.length > 0 ? edits : first;
    return shown.length > 0 ? whatIfCommand(app, shown) : null;
  },
};

/** Shows the commands that do in a terminal what a file cannot do.
    @param {import("./model.js").App} app
    @param {HTMLElement} node */
function paintCommands(app, node) {
  const known = el("div", { class: "result" });
  const { intent } = app.moment.entry ?? {};
  if (intent !== undefined) showLater(known, withoutNodes(app, keyOf(intent)));
  node.replaceChildren(
    el("p", { class: "soft" }, purpose),
    known,
    fileNote(app, "These commands show in a terminal how the states would differ."),
    el(
      "ul",
      { class: "plain" },
      ...offers(app.moment.entry).map(([words, edit]) =>
        el("li", {}, `${words}: `, ...commandNodes(whatIfCommand(app, [edit]), `Copy: ${words}`)),
      ),
    ),
  );
}

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
  if (entry.kind !== "acknowledged")
    offered.push([`Accept intent ${number}`, { acknowledge: number }]);
  return offered;
}

/** Returns the intent that an edit is about; null if it is about entries.
    @param {import("./commands.js").Edit} edit */
function subject(edit) {
  return edit.reject ?? edit.acknowledge ?? edit.edit ?? null;
}

/** @param {import("./commands.js").Edit} edit */
function editWords(edit) {
  if (edit.drop !== undefined) return `Entry ${edit.drop} is not there.`;
  if (edit.swap) return `Entries ${edit.swap[0]} and ${edit.swap[1]} change places.`;
  if (edit.reject !== undefined) return `The server rejects intent ${edit.reject}.`;
  if (edit.acknowledge !== undefined) return `The server accepts intent ${edit.acknowledge}.`;
  const event = visibleText(String(edit.event).slice(0, 200));
  return edit.edit !== undefined
    ? `Intent ${edit.edit} has the event ${event}.`
    : `After entry ${edit.insert}, one more intent has the event ${event}.`;
}

/** @param {(edit: import("./commands.js").Edit) => void} add */
function editFields(add) {
  const flaw = el("p", { class: "flaw", role: "alert" });
  const field = (
    /** @type {"first" | "second" | "event"} */ name,
    /** @type {string} */ id,
    /** @type {string} */ placeholder,
  ) => {
    const input = el("input", {
      id,
      value: form[name],
      placeholder,
      autocomplete: "off",
      spellcheck: "false",
      on: {
        input: () => {
          form[name] = input.value;
        },
      },
    });
    const label = el("label", { for: id });
    return {
      node: el("div", { class: name === "event" ? "field grow" : "field" }, label, input),
      label,
    };
  };
  const [first, second, event] = [
    field("first", "edit-first", ""),
    field("second", "edit-second", ""),
    field("event", "edit-event", '{"liked":{"post":"42"}}'),
  ];
  const kind = el(
    "select",
    { id: "edit-kind", on: { change: () => refresh() } },
    ...editKinds.map(([value, words]) =>
      el("option", { value, selected: value === form.kind }, words),
    ),
  );
  const refresh = () => {
    form.kind = kind.value;
    first.label.textContent = ["drop", "swap", "insert"].includes(form.kind) ? "Entry" : "Intent";
    second.label.textContent = "and entry";
    event.label.textContent = "Event (JSON)";
    second.node.hidden = form.kind !== "swap";
    event.node.hidden = !["edit", "insert"].includes(form.kind);
  };
  refresh();
  return el(
    "form",
    {
      class: "fields",
      on: {
        submit: (/** @type {Event} */ submitted) => {
          submitted.preventDefault();
          const problem = flawOfForm();
          flaw.textContent = problem ?? "";
          if (!problem) add(editOfForm());
        },
      },
    },
    el("div", { class: "field" }, el("label", { for: "edit-kind" }, "Edit"), kind),
    first.node,
    second.node,
    event.node,
    el("button", { class: "primary" }, "Run"),
    flaw,
  );
}

function flawOfForm() {
  const isWhole = (/** @type {string} */ text) => /^\d{1,15}$/.test(text.trim());
  if (!isWhole(form.first) || (form.kind === "swap" && !isWhole(form.second)))
    return "Give a whole number.";
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
  if (form.kind === "edit" || form.kind === "insert")
    return { [form.kind]: number, event: form.event };
  return { [form.kind]: number };
}
