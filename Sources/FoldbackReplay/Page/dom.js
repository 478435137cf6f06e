// Nodes. Every value enters the document as text: nothing here parses markup of a payload.

import { isObject, jsonText, namesOf, shortText } from "./json.js";

/** @typedef {string | number | Node | null | undefined | false} Child */

const charactersMax = 300;
const charactersMore = 10_000;
/** The elements of pictures. None of them loads or runs something. */
export const svgNames = new Set([
  "svg",
  "g",
  "path",
  "rect",
  "line",
  "circle",
  "text",
  "title",
  "desc",
  "polygon",
]);

// Characters that are not visible or that change the direction of text, and halves of pairs.
const invisible = new RegExp(
  "[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180e" +
    "\\u200b-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\ufff0-\\ufffb]" +
    "|[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]",
  "g",
);

/** Makes an element. Members of `properties`: `class`, `on` (listeners), and attributes. A value
    of null or false leaves the attribute out.
    @param {string} name
    @param {{[name: string]: any}} [properties]
    @param {...Child} children
    @returns {any} */
export function el(name, properties = {}, ...children) {
  const isSVG = svgNames.has(name);
  const node = isSVG
    ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") {
      for (const [event, run] of Object.entries(value)) node.addEventListener(event, run);
    } else node.setAttribute(key, value === true ? "" : String(value));
  }
  node.append(
    ...children
      .filter((child) => child !== null && child !== undefined && child !== false)
      .map((child) =>
        typeof child === "number" ? String(child) : /** @type {string | Node} */ (child),
      ),
  );
  return node;
}

/** @param {...Child} children */
export function banner(...children) {
  return el("p", { class: "banner" }, ...children);
}

/** Returns a banner about trouble, which a screen reader reads at once.
    @param {...Child} children */
export function alertBanner(...children) {
  return el("p", { class: "banner", "data-tone": "rejected", role: "alert" }, ...children);
}

/** @param {string} id
    @returns {any} */
export function byID(id) {
  return document.getElementById(id);
}

/** @param {string} words
    @param {(event: Event) => void} click
    @param {{[name: string]: any}} [properties] */
export function button(words, click, properties = {}) {
  return el("button", { type: "button", on: { click }, ...properties }, words);
}

/** Returns a whole number with commas. `toLocaleString` would load the browser's tables first.
    @param {number} number */
export function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** @param {number} count
    @param {string} singular
    @param {string} [plural] */
export function counted(count, singular, plural = `${singular}s`) {
  return `${grouped(count)} ${count === 1 ? singular : plural}`;
}

/** @param {number} code */
function escaped(code) {
  if (code === 9) return "\\t";
  if (code === 10) return "\\n";
  if (code === 13) return "\\r";
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Returns the text with visible escapes, for names of elements.
    @param {string} text */
export function visibleText(text) {
  return text.replace(invisible, (found) => escaped(found.charCodeAt(0)));
}

/** Returns the text as nodes; escapes look different from text.
    @param {string} text */
export function visible(text) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(invisible)) {
    const start = match.index ?? 0;
    if (start > end) nodes.push(text.slice(end, start));
    nodes.push(el("span", { class: "escape" }, escaped(match[0].charCodeAt(0))));
    end = start + match[0].length;
  }
  if (end < text.length) nodes.push(text.slice(end));
  return el("bdi", { class: "text" }, ...nodes);
}

/** @param {string} text
    @param {number} length */
function cutTo(text, length) {
  const isInPair = /[\ud800-\udbff]/.test(text.charAt(length - 1));
  return text.slice(0, isInPair ? length - 1 : length);
}

/** Returns a text, cut if it is long, with a sentence that says so and a button for more.
    @param {string} text
    @param {string} [quote] */
export function longText(text, quote = "") {
  if (text.length <= charactersMax)
    return el("span", { class: "long" }, quote, visible(text), quote);
  const node = el("span", { class: "long" });
  /** @param {number} length */
  const show = (length) => {
    const isWhole = text.length <= length;
    const all = grouped(text.length);
    node.replaceChildren(
      quote,
      visible(isWhole ? text : cutTo(text, length)),
      isWhole ? quote : "\u2026",
    );
    if (isWhole) return;
    node.append(
      " ",
      el("span", { class: "note" }, `${all} characters; the first ${grouped(length)} are shown.`),
    );
    if (length >= charactersMore) return;
    node.append(
      " ",
      button(
        `Show ${text.length > charactersMore ? "10,000" : "all"}`,
        (event) => {
          event.stopPropagation();
          show(charactersMore);
        },
        { class: "small" },
      ),
    );
  };
  show(charactersMax);
  return node;
}

/** Returns a value as text: strings in quotes, others as compact JSON.
    @param {any} value */
export function valueNode(value) {
  if (value === undefined) return el("span", { class: "none" }, "absent");
  const type =
    value === null ? "null" : Array.isArray(value) || isObject(value) ? "compound" : typeof value;
  const node = el("span", { class: "value", "data-type": type });
  if (typeof value === "string") node.append(longText(value, '"'));
  else node.append(longText(type === "compound" ? boundedText(value) : jsonText(value)));
  return node;
}

/** Returns readable JSON text with at most a little more than what is ever shown.
    @param {any} value */
function boundedText(value) {
  return shortText(value, charactersMore + 1);
}

/** @param {number} milliseconds */
export function timeText(milliseconds) {
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) return `${milliseconds} ms`;
  return date.toISOString().replace("T", " ").replace("Z", "");
}

/** @param {number} milliseconds */
export function durationText(milliseconds) {
  if (milliseconds < 1_000) return `${milliseconds} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  if (milliseconds < 3_600_000) return `${Math.round(milliseconds / 60_000)} min`;
  if (milliseconds < 172_800_000) return `${(milliseconds / 3_600_000).toFixed(1)} h`;
  return `${Math.round(milliseconds / 86_400_000)} days`;
}

/** @param {number} bytes */
export function sizeText(bytes) {
  if (bytes < 1_000) return `${bytes} B`;
  const [size, unit] =
    bytes < 1_000_000
      ? [bytes / 1_000, "kB"]
      : bytes < 1_000_000_000
        ? [bytes / 1_000_000, "MB"]
        : [bytes / 1_000_000_000, "GB"];
  return `${size.toFixed(size < 10 ? 1 : 0)} ${unit}`;
}

// ---- Marks --------------------------------------------------------------------------------------

// A mark's shape tells its state without its color.
/** @type {{[name: string]: string[]}} */
const shapes = {
  pending: ["M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11z"],
  accepted: ["M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11z", "M8 2.5a5.5 5.5 0 0 1 0 11z"],
  confirmed: ["M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 0 0 0-13z", "M4.6 8.2l2.4 2.4l4.4-4.8"],
  rejected: ["M8 .9L15.1 8L8 15.1L.9 8z", "M5.4 5.4l5.2 5.2m0-5.2l-5.2 5.2"],
  withdrawn: ["M2 2h12v12h-12z", "M11.5 8h-6m2.6-2.8L5.2 8l2.9 2.8"],
  conflicted: ["M8 1.2L15.2 14.2H.8z", "M8 5.6v4.2m0 1.6v1.2"],
  reworded: ["M2 2h12v12h-12z", "M4.4 9c1.2-2.6 2.4-2.6 3.6-1s2.4 1.6 3.6-1"],
  dismissed: ["M2 2h12v12h-12z", "M5 8h6"],
};

/** @param {string} name
    @param {{[name: string]: any}} [properties] */
export function mark(name, properties = {}) {
  const shown =
    name === "intent"
      ? "pending"
      : name === "acknowledged"
        ? "accepted"
        : ["abandoned", "undone", "lapsed"].includes(name)
          ? "withdrawn"
          : ["released", "restored"].includes(name)
            ? "pending"
            : name;
  const [outline, detail] = Object.hasOwn(shapes, shown) ? shapes[shown] : shapes.dismissed;
  return el(
    "svg",
    {
      class: "mark",
      "data-state": shown,
      viewBox: "0 0 16 16",
      width: 16,
      height: 16,
      "aria-hidden": "true",
      ...properties,
    },
    el("path", { class: "outline", d: outline }),
    detail && el("path", { class: "detail", d: detail }),
  );
}

/** @param {string} state
    @param {string} [words] */
export function badge(state, words = state) {
  return el("span", { class: "badge", "data-state": state }, mark(state), words);
}

/** Says a change to those who do not see it.
    @param {string} words */
export function announce(words) {
  byID("polite").replaceChildren(el("p", {}, words));
}

/** Replaces an element's children by parts of an object, as lines of a definition list.
    @param {{[name: string]: any}} object */
export function members(object) {
  return el(
    "dl",
    { class: "members" },
    ...namesOf(object).flatMap((name) => [
      el("dt", {}, visible(name)),
      el("dd", {}, valueNode(object[name])),
    ]),
  );
}
