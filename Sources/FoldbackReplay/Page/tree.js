// A JSON value as a tree. Branches are rendered when they are opened.

import { button, counted, el, grouped, valueNode, visible, visibleText } from "./dom.js";
import { appended, isObject, namesOf, shortText } from "./json.js";

const childrenMax = 100;

/** What a tree shows beside the value: the changes by place, and what a place's name does.
    @typedef {{changes: Map<string, import("./json.js").Difference>, inside: Set<string>,
      open: (place: string) => void, opened: Set<string>}} TreeOptions */

/** Sorts changes for a tree.
    @param {import("./json.js").Difference[]} changes
    @param {(place: string) => void} open
    @param {Set<string>} opened places that stay open
    @returns {TreeOptions} */
export function treeOptions(changes, open, opened) {
  const inside = new Set([""]);
  for (const { place } of changes) {
    for (let end = place.lastIndexOf("/"); end > 0; end = place.lastIndexOf("/", end - 1))
      inside.add(place.slice(0, end));
  }
  return {
    changes: new Map(changes.map((change) => [change.place, change])),
    inside,
    open,
    opened,
  };
}

/** @param {any} value */
function isBranch(value) {
  return (
    (Array.isArray(value) && value.length > 0) || (isObject(value) && Object.keys(value).length > 0)
  );
}

/** Returns a tree of the value's members.
    @param {any} root
    @param {string} label
    @param {TreeOptions} options */
export function tree(root, label, options) {
  const node = el("ul", {
    class: "tree",
    role: "tree",
    "aria-label": label,
    on: { keydown: treeKey },
  });
  if (isBranch(root)) fill(node, root, "", options);
  else node.append(leaf("", "", root, options));
  node.querySelector("[role=treeitem]")?.setAttribute("tabindex", "0");
  node.addEventListener("focusin", (/** @type {any} */ event) => {
    const item = event.target.closest("[role=treeitem]");
    if (event.target !== item) return;
    node.querySelector("[role=treeitem][tabindex='0']")?.setAttribute("tabindex", "-1");
    item.setAttribute("tabindex", "0");
  });
  return node;
}

/** Appends the children of a branch: at most 100 at a time.
    @param {HTMLElement} group
    @param {any} value
    @param {string} place
    @param {TreeOptions} options */
function fill(group, value, place, options) {
  const names = Array.isArray(value) ? value.map((_, index) => String(index)) : namesOf(value);
  const removed = [...options.changes.values()].filter(
    (change) =>
      change.new === undefined && change.place.slice(0, change.place.lastIndexOf("/")) === place,
  );
  // A changed member is always among the first, so that nobody has to look for it.
  const isHot = (/** @type {string} */ name) =>
    options.changes.has(appended(place, name)) || options.inside.has(appended(place, name));
  const shown = names.length > childrenMax ? names.filter(isHot).slice(0, childrenMax) : [];
  const rest = names.filter((name) => !shown.includes(name));
  const add = (/** @type {string} */ name) =>
    item(name, appended(place, name), value[name], options);
  const note = el("li", { role: "none", class: "note" });
  let at = 0;
  const more = () => {
    const count = Math.max(0, at === 0 ? childrenMax - shown.length : childrenMax);
    const next = rest.slice(at, at + count).map(add);
    at = Math.min(rest.length, at + count);
    note.before(...next);
    note.replaceChildren();
    if (at === rest.length) return note.remove();
    const what = Array.isArray(value) ? "element" : "member";
    return note.append(
      `${counted(names.length, what)}; ${grouped(shown.length + at)} are shown. `,
      button(`Show ${Math.min(childrenMax, rest.length - at)} more`, more, { class: "small" }),
    );
  };
  group.append(
    ...shown.map(add),
    ...removed.slice(0, childrenMax).map((change) =>
      leaf(
        change.place
          .slice(change.place.lastIndexOf("/") + 1)
          .replaceAll("~1", "/")
          .replaceAll("~0", "~"),
        change.place,
        undefined,
        options,
      ),
    ),
    note,
  );
  more();
}

/** @param {string} name
    @param {string} place
    @param {any} value
    @param {TreeOptions} options */
function item(name, place, value, options) {
  // A branch whose only member was removed still shows that member.
  const isInside = options.inside.has(place);
  if (!isBranch(value) && !(isInside && typeof value === "object" && value !== null))
    return leaf(name, place, value, options);
  const change = options.changes.get(place);
  const count = Array.isArray(value) ? value.length : Object.keys(value).length;
  const node = el("li", {
    role: "treeitem",
    tabindex: -1,
    "aria-expanded": "false",
    "data-place": place,
    "data-change": change ? kindOf(change) : null,
    "aria-label": `${visibleText(name.slice(0, 200))}, ${counted(count, Array.isArray(value) ? "element" : "member")}`,
  });
  const summary = el("span", { class: "summary" }, shortSummary(value));
  const line = el(
    "div",
    { class: "line" },
    el("span", { class: "toggle", "aria-hidden": "true" }),
    nameNode(name, place, options),
    el("span", { class: "soft" }, Array.isArray(value) ? `[${count}]` : `{${count}}`),
    summary,
    oldNode(change),
  );
  node.append(line);
  line.addEventListener("click", (/** @type {any} */ event) => {
    if (!event.target.closest("button, .name"))
      setOpen(node, node.getAttribute("aria-expanded") !== "true");
  });
  node.expand = () => {
    options.opened.add(place);
    const group = el("ul", { role: "group" });
    fill(group, value, place, options);
    node.append(group);
  };
  node.collapse = () => {
    options.opened.delete(place);
    node.querySelector(":scope > ul")?.remove();
  };
  node.show = () => options.open(place);
  if (isInside || options.opened.has(place)) setOpen(node, true);
  return node;
}

/** @param {any} value */
function shortSummary(value) {
  return visibleText(shortText(value, 80));
}

/** @param {string} name
    @param {string} place
    @param {any} value
    @param {TreeOptions} options */
function leaf(name, place, value, options) {
  const change = options.changes.get(place);
  const node = el(
    "li",
    {
      role: "treeitem",
      tabindex: -1,
      "data-place": place,
      "data-change": change ? kindOf(change) : null,
    },
    el(
      "div",
      { class: "line" },
      el("span", { class: "toggle", "aria-hidden": "true" }),
      nameNode(name, place, options),
      change && change.new === undefined ? null : valueNode(value),
      oldNode(change),
    ),
  );
  node.show = () => options.open(place);
  return node;
}

/** @param {string} name
    @param {string} place
    @param {TreeOptions} options */
function nameNode(name, place, options) {
  if (place === "") return null;
  const long = name.length > 200 ? `${name.slice(0, 200)}\u2026` : name;
  return el(
    "span",
    {
      class: "name",
      title: "Show the story of this place",
      on: { click: () => options.open(place) },
    },
    visible(long === "" ? '""' : long),
  );
}

/** @param {import("./json.js").Difference} change */
function kindOf(change) {
  return change.old === undefined ? "added" : change.new === undefined ? "removed" : "changed";
}

/** @param {import("./json.js").Difference | undefined} change */
function oldNode(change) {
  if (!change) return null;
  const kind = kindOf(change);
  return el(
    "span",
    { class: "change" },
    el("span", { class: "tag" }, kind),
    change.old === undefined
      ? null
      : el("span", { class: "old" }, kind === "removed" ? "was " : "from ", valueNode(change.old)),
  );
}

/** @param {any} node
    @param {boolean} isOpen */
function setOpen(node, isOpen) {
  if (!node.expand || (node.getAttribute("aria-expanded") === "true") === isOpen) return;
  node.setAttribute("aria-expanded", String(isOpen));
  if (isOpen) node.expand();
  else node.collapse();
}

/** @param {KeyboardEvent} event */
function treeKey(event) {
  const node = /** @type {any} */ (event.target);
  if (node.getAttribute("role") !== "treeitem" || event.ctrlKey || event.metaKey || event.altKey)
    return;
  const items = [.../** @type {any} */ (event.currentTarget).querySelectorAll("[role=treeitem]")];
  const at = items.indexOf(node);
  const isOpen = node.getAttribute("aria-expanded") === "true";
  const parent = node.parentElement.closest("[role=treeitem]");
  /** @type {{[key: string]: () => void}} */
  const keys = {
    ArrowDown: () => items[at + 1]?.focus(),
    ArrowUp: () => items[at - 1]?.focus(),
    Home: () => items[0].focus(),
    End: () => items.at(-1).focus(),
    ArrowRight: () => (isOpen ? items[at + 1]?.focus() : setOpen(node, true)),
    ArrowLeft: () => (isOpen ? setOpen(node, false) : parent?.focus()),
    Enter: () => node.show(),
    " ": () => setOpen(node, !isOpen),
  };
  const run = keys[event.key];
  if (!Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  run();
}
