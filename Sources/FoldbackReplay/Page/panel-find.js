// The tab that searches: first break, minimize, rerun.

import { counted, el, visible } from "./dom.js";
import { changesTable, entryLink, fileList, fileNote } from "./pieces.js";
import { commandLine } from "./commands.js";
import { differences } from "./json.js";
import { projectionNamed } from "./source.js";
import { showLater } from "./panel-stories.js";

const operators = ["==", "!=", "<", "<=", ">", ">="];
const findForm = {
  kind: "first-break",
  place: "",
  operator: ">=",
  literal: "0",
  check: "",
  rerun: "",
};

/** @type {import("./panel-state.js").Panel} */
export const findPanel = {
  id: "find",
  title: "Find",
  paint(app, node) {
    /** @type {any} */
    const kept = node;
    const key = `${app.model.projection}`;
    // Results stay while somebody looks at entries.
    if (kept.formOf === key) return;
    kept.formOf = key;
    if (findForm.place === "" && app.model.place) findForm.place = app.model.place;
    const words = "The command at the bottom finds it in a terminal.";
    node.replaceChildren(
      ...(app.source.isLive ? [] : [fileNote(app, words)]),
      findFields(app, node),
      el("div", { class: "result" }),
    );
  },
  command: (app) => findCommand(app),
};

/** @param {import("./model.js").App} app */
function findCommand(app) {
  const { kind, place, operator, literal, check, rerun } = findForm;
  if (kind === "rerun")
    return commandLine(app, "rerun", ...(rerun === "" ? [] : ["--comparison", rerun]));
  if (kind === "check") return commandLine(app, "first-break", "--check", check);
  const expect = ["--expect", `${place} ${operator} ${literal}`];
  return kind === "minimize"
    ? commandLine(app, "minimize", ...expect)
    : commandLine(app, "first-break", ...expect);
}

/** @param {string} id
    @param {string} label
    @param {any} field
    @param {keyof typeof findForm} name
    @param {string} event
    @param {() => void} refresh */
function findField(id, label, field, name, event, refresh) {
  field.addEventListener(event, () => {
    findForm[name] = field.value;
    refresh();
  });
  return el("div", { class: "field", "data-for": name }, el("label", { for: id }, label), field);
}

/** @param {import("./model.js").App} app
    @param {HTMLElement} node */
function findFields(app, node) {
  /** @type {string[]} */
  const checks = projectionNamed(app.source.head, app.model.projection)?.checks ?? [];
  const reruns = app.source.head.reruns ?? [];
  const kinds = [
    ["first-break", "the first entry after which a condition fails"],
    ...(checks.length > 0 ? [["check", "the first entry after which a check fails"]] : []),
    ["minimize", "a small history that still fails"],
    ...(reruns.length > 0 ? [["rerun", "differences between two versions"]] : []),
  ];
  const select = (
    /** @type {string} */ id,
    /** @type {string} */ label,
    /** @type {any[][]} */ options,
    /** @type {keyof typeof findForm} */ name,
  ) => {
    const choices = options.map(([value, words]) =>
      el("option", { value, selected: findForm[name] === value }, words),
    );
    return findField(id, label, el("select", { id }, ...choices), name, "change", () => refresh());
  };
  const input = (
    /** @type {string} */ id,
    /** @type {string} */ label,
    /** @type {string} */ placeholder,
    /** @type {keyof typeof findForm} */ name,
  ) => {
    const value = findForm[name];
    const field = el("input", { id, placeholder, value, autocomplete: "off", spellcheck: "false" });
    return findField(id, label, field, name, "input", () => refresh());
  };
  const pairs = (/** @type {string[]} */ names) => names.map((one) => [one, one]);
  const fields = el(
    "form",
    {
      class: "fields",
      on: {
        submit: (/** @type {Event} */ event) => {
          event.preventDefault();
          run(app, node);
        },
      },
    },
    select("find-kind", "Find", kinds, "kind"),
    input("find-place", "Place", "/post/likes", "place"),
    select("find-operator", "must be", pairs(operators), "operator"),
    input("find-literal", "JSON value", "0", "literal"),
    select("find-check", "Check", pairs(checks), "check"),
    select("find-rerun", "Versions", pairs(reruns), "rerun"),
    app.source.isLive
      ? el("button", { class: "primary" }, "Find")
      : null,
  );
  if (findForm.check === "") findForm.check = checks[0] ?? "";
  if (findForm.rerun === "") findForm.rerun = reruns[0] ?? "";
  const refresh = () => {
    const { kind } = findForm;
    const isShown = { kind: true, check: kind === "check", rerun: kind === "rerun" };
    for (const field of fields.querySelectorAll("[data-for]")) {
      field.hidden = !(
        Reflect.get(isShown, field.dataset.for) ?? ["first-break", "minimize"].includes(kind)
      );
    }
    document.dispatchEvent(new Event("command"));
  };
  refresh();
  return fields;
}

/** @param {import("./model.js").App} app
    @param {HTMLElement} node */
function run(app, node) {
  const { kind, place, operator, literal, check, rerun } = findForm;
  const { projection } = app.model;
  const expect = `${place} ${operator} ${literal}`;
  const result = /** @type {HTMLElement} */ (node.querySelector(".result"));
  const ask =
    kind === "rerun"
      ? app.source
          .ask(`/api/rerun?${new URLSearchParams({ name: rerun })}`)
          .then((answer) => rerunNodes(app, answer.lines))
      : kind === "minimize"
        ? app.source
            .ask("/api/minimize", { projection, expect })
            .then((answer) => minimizedNodes(answer))
        : app.source
            .ask(
              `/api/first-break?${new URLSearchParams(kind === "check" ? { projection, check } : { projection, expect })}`,
            )
            .then((answer) => breakNodes(app, answer.break));
  showLater(result, ask);
}

/** @param {import("./model.js").App} app
    @param {any} found */
function breakNodes(app, found) {
  if (!found)
    return [el("p", { class: "verdict", "data-tone": "confirmed" }, "It holds everywhere.")];
  const sequence = found.entry ? Number(found.entry.sequence) : 0;
  app.select(sequence);
  return [
    el(
      "p",
      { class: "verdict", "data-tone": "rejected" },
      "The first break is ",
      entryLink(app, sequence),
      `. ${counted(Number(found.looked), "state")} checked.`,
    ),
    found.untold?.length > 0
      ? el(
          "p",
          { class: "soft" },
          `Inconclusive: ${found.untold.join(" ")}. The first break may be one of them.`,
        )
      : "",
    found.before
      ? changesTable(app, differences(found.before.view, found.after.view), {
          caption: "What changed since the last good state",
        })
      : "",
  ];
}

/** @param {any} answer */
function minimizedNodes(answer) {
  if (answer.entries === null)
    return [
      el(
        "p",
        { class: "verdict", "data-tone": "confirmed" },
        "The whole log does not fail, so there is nothing to make smaller.",
      ),
    ];
  return [
    el(
      "p",
      { class: "verdict", "data-tone": "rejected" },
      `${answer.entries} of ${answer.of} entries still fail. ${counted(answer.tries, "history was", "histories were")} tried.`,
    ),
    fileList(answer.files),
  ];
}

/** @param {import("./model.js").App} app
    @param {any[]} lines */
function rerunNodes(app, lines) {
  const [verdict, ...rest] = lines;
  const end = rest.find((line) => line.differences);
  const tone = verdict?.verdict === "fine" ? "confirmed" : "rejected";
  return [
    el(
      "p",
      { class: "verdict", "data-tone": tone },
      `${verdict?.verdict}: ${counted(Number(verdict?.entries), "entry", "entries")}, ${verdict?.differences} changed the difference. `,
      verdict?.what ? visible(String(verdict.what)) : "",
    ),
    ...rest
      .filter((line) => line.sequence !== undefined)
      .slice(0, 20)
      .map((line) =>
        el(
          "div",
          {},
          el("h3", {}, "After ", entryLink(app, Number(line.sequence))),
          changesTable(app, line.view, {
            caption: "Differences of the view",
            old: "old version",
            next: "new version",
            none: "The view does not differ.",
          }),
        ),
      ),
    end
      ? changesTable(app, end.differences.view, {
          caption: "At the end",
          old: "old version",
          next: "new version",
          none: "Nothing differs at the end.",
        })
      : "",
  ];
}
