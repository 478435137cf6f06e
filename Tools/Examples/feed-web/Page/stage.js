// Connects to the server, and sends what people do: on the phone, and on the stage, where they
// decide what the server answers. Shows the stage, the guide and the scene of waits.
"use strict";

// ---- Messages and requests --------------------------------------------------------------------

/** Receives messages. After an error, it connects again from the last revision. */
function connect(after) {
  const parameters = forwarded();
  if (after) parameters.set("after", after);
  const events = new EventSource(`/r/${encodeURIComponent(me)}/events?${parameters}`);
  const connectAgain = (revision) => {
    events.close();
    attribute(body, "data-connected", "false");
    paintAround();
    setTimeout(connect, 200, revision);
  };
  events.onopen = () => {
    attribute(body, "data-connected", "true");
    paintAround();
    postMotion();
  };
  events.onmessage = ({ data }) => {
    try {
      receive(JSON.parse(data));
    } catch (error) {
      console.error(error);
      // The page may show a part of the message. It needs everything again.
      body.removeAttribute("data-revision");
      connectAgain(null);
    }
  };
  events.onerror = () => connectAgain(body.dataset.revision);
}

function forwarded() {
  const names = ["scene", "policy"].filter((name) => query.has(name));
  return new URLSearchParams(names.map((name) => [name, query.get(name)]));
}

// The buttons whose request is not answered, or whose effect is not shown yet, and its revision.
const sent = new Map();

function isReached(revision) {
  if (revision === null) return false;
  const [boot, count] = revision.split("-");
  const [ownBoot, ownCount] = (body.dataset.revision ?? "-0").split("-");
  return boot !== ownBoot || Number(count) <= Number(ownCount);
}

/** Posts JSON. Returns the answer, which has an `error` if the request was refused or lost. */
async function post(path, request) {
  const headers = { "Content-Type": "application/json" };
  try {
    const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(request) });
    const answer = await response.json().catch(() => ({}));
    return response.ok ? answer : { error: answer.error ?? `Error ${response.status}.` };
  } catch {
    return { error: "The process ended before it answered. Look whether this was recorded." };
  }
}

function perform(request) {
  return post(`/r/${encodeURIComponent(me)}/do?${forwarded()}`, request);
}

const postMotion = () => perform({ do: "motion", reduce: reducedMotion.matches });

/** Sends what a button says. A blocked button, or one whose request is on its way, does nothing. A
    text leaves its field at once, so that people can write the next, and comes back if it was
    refused. */
async function press(button) {
  const field = byID(button.dataset.text);
  const isBusy = !field && sent.has(button.id);
  if (button.getAttribute("aria-disabled") === "true" || isBusy) return;
  const { do: action, post: id, name, edge, number, waitName, action: waitAction } = button.dataset;
  const request = { do: action, post: id, name, edge, from: button.id };
  if (number) request.number = Number(number);
  if (action === "wait") Object.assign(request, { wait: waitName, action: waitAction });
  if (field && field.value.trim() === "") return field.focus();
  if (field) [request.text, field.value] = [field.value, ""];
  sent.set(button.id, null);
  const answer = body.dataset.connected === "true" ? await perform(request)
    : { error: "This was not recorded: the process is restarting. Try again." };
  if (answer.revision) sent.set(button.id, answer.revision);
  if (!answer.revision || isReached(answer.revision)) sent.delete(button.id);
  refuse(button, answer.error);
  if (field && answer.error && field.value === "") field.value = request.text;
}

/** Shows why a request was refused, next to its button. Without words, it removes the old words. */
function refuse(button, words) {
  const group = button.closest("form, .actions, .switches, .edge, .row") ?? button.parentNode;
  // The button is gone if the request has changed what the page shows.
  if (!button.checkVisibility()) return words && speak([{ announce: words, assertive: true }]);
  const old = group.querySelector(":scope > .refused");
  if (!words) return old?.remove();
  const node = old ?? make("p", { class: "refused" });
  text(node, words);
  group.append(node);
  speak([{ announce: words, assertive: true }]);
  attribute(byID("alert").firstElementChild, "class", "sr");
}

document.addEventListener("click", ({ target }) => {
  const node = target.closest("button");
  const alert = byID("alert");
  if (node && alert.hasChildNodes()) keepingPlace([], () => alert.replaceChildren());
  if (node?.dataset.do) press(node);
  if (node?.dataset.stage) direct(node);
});
document.addEventListener("submit", (event) => event.preventDefault());

// ---- The stage --------------------------------------------------------------------------------

/** Sends what a button of the stage says. */
async function direct(button) {
  const isOn = button.getAttribute("aria-checked") === "true";
  const requests = {
    hold: { do: isOn ? "release" : "hold" },
    offline: { do: isOn ? "online" : "offline", replica: me },
    rejectNext: { do: "rejectNext", on: !isOn },
    conflict: { do: "conflict", replica: me },
    reject: { do: "reject", reason: "The moderators said no" },
    reword: { do: "reword", text: byID(button.dataset.text)?.value },
    advance: { do: "advance", seconds: Number(button.dataset.seconds) },
  };
  const { stage: action } = button.dataset;
  const request = { do: action, id: button.closest("#held-list > li")?.key, ...requests[action] };
  const answer = await post("/stage", request);
  // A process that ends does not always answer.
  refuse(button, ["crash", "startAgain"].includes(action) ? undefined : answer.error);
}

function paintStage() {
  const { stage } = now;
  if (!stage) return;
  const isOffline = stage.offline.includes(me);
  attribute(byID("stage-hold"), "aria-checked", String(stage.holding));
  attribute(byID("stage-offline"), "aria-checked", String(isOffline));
  attribute(byID("stage-next"), "aria-checked", String(stage.rejectNext));
  keyed(byID("held-list"), stage.held, (held) => held.id, makeHeld, paintHeld);
  show(byID("held-none"), stage.held.length === 0);
  const doing = stage.holding ? "Do something on the phone" : "Hold the answers";
  text(byID("held-none"), `None. ${isOffline ? "The phone has no network" : doing}.`);
  show(byID("stage-release"), stage.held.length > 0);
  text(byID("sheet-count"), [
    stage.holding ? `${stage.held.length} held` : "", isOffline ? "offline" : "",
  ].filter(Boolean).join(", ") || "hold, reject, cut, kill");
  if (document.activeElement !== byID("stage-delay")) byID("stage-delay").value = stage.delay;
  text(byID("stage-delay-text"), `${stage.delay} s`);
  show(byID("clock"), stage.clock === "manual");
  text(byID("clock-now"), `${stage.now} s`);
  text(byID("stage-facts"), [
    `decision ${stage.head}`, counted(stage.restarts, "restart"), `process ${stage.pid}`,
  ].join(", "));
  const others = stage.replicas.filter((name) => name !== me);
  keyed(byID("replicas"), stage.replicas, (name) => name, makePhone);
  show(byID("second"), others.length > 0);
  if (others.length > 0) {
    text(byID("second"), `Open ${others[0]}\u2019s phone in a second window`);
    attribute(byID("second"), "href", address(others[0], scene));
  }
}

function makeHeld(held) {
  const node = stamp("held-request", held.id.replaceAll("/", "-"));
  const field = node.querySelector(".content input");
  field.value = held.content ?? "";
  const slider = node.querySelector(".fraction input");
  slider.addEventListener("input", () =>
    post("/stage", { do: "fraction", wait: held.wait, value: Number(slider.value) / 100 }));
  return node;
}

function paintHeld(node, held) {
  paintPerson(node, held.by);
  phrase(node.querySelector(".what"), [[held.by], ": ", [held.text]]);
  show(node.querySelector(".content"), held.content !== undefined);
  show(node.querySelector("[data-stage=reword]"), held.content !== undefined);
  show(node.querySelector(".fraction"), held.wait === "upload");
}

function address(replica, scene) {
  return `/?${new URLSearchParams({ replica, scene })}`;
}

function makePhone(name) {
  return make("a", { href: address(name, scene), "aria-current": name === me && "page" }, name);
}

byID("stage-delay").addEventListener("input", ({ target }) => {
  text(byID("stage-delay-text"), `${target.value} s`);
});
byID("stage-delay").addEventListener("change", async ({ target }) => {
  const answer = await post("/stage", { do: "delay", seconds: Number(target.value) });
  refuse(target, answer.error);
});
for (const id of ["sheet", "guide-toggle"]) {
  byID(id).addEventListener("click", ({ currentTarget: node }) => {
    attribute(node, "aria-expanded", String(node.getAttribute("aria-expanded") === "false"));
  });
}

// ---- The guide: each word is checked off when it happens --------------------------------------

/** What all pages of this window remember, or only this page if the browser allows no more. */
const memory = (() => {
  try {
    return sessionStorage;
  } catch {
    return {};
  }
})();
const seen = new Set(memory.guide?.match(/\w+/g));
let pendingBefore = 0;
// The numbers when a request was last added to the pending requests.
let asked = {};
// The numbers of the first message. What happened before is not this visitor's.
let atStart = null;

function paintGuide() {
  const { account, stage } = now;
  if (!stage) return;
  // With new logs, everything begins again.
  if (memory.lineage !== stage.lineage) {
    seen.clear();
    [pendingBefore, asked, atStart] = [0, {}, null];
    memory.lineage = stage.lineage;
  }
  const { rejected = 0, conflicted = 0 } = account;
  // A conflicted intent has no answer either.
  const pending = (account.pending ?? 0) + conflicted;
  const { head, restarts, offline } = stage;
  const isOffline = offline.includes(me);
  atStart ??= { rejected, conflicted };
  atStart.rejected = Math.min(atStart.rejected, rejected);
  atStart.conflicted = Math.min(atStart.conflicted, conflicted);
  if (pending > pendingBefore) asked = { pending, rejected, head, restarts };
  pendingBefore = pending;
  // The message of a decision comes before the message of its answer.
  const isAccepted = head > asked.head
    && asked.pending - pending > Math.max(rejected - asked.rejected, 0);
  const happened = {
    optimistic: stage.holding && pending > 0,
    pending: seen.has("optimistic") && isAccepted,
    rejected: rejected > atStart.rejected,
    conflicted: conflicted > atStart.conflicted,
    offline: isOffline && pending > 0 && restarts > asked.restarts,
  };
  const isLive = {
    optimistic: account.pending > 0, pending: account.pending > 0, rejected: rejected > 0,
    conflicted: conflicted > 0, offline: isOffline,
  };
  for (const word of Object.keys(happened)) if (happened[word]) seen.add(word);
  const next = Object.keys(happened).find((word) => !seen.has(word));
  for (const node of document.querySelectorAll("#guide [data-word]")) {
    const { word } = node.dataset;
    attribute(node, "data-seen", seen.has(word));
    attribute(node, "data-live", isLive[word]);
    attribute(node, "aria-current", word === next ? "step" : null);
  }
  attribute(body, "data-next", next);
  text(byID("guide-count"), `${seen.size} of 5`);
  show(byID("guide-done"), !next);
  memory.guide = [...seen].join(" ");
}

// ---- The rest of the phone --------------------------------------------------------------------

/** Shows the parts of the phone that are not rows: link, counts, people, known posts, scenes. */
function paintAround() {
  const { account, people, known, signedIn } = now;
  const isConnected = body.dataset.connected === "true";
  const words = isConnected ? account.paused ?? "online" : "the process is restarting";
  const link = !isConnected ? "restarting" : /^(on|off)line$/.test(words) ? words : "paused";
  keyed(byID("link"), [words], (words) => words, () => badge(link, words));
  text(byID("sync"), isConnected ? account.sync : "");
  const counts = ["pending", "accepted", "conflicted", "rejected"]
    .filter((word) => account[word] > 0).map((word) => [word, word, `${account[word]} ${word}`]);
  // The last is visible if it is alone.
  counts.push(["settled", "accepted", "everything is settled"]);
  keyed(byID("account"), counts, ([key]) => key, ([, word, words]) => badge(word, words),
    (node, [, , words]) => text(node.lastChild, words));
  const others = Object.entries(people).filter(([name]) => name !== me);
  keyed(byID("people"), others, ([name]) => name, ([name]) => stamp("person", name), paintFollowed);
  show(byID("people"), scene === "feed" && others.length > 0);
  keyed(byID("known"), known, ({ id }) => id, ({ id, by }) => makeButton(`open-${id}`,
    `Open a post that ${by} shared with you`, { "data-do": "open", "data-post": id }));
  for (const kind of ["undo", "redo"]) {
    text(byID(kind), [capitalized(kind), now.undo[kind]].filter(Boolean).join(" "));
  }
  show(byID("sign-in-form"), !signedIn);
  show(byID("signed-in"), signedIn);
  paintChart();
  paintLog();
  paintStage();
  paintGuide();
}

/** Shows the latest intents as lanes over the entries from the first of them to the last entry. */
function paintLog() {
  const { last, lanes } = now.log;
  const first = lanes[0]?.from ?? last;
  const fraction = (sequence) => (sequence - first) / Math.max(1, last - first);
  show(byID("log-none"), lanes.length === 0);
  keyed(byID("lanes"), lanes, ({ number }) => number, () => stamp("lane"), (node, lane) => {
    const [name, bar] = [node.querySelector("a"), node.querySelector(".bar")];
    attribute(node, "data-state", lane.state);
    text(name, capitalized(lane.what));
    attribute(name, "href", addressOfLog(lane.number));
    bar.style.setProperty("--from", fraction(lane.from));
    bar.style.setProperty("--to", fraction(lane.to ?? last));
    text(node.querySelector(".words"), lane.state);
  });
}

// Starts the first load of the feed, and extends the archive when an edge comes near the screen.
const edges = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) press(target);
}, { rootMargin: "200px" });
let hasLoaded = false;

function load() {
  const isUnknown = feed.children.length === 0 && !now.feed.busy && !now.feed.empty;
  if (scene === "feed" && !hasLoaded && isUnknown) perform({ do: "load", from: "load" });
  hasLoaded = true;
  if (scene !== "archive") return;
  for (const edge of ["start", "end"]) {
    // Observing again asks again whether the edge is near.
    edges.unobserve(byID(`extend-${edge}`));
    if (now.feed.edges?.[edge] === "more") edges.observe(byID(`extend-${edge}`));
  }
}

function paintFollowed(node, [name, { followed, marks }]) {
  paintPerson(node, name);
  const follow = node.querySelector("button");
  attribute(follow, "aria-pressed", String(followed));
  attribute(follow, "data-do", followed ? "unfollow" : "follow");
  const word = followed ? "Following" : "Follow";
  text(follow, word);
  attribute(follow, "aria-label", `${word} ${name}`);
  paintMarks(node.querySelector(".marks"), marks ?? []);
}

/** Draws the chart again if its points are new. */
function paintChart() {
  const points = now.chart;
  const place = byID("chart");
  const key = points.join(" ");
  attribute(place, "data-empty", points.length === 0);
  const { busy, indicator } = now.waits.chart ?? {};
  attribute(place, "data-moves", Boolean(busy && indicator));
  text(byID("chart-load"), points.length > 0 ? "Load the chart again" : "Load the chart");
  if (place.key === key) return;
  place.key = key;
  const highest = Math.max(...points, 1);
  text(byID("chart-words"), points.length === 0 ? ""
    : `${counted(points.length, "day")}: from ${Math.min(...points)} to ${counted(highest, "like")} a day, `
      + `${points.at(-1)} on the last.`);
  if (points.length === 0) return place.replaceChildren();
  const size = { width: 320, height: 120 };
  const bars = points.map((point, index) => make("rect", {
    x: (index + 0.15) * size.width / points.length, width: 0.7 * size.width / points.length,
    y: size.height * (1 - point / highest), height: size.height * point / highest, rx: 2,
  }));
  // The words below say the same.
  place.replaceChildren(make("svg", {
    viewBox: `0 0 ${size.width} ${size.height}`, "aria-hidden": "true",
  }, ...bars));
}

// ---- Focus, keys, scenes and the start --------------------------------------------------------

function moveFocus(cue) {
  if ("focus" in cue) {
    document.querySelector(`[data-wait="${CSS.escape(cue.focus)}"] .indicator`)?.focus();
  }
  if ("restore" in cue) {
    const node = byID(cue.restore);
    focusFirst(node, ...controlsIn(node?.closest("article, section")), byID("phone"));
  }
  if ("top" in cue) {
    scrollTo({ top: 0, behavior: "instant" });
    byID("phone").focus({ preventScroll: true });
  }
}

/** The keys of a feed, as ARIA's authoring practices describe them. */
byID("post-text").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  byID("post-send").click();
});

feed.addEventListener("keydown", (event) => {
  const rows = [...feed.children].filter((node) => node.tabIndex === 0);
  const place = rows.indexOf(event.target.closest("article"));
  const outside = (side) => [...document.querySelectorAll("a, button, input, textarea")].filter(
    (node) => feed.compareDocumentPosition(node) === side && node.checkVisibility());
  const isWriting = event.target.matches("input");
  const targets = event.ctrlKey && !isWriting ? {
    Home: () => outside(Node.DOCUMENT_POSITION_PRECEDING).at(-1),
    End: () => outside(Node.DOCUMENT_POSITION_FOLLOWING)[0],
  } : { PageDown: () => rows[place + 1], PageUp: () => rows[place - 1] };
  const target = targets[event.key]?.();
  if (!target) return;
  event.preventDefault();
  target.focus();
});

/** Ctrl-Z or Cmd-Z undoes, with Shift it redoes. In a text, the browser undoes what was typed. */
document.addEventListener("keydown", (event) => {
  const isUndo = event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey);
  const isWriting = event.target.matches("textarea, input:not([type=range])");
  if (!isUndo || event.altKey || isWriting || overlay.open || scene !== "feed") return;
  event.preventDefault();
  press(byID(event.shiftKey ? "redo" : "undo"));
});

/** A modal dialog keeps Tab. Esc cancels only if the wait offers that. */
overlay.addEventListener("keydown", (event) => {
  const nodes = [...overlay.querySelectorAll("button, input")]
    .filter((node) => node.checkVisibility());
  if (event.key === "Escape") {
    event.preventDefault();
    overlay.querySelector("[data-action=cancel]")?.click();
  } else if (event.key === "Tab") {
    const place = nodes.indexOf(document.activeElement);
    const isLast = event.shiftKey ? place <= 0 : place === nodes.length - 1;
    if (!isLast) return;
    event.preventDefault();
    nodes.at(event.shiftKey ? -1 : 0)?.focus();
  }
});

for (const node of document.querySelectorAll("[data-scenes]")) {
  show(node, node.dataset.scenes.split(" ").includes(scene));
}
for (const node of document.querySelectorAll("[data-to-scene]")) {
  attribute(node, "href", address(me, node.dataset.toScene));
  attribute(node, "aria-current", node.dataset.toScene === scene ? "page" : null);
}
text(byID("title"), `${capitalized(me)}\u2019s ${scene}`);
attribute(body, "data-policy", query.get("policy"));
document.title = `${byID("title").textContent} \u2013 Foldback`;
paintPerson(document.querySelector(".phone-head"), me);
byID("sign-in-name").value = me;
attribute(byID("log-link"), "href", addressOfLog());
text(byID("signed-in-text"), `You are signed in as ${me}.`);
attribute(byID("guide-toggle"), "aria-expanded", String(matchMedia("(min-width: 69em)").matches));
reducedMotion.addEventListener("change", postMotion);

connect(null);
