// The head of the page: what the log is, how much it has, and whether it is sound.

import { alertBanner, badge, banner, byID, counted, el, grouped, mark, sizeText, timeText, visible, visibleText } from "./dom.js";
import { isExactBrowser, numberOf } from "./json.js";
import { actorNoun } from "./source.js";
import { copyText, shellQuoted } from "./commands.js";

const legendWords = [
  ["pending", "the server has not answered yet"],
  ["accepted", "the server said yes, and its effect is on the way"],
  ["confirmed", "its effect is in confirmed state"],
  ["rejected", "the server said no, so it was rolled back"],
  ["withdrawn", "taken back by the user"],
  ["conflicted", "it does not fit the state, so it does not count"],
];

const faultWords = "a confirmed event that does not fit the state, so it was skipped";

/** What confirms the intents of a log, by its kind.
    @type {{[kind: string]: string}} */
const confirmers = {
  acknowledgement: "answers (acknowledgement)",
  downlink: "server batches (downlink)",
};

const outcomeLegendWords = [
  ["confirmed", "accepted", "the event was applied as it was sent"],
  ["reworded", "reworded", "another event was applied, or none"],
  ["rejected", "rejected", "nothing was applied, and the reason is noted"],
];

/** Paints the head again.
    @param {import("./model.js").App} app */
export function paintHead(app) {
  const { head, isLive } = app.source;
  const { status, counts = {} } = head;
  byID("log-name").replaceChildren(visible(head.log));
  const space = head.space ? `, beside the server's log ${visibleText(head.space.log)}` : "";
  byID("source-words").textContent =
    (isLive
      ? `Opened by ${head.tool} inspect`
      : `A report by ${head.tool}${head.made ? `, made ${timeText(Date.parse(head.made)).slice(0, 16)} UTC` : ""}`) +
    space;
  const number = (/** @type {any} */ value) =>
    value === undefined ? "?" : grouped(numberOf(value));
  const chip = (
    /** @type {string} */ label,
    /** @type {string} */ value,
    /** @type {string} */ state = "",
    /** @type {string | null} */ title = value.length > 24 ? visibleText(value) : null,
  ) =>
    el(
      "div",
      { class: "chip", "data-state": state || null, "data-zero": value === "0", title },
      el("dt", {}, state ? mark(state) : null, label),
      el("dd", {}, visible(value)),
    );
  byID("chips").replaceChildren(
    chip("Replica", status.replica),
    chip("Confirmed by", confirmers[status.kind] ?? String(status.kind)),
    chip("Entries", number(status.entries)),
    ...[
      ["Pending", status.pending, "pending", "intents that wait for the server"],
      ["Accepted", status.accepted, "accepted", "intents that are not in confirmed state yet"],
      [
        "Rejected, open",
        status.rejected,
        "rejected",
        "rejections that are neither dismissed nor tried again",
      ],
      ["Conflicted", counts.conflicted, "conflicted", "open intents that do not fit the state"],
    ]
      // A log of others' events has no intents of its own, and these are not about the events.
      .filter(([, value]) => actorNoun(head) === null || numberOf(value ?? 0) > 0)
      .map(([label, value, state, words]) => chip(label, number(value), state, `Now: ${words}`)),
    chip("Faults", number(counts.faults), "", `In the whole log: ${faultWords}`),
    chip("Size", sizeText(numberOf(status.bytes ?? 0))),
    chip(
      "Last write",
      head.lastWrite === undefined
        ? "never"
        : `${timeText(numberOf(head.lastWrite)).slice(0, 19)} UTC`,
    ),
  );
  paintBanners(app);
}

/** @param {import("./model.js").App} app */
function paintBanners({ source }) {
  const { head } = source;
  const banners = [
    head.damage &&
      alertBanner(
        mark("conflicted"),
        el(
          "span",
          {},
          el("strong", {}, "The log is damaged. "),
          visible(String(head.damage).replace(/\.?$/, ".")),
          " The page shows the entries before the damage.",
        ),
      ),
    head.filters?.length > 0 &&
      banner(
        el(
          "span",
          {},
          "This page has only some of the entries: ",
          el("code", {}, visibleText(head.filters.map(shellQuoted).join(" "))),
          ". States and changes count all entries.",
        ),
      ),
    head.isRedacted &&
      banner(
        "Values in this page are replaced by pseudonyms, because it is redacted. The commands on this page read the log without the redaction.",
      ),
    !isExactBrowser &&
      alertBanner(
        el(
          "span",
          {},
          el("strong", {}, "This browser rounds some numbers. "),
          "A number with many digits, or such as 1.0, may be shown with other digits. A newer browser shows it exactly.",
        ),
      ),
  ].filter(Boolean);
  const place = byID("banners");
  // An alert that is there already is not announced again.
  const words = banners.map((banner) => banner.textContent).join("\n");
  if (place.words === words) return;
  place.words = words;
  place.replaceChildren(...banners);
}

/** Shows whether the writer is there, or that the inspector does not answer.
    @param {import("./model.js").App} app
    @param {string | null} lost */
export function paintLive({ source }, lost) {
  const node = byID("live");
  if (!source.isLive) return;
  const { writer } = source.head;
  const isThere = writer?.isThere ?? false;
  const words = lost
    ? lost
    : isThere
      ? `live: a process${writer.process === undefined ? "" : ` (${numberOf(writer.process)})`} has the log open`
      : "not live: no process has the log open";
  node.hidden = false;
  node.dataset.tone = lost ? "rejected" : isThere ? "confirmed" : "withdrawn";
  if (node.textContent !== words) node.textContent = words;
}

/** @param {import("./model.js").App} app
    @param {any} verdict */
function verdictNodes({ source }, verdict) {
  if (!verdict) return [el("p", {}, "This page has no verdict. Run verify in a terminal.")];
  const findings = verdict.findings ?? [];
  // A file tells what was found when it was made.
  const [verb, when] = source.isLive ? ["is", ""] : ["was", " when this file was made"];
  const facts = `${counted(numberOf(verdict.entries), "entry", "entries")} and ${counted(numberOf(verdict.checkpoints), "checkpoint")} checked.`;
  return [
    el(
      "p",
      { class: "verdict", "data-tone": verdict.sound ? "confirmed" : "rejected" },
      mark(verdict.sound ? "confirmed" : "rejected"),
      el("strong", {}, `The log ${verb} ${verdict.sound ? "sound" : "not sound"}${when}. `),
      facts,
    ),
    findings.length > 0
      ? el(
          "ul",
          {},
          ...findings
            .slice(0, 100)
            .map((/** @type {any} */ finding) =>
              el(
                "li",
                {},
                el("strong", {}, visible(String(finding.place))),
                ": ",
                visible(String(finding.what)),
              ),
            ),
        )
      : "",
    ...(verdict.notCompared ?? [])
      .slice(0, 20)
      .map((/** @type {any} */ what) =>
        el("p", { class: "soft" }, "Not compared: ", visible(String(what))),
      ),
  ];
}

/** @param {import("./model.js").App} app */
export function listenInHead(app) {
  byID("verify").addEventListener("click", async () => {
    const node = byID("verdict");
    const isOpen = node.hidden;
    node.hidden = !isOpen;
    byID("verify").setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) return;
    node.replaceChildren(el("p", { class: "soft" }, "Checking\u2026"));
    try {
      node.replaceChildren(...verdictNodes(app, await app.source.verification()));
    } catch (error) {
      node.replaceChildren(
        el("p", { class: "flaw" }, error instanceof Error ? error.message : String(error)),
      );
    }
  });
  const copying = (/** @type {string} */ id, /** @type {() => string} */ text) => {
    const node = byID(id);
    const words = node.textContent;
    node.addEventListener("click", async () => {
      node.textContent = (await copyText(text())) ? "Copied" : "Not copied";
      setTimeout(() => {
        node.textContent = words;
      }, 1_500);
    });
  };
  copying("copy-link", () => {
    app.model.saveNow();
    return location.href;
  });
  copying("copy-command", () => app.command);
  const { head } = app.source;
  byID("legend-list").append(...legend(actorNoun(head), head.space !== undefined));
}

/** @param {string | null} noun what an actor is; null if the page shows intents
    @param {boolean} hasServer whether it shows a server's decisions, too */
function legend(noun, hasServer) {
  const line = (/** @type {Node} */ shape, /** @type {string} */ words) =>
    el("div", {}, el("dt", {}, shape), el("dd", {}, words));
  const plain = (/** @type {string} */ name) => el("span", { class: "badge plain" }, name);
  if (noun !== null) {
    return [
      ...outcomeLegendWords.map(([state, name, words]) => line(badge(state, name), words)),
      line(plain("tick"), "an entry; the higher, the more events it has"),
      line(plain("fault"), faultWords),
    ];
  }
  return [
    ...legendWords.map(([state, words]) => line(badge(state), words)),
    line(plain("batch"), "confirmed events from the server"),
    line(plain("attempt"), "the intent was sent"),
    ...(hasServer
      ? [
          line(plain("The server"), "what it decided between two entries; the worst has the shape"),
          ...outcomeLegendWords.map(([state, name, words]) => line(badge(state, name), words)),
          line(plain("dashed line"), "when the server decided the intent of the bar"),
        ]
      : []),
    line(plain("fault"), faultWords),
  ];
}
