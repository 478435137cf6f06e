// Shows what the server's messages say. The page keeps no state of its own about posts, likes or
// marks: a click sends a request (stage.js), and the next message says what changed. Text from
// messages gets into the page only as text nodes.
"use strict";

const query = new URLSearchParams(location.search);
const me = query.get("replica") ?? "mia";
const scene = query.get("scene") ?? "feed";
const isAutomatic = query.get("auto") !== "off";
const byID = (id) => document.getElementById(id);
const feed = byID("feed");
const overlay = byID("overlay");
const body = document.body;
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
// The latest value of each part of the messages.
const now = {
  feed: { edges: {} }, waits: {}, blocked: [], people: {}, known: [], account: {}, stage: null,
  log: { last: 0, lanes: [] },
  chart: [], signedIn: false, undo: {},
};
let births = 0;

// ---- Nodes: a setter touches a node only if the value differs ---------------------------------

function text(node, words) {
  if (node.textContent !== words) node.textContent = words;
}

function attribute(node, name, value) {
  if (value === null || value === undefined || value === false) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else if (node.getAttribute(name) !== String(value)) {
    node.setAttribute(name, value);
  }
}

function make(tag, attributes, ...children) {
  const kind = ["svg", "rect"].includes(tag) ? "2000/svg" : "1999/xhtml";
  const node = document.createElementNS(`http://www.w3.org/${kind}`, tag);
  for (const [name, value] of Object.entries(attributes)) attribute(node, name, value);
  node.append(...children);
  return node;
}

function show(node, isShown) {
  attribute(node, "hidden", isShown ? null : "");
}

/** Shows words, and names in arrays. A name's direction of writing changes nothing around it. */
function phrase(node, parts) {
  const key = JSON.stringify(parts);
  if (node.phrase === key) return;
  node.phrase = key;
  node.replaceChildren(
    ...parts.map((part) => Array.isArray(part) ? make("bdi", {}, ...part) : part));
}

/** Clones a template. The key replaces each % in attributes. */
function stamp(name, key) {
  const node = byID(`template-${name}`).content.firstElementChild.cloneNode(true);
  for (const part of [node, ...node.querySelectorAll("*")]) {
    for (const { name, value } of [...part.attributes]) {
      if (value.includes("%")) part.setAttribute(name, value.replaceAll("%", () => key));
    }
  }
  return node;
}

/** Inserts or moves a node. A moved node keeps its focus if the browser can do that. */
function put(parent, node, before = null) {
  if (node.isConnected && parent.moveBefore) parent.moveBefore(node, before);
  else parent.insertBefore(node, before);
}

/** Gives `parent` one child for each item, in order. A key keeps its child. */
function keyed(parent, items, keyOf, create, paint) {
  const keys = new Set(items.map((item) => String(keyOf(item))));
  const kept = new Map();
  for (const node of [...parent.children]) {
    if (keys.has(node.key)) kept.set(node.key, node);
    else node.remove();
  }
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    const node = kept.get(key) ?? create(item);
    node.key = key;
    if (node === place) place = place.nextElementSibling;
    else put(parent, node, place);
    paint?.(node, item);
  }
}

function capitalized(word) {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function counted(count, singular, plural = `${singular}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? singular : plural}`;
}

/** Shows a person as a name and as its first letter on the name's color. */
function paintPerson(node, name) {
  const avatar = node.querySelector(".avatar");
  const hue = [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 360, 40);
  avatar.style.setProperty("--hue", hue);
  text(avatar, capitalized([...name][0] ?? "?"));
  const by = node.querySelector(".by");
  if (by) text(by, name);
}

function badge(word, words = word) {
  const node = stamp("badge", word);
  node.append(words);
  return node;
}

// ---- Rows -------------------------------------------------------------------------------------

function makeRow(row) {
  births += 1;
  const node = make("article", { "data-id": row.id, "data-birth": births });
  return Object.assign(node, { key: row.id });
}

function paintRow(node, row) {
  const isPlaceholder = row.kind === "placeholder" || row.loaded === false;
  const shape = isPlaceholder ? "placeholder" : row.kind;
  if (node.shape !== shape) {
    node.shape = shape;
    // A deleted post has the parts of a comment.
    node.replaceChildren(stamp(shape === "gone" ? "comment" : shape, row.post ?? row.id));
  }
  attribute(node, "data-kind", row.kind);
  attribute(node, "data-post", row.post);
  attribute(node, "data-state", row.state);
  attribute(node, "data-ghost", row.ghost);
  attribute(node, "tabindex", isPlaceholder ? null : 0);
  const state = row.state === "settled" ? "" : `, ${row.state}`;
  attribute(node, "aria-label", isPlaceholder ? null
    : `${row.kind === "gone" ? "Deleted post" : capitalized(row.kind)} by ${row.by}${state}: ${row.text.slice(0, 80)}`);
  if (isPlaceholder) return;
  paintPerson(node, row.by);
  text(node.querySelector(".text"), row.text);
  paintMarks(node.querySelector(".marks"), row.marks ?? []);
  if (row.kind === "post") paintPost(node, row);
}

function paintPost(node, row) {
  const part = (name) => node.querySelector(name);
  const [like, comments, reach, photo] = [".like", ".comments", ".reach", ".photo"].map(part);
  const isPending = (...kinds) =>
    row.marks?.some((mark) => mark.state === "pending" && kinds.includes(mark.what));
  attribute(like, "aria-pressed", String(row.liked));
  attribute(like, "data-do", row.liked ? "unlike" : "like");
  text(part(".likes"), row.likes.toLocaleString("en"));
  attribute(part(".likes"), "data-optimistic", isPending("like", "unlike"));
  text(comments, row.comments ? counted(row.comments, "comment") : "");
  attribute(comments, "data-optimistic", isPending("comment"));
  text(reach, row.reach ? `Shown to ${counted(row.reach, "more person", "more people")}` : "");
  show(reach, row.reach);
  const { likers = [] } = row;
  const others = likers.length > 5 ? ` and ${likers.length - 4} more` : "";
  const names = likers.slice(0, others ? 4 : 5)
    .flatMap((name, place) => [place === 0 ? "Liked by " : ", ", [name]]);
  phrase(part(".likers"), [...names, others].filter(Boolean));
  show(part("[data-do=delete]"), row.mine);
  const color = /^#[0-9a-f]{6}$/i.test(row.photo) ? row.photo : "";
  show(photo, color);
  if (photo.style.getPropertyValue("--photo") !== color) photo.style.setProperty("--photo", color);
}

function paintMarks(parent, marks) {
  const create = (mark) => stamp("mark", mark.number);
  keyed(parent, marks, (mark) => mark.number, create, (node, mark) => {
    attribute(node, "data-state", mark.state);
    // Only the answer says what a boost or an upload does. Nothing counts before it.
    const isOptimistic = mark.state === "pending" && !["boost", "upload"].includes(mark.what);
    const words = isOptimistic ? ["optimistic", "pending"] : [mark.state];
    keyed(node.querySelector(".badges"), words, (word) => word, (word) => badge(word));
    const isCounted = mark.attempts > 1 && !mark.text.includes("attempt");
    const attempts = isCounted ? `${mark.attempts} attempts` : "";
    const reason = mark.text.includes(mark.reason) ? "" : mark.reason;
    const parts = [`${capitalized(mark.what)}: ${mark.text}`, reason, attempts].filter(Boolean);
    text(node.querySelector(".words"), parts.map((part) => part.replace(/\.$/, "")).join(". "));
    keyed(node.querySelector(".actions"), mark.actions ?? [], (action) => action, (action) =>
      makeButton(`${action}-${mark.number}`, capitalized(action), {
        "data-do": action, "data-number": mark.number,
        "aria-label": `${capitalized(action)} the ${mark.what}`,
      }));
    const why = node.querySelector(".why");
    attribute(why, "href", addressOfLog(mark.number));
    attribute(why, "aria-label", `Why? The ${mark.what} in the log`);
  });
}

/** Returns the address of the page that shows this phone's log, or an intent in it. */
function addressOfLog(intent) {
  return `/r/${encodeURIComponent(me)}/log${intent ? `?intent=${intent}` : ""}`;
}

function makeButton(id, words, attributes) {
  return make("button", { id, type: "button", ...attributes }, words);
}

/** Applies one step of a difference to the list as changed so far. */
function apply(step) {
  const rows = feed.children;
  const row = (place) => {
    if (!rows[place]) throw new RangeError(`There is no row ${place}.`);
    return rows[place];
  };
  if ("delete" in step) row(step.delete).remove();
  if ("move" in step) {
    const isDown = step.to > step.move;
    put(feed, row(step.move), rows[step.to + (isDown ? 1 : 0)]);
  }
  if ("change" in step) paintRow(row(step.change), step.row);
  if ("insert" in step) {
    const node = makeRow(step.row);
    paintRow(node, step.row);
    feed.insertBefore(node, rows[step.insert] ?? null);
  }
}

function numberRows() {
  const rows = [...feed.children].filter((node) => node.shape !== "placeholder");
  const hasMore = ["more", "loading"].includes(now.feed.edges?.end);
  rows.forEach((node, place) => {
    attribute(node, "aria-posinset", (now.feed.before ?? 0) + place + 1);
    attribute(node, "aria-setsize", now.feed.total ?? (hasMore ? -1 : rows.length));
  });
}

function rowOf(id) {
  return [...feed.children].find((node) => node.key === id);
}

/** Moves the focus to the first node that takes it. */
function focusFirst(...nodes) {
  nodes.find((node) => {
    node?.focus({ preventScroll: true });
    return node?.checkVisibility() && node === document.activeElement;
  });
}

const controlsIn = (node) =>
  [...node?.querySelectorAll("[tabindex='-1'], button, input, textarea") ?? []];

/** Runs a change of the list. Rows on the screen and the focus stay where they are (B6). */
function keepingPlace(replacements, change) {
  const focused = document.activeElement;
  const rows = [...feed.children];
  const own = rows.indexOf(focused.closest("article"));
  const item = focused.closest("#held-list > li");
  const siblings = [item?.nextElementSibling, item?.previousElementSibling];
  const group = focused.closest(".person, form, section");
  const isSeen = ({ top, bottom }) => bottom > 60 && top < innerHeight;
  const anchors = [rows[own], ...rows].filter(Boolean)
    .map((node) => ({ node, box: node.getBoundingClientRect() })).filter(({ box }) => isSeen(box));
  change();
  const anchor = anchors.find(({ node }) => node.isConnected && node.shape !== "placeholder");
  if (anchor && (scrollY > 0 || scene === "archive")) {
    const moved = anchor.node.getBoundingClientRect().top - anchor.box.top;
    if (moved !== 0) scrollBy({ top: moved, behavior: "instant" });
  }
  if (document.activeElement !== body && document.activeElement.checkVisibility()) return;
  const heir = replacements.find(({ old }) => old === rows[own]?.key)?.new;
  const others = own < 0 ? [] : [...rows.slice(own), ...rows.slice(0, own).reverse()];
  // What is outside an open dialog does not take the focus.
  focusFirst(focused, byID(focused.id), ...siblings.flatMap(controlsIn), rowOf(heir), ...others,
    ...controlsIn(group), ...controlsIn(overlay), overlay, byID("phone"));
}

// ---- Waits ------------------------------------------------------------------------------------

function slotOfWait(name) {
  return document.querySelector(`[data-slot="${CSS.escape(name)}"]`) ?? byID("other-waits");
}

const labelOfWait = (name) => slotOfWait(name).dataset.label ?? name;

/** Returns what is busy during a wait: a control, or the row of a post. */
function controlOfWait(name) {
  return byID(slotOfWait(name).dataset.control) ?? slotOfWait(name).closest("article");
}

function paintWaits() {
  const waits = Object.entries(now.waits).filter(([, wait]) => wait);
  const nodes = new Map([...document.querySelectorAll("[data-wait]")]
    .map((node) => [node.dataset.wait, node]));
  for (const [name, node] of nodes) if (!now.waits[name]) node.remove();
  for (const [name, wait] of waits) {
    const place = wait.overlay ? byID("overlay-waits") : slotOfWait(name);
    const node = nodes.get(name) ?? stamp("wait", name);
    if (node.parentNode !== place) put(place, node);
    paintWait(node, name, wait);
  }
  const busy = new Set(waits.filter(([, wait]) => wait.busy).map(([name]) => controlOfWait(name)));
  for (const node of new Set([...document.querySelectorAll("[aria-busy]"), ...busy])) {
    if (node && node !== feed) attribute(node, "aria-busy", busy.has(node));
  }
  // Assistive technology needs to know nothing of a placeholder, except a wait in it.
  for (const row of feed.children) {
    const wait = row.querySelector(".indicator, .wait > :not(:empty)");
    const isPlaceholder = row.shape === "placeholder";
    attribute(row, "aria-hidden", isPlaceholder && !wait);
    if (isPlaceholder) attribute(row, "aria-label", wait && "A post that is not loaded yet");
  }
  const covers = waits.find(([, wait]) => wait.overlay);
  if (!covers === overlay.open) cover(covers);
}

/** Opens or closes the dialog. What is outside an open dialog is inert, so it takes along the live
    regions and the held requests: people can still answer the request that the dialog waits for. */
function cover(wait) {
  if (wait) {
    attribute(overlay, "aria-label", labelOfWait(wait[0]));
    overlay.showModal();
    put(byID("overlay-stage"), byID("live"));
    put(byID("overlay-stage"), byID("held"));
  } else {
    put(byID("live-place"), byID("live"));
    put(byID("held-place"), byID("held"));
    overlay.close();
  }
}

function paintWait(node, name, wait) {
  const { indicator, fraction = null } = wait;
  const isText = indicator === "text";
  attribute(node, "data-phase", wait.phase);
  node.bar ??= node.querySelector(".indicator");
  if (!indicator) node.bar.remove();
  else if (!node.bar.isConnected) node.prepend(node.bar);
  if (indicator) {
    attribute(node.bar, "data-shows", indicator);
    attribute(node.bar, "aria-label", wait.text ?? labelOfWait(name));
    attribute(node.bar, "aria-valuenow", fraction === null ? null : Math.round(fraction * 100));
    node.bar.style.setProperty("--fraction", fraction ?? 0);
    text(node.bar, isText ? wait.text ?? "" : "");
  }
  const isShown = isText || wait.text === wait.recovery;
  text(node.querySelector(".wait-text"), isShown ? "" : wait.text ?? "");
  const isSaid = wait.remaining && wait.text?.includes(wait.remaining.toLowerCase());
  text(node.querySelector(".wait-remaining"), isSaid ? "" : wait.remaining ?? "");
  text(node.querySelector(".wait-recovery"), wait.recovery ?? "");
  keyed(node.querySelector(".actions"), wait.actions ?? [], (action) => action, (action) => {
    const words = action === "continueInBackground" ? "continue in the background" : action;
    return makeButton(`${action}-${name}`, capitalized(words), {
      "data-do": "wait", "data-wait-name": name, "data-action": action,
    });
  });
}

// ---- Messages ---------------------------------------------------------------------------------

/** Shows a message. The revision is set last: then the DOM is complete. */
function receive(message) {
  const { replacements = [] } = message;
  keepingPlace(replacements, () => {
    if (message.reset) keyed(feed, message.rows, (row) => row.id, makeRow, paintRow);
    for (const change of message.steps ?? []) apply(change);
    for (const part of Object.keys(now)) if (part in message) now[part] = message[part];
    numberRows();
    paintFeed();
    paintAround();
    paintWaits();
    speak((message.cues ?? []).filter((cue) => "announce" in cue));
  });
  for (const { new: id } of replacements) rowOf(id)?.setAttribute("data-faded", "");
  for (const node of document.querySelectorAll("[data-do]:not([data-do=wait])")) {
    const post = node.dataset.post ?? node.closest("article")?.dataset.post;
    const isBlocked = ["*", `item:${post}`].some((scope) => now.blocked.includes(scope));
    const isIdle = ["undo", "redo"].includes(node.id) && !now.undo[node.id];
    attribute(node, "aria-disabled", isBlocked || isIdle);
  }
  for (const cue of message.cues ?? []) moveFocus(cue);
  // From now on, its changes are announced.
  attribute(byID("link"), "role", "status");
  attribute(body, "data-revision", message.revision);
  if (isAutomatic) load();
  for (const [id, shown] of sent) if (isReached(shown)) sent.delete(id);
}

function paintFeed() {
  const { busy, empty, error, edges = {} } = now.feed;
  attribute(feed, "aria-busy", String(Boolean(busy)));
  show(feed, scene !== "waits" && (busy || feed.children.length > 0));
  text(byID("feed-note"), error ?? (empty ? "There are no posts yet. Write the first one." : ""));
  attribute(byID("feed-note"), "data-error", error);
  for (const edge of ["start", "end"]) {
    const node = byID(`extend-${edge}`);
    const where = edge === "start" ? "newer" : "older";
    show(node, ["more", "loading"].includes(edges[edge]));
    text(node, `${edges[edge] === "loading" ? "Loading" : "Load"} ${where} posts`);
  }
}

/** Puts a message's announcements into the live regions: one new node each, so that a text that
    is there already is announced again. What the dialog says is not shown again. */
function speak(cues) {
  const isShown = (words) => [...overlay.querySelectorAll(".wait-recovery")]
    .some((node) => node.textContent === words);
  for (const [id, isAssertive] of [["polite", false], ["alert", true]]) {
    const nodes = cues.filter((cue) => Boolean(cue.assertive) === isAssertive)
      .map(({ announce }) => make("p", { class: isShown(announce) && "sr" }, announce));
    if (nodes.length > 0) byID(id).replaceChildren(...nodes);
  }
}
