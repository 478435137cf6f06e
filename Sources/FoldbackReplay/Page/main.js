// The page. Page.swift lists the modules and puts them together, without the imports and exports.

import { jsonText, lastingPlace, numberOf, valueAt } from "./json.js";
import { alertBanner, announce, byID, counted, el, timeText, visibleText } from "./dom.js";
import { EmbeddedSource } from "./source-embedded.js";
import { FetchedSource } from "./source-fetched.js";
import { actorNoun, projectionNamed, viewChangeCount } from "./source.js";
import { History } from "./history.js";
import { Model, tabNames } from "./model.js";
import { keyOf, kindWords, attributedEvents, worstOutcome } from "./words.js";
import { explained } from "./effects.js";
import { sentenceList } from "./pieces.js";
import { Timeline } from "./timeline.js";
import { ActorTimeline } from "./actor-timeline.js";
import { Entries } from "./entries.js";
import { entryPanel, statePanel } from "./panel-state.js";
import { overlayPanel } from "./panel-overlay.js";
import { comparePanel, intentPanel, placePanel } from "./panel-stories.js";
import { findPanel } from "./panel-find.js";
import { exportPanel, plotsPanel } from "./panel-export.js";
import { whatIfPanel } from "./panel-what-if.js";
import { Player } from "./play.js";
import { LogStrip } from "./strip.js";
import { listenInHead, paintHead, paintLive } from "./head.js";
import { commandLabel, tabCommand } from "./commands.js";

const panels = [
  entryPanel,
  statePanel,
  overlayPanel,
  intentPanel,
  placePanel,
  comparePanel,
  whatIfPanel,
  findPanel,
  exportPanel,
  plotsPanel,
];
const searchedMax = 2_000;
const searchedAtOnce = 250;
const waitShown = 300;

/** The page's parts together. */
class Page {
  /** @param {import("./source.js").Source} source */
  constructor(source) {
    this.source = source;
    this.history = new History(source);
    this.model = new Model("");
    this.moment = /** @type {import("./history.js").Moment} */ (/** @type {unknown} */ (null));
    /** The projection of the moment. */
    this.shown = "";
    this.command = "";
    this.token = 0;
    this.lost = /** @type {string | null} */ (null);
    /** The last sequence that the page has shown. */
    this.known = source.last;
    /** The number of the server's decisions that the page has shown. */
    this.decided = source.decisions?.list.length ?? 0;
    this.timeline = /** @type {Timeline | null} */ (null);
    this.entries = /** @type {Entries | null} */ (null);
    this.player = /** @type {Player | null} */ (null);
    this.strip = /** @type {LogStrip | null} */ (null);
  }

  async open() {
    const isChosen = this.readLink();
    const noun = actorNoun(this.source.head);
    if (noun !== null) document.documentElement.dataset.actors = noun;
    this.makeTabs();
    this.fillProjections();
    this.timeline = noun === null ? new Timeline(this) : new ActorTimeline(this);
    this.entries = new Entries(this);
    this.player = new Player(this);
    this.strip = new LogStrip(this);
    listenInHead(this);
    paintHead(this);
    paintLive(this, null);
    this.listen();
    // The first state of a long log takes a fold, so the list comes first.
    if (!isChosen) this.model.selected = this.source.last;
    await this.entries.reload();
    const telling = isChosen ? this.model.selected : await this.showingWait(this.mostTelling());
    await this.select(telling);
    await this.entries.reload();
    document.documentElement.dataset.ready = "true";
    this.strip.load();
    this.source.follow(
      () => this.headChanged(),
      (reason) => {
        this.lost = reason;
        paintLive(this, reason);
      },
    );
  }

  get projections() {
    return this.source.head.projections.map((/** @type {any} */ one) => one.name);
  }

  readLink() {
    return this.model.read(location.hash, this.projections);
  }

  listen() {
    byID("command-label").textContent = commandLabel(this).trim();
    // The fragment belongs to the model.
    byID("skip").addEventListener("click", (/** @type {Event} */ event) => {
      event.preventDefault();
      byID("details").focus();
      byID("details").scrollIntoView();
    });
    addEventListener("hashchange", async () => {
      if (location.hash === this.model.written) return;
      this.readLink();
      this.entries?.fillForm();
      await this.select(this.model.selected);
      await this.entries?.reload();
    });
    document.addEventListener("command", () => this.paintCommand());
    byID("pin").addEventListener("click", () => {
      const { model } = this;
      model.pin = model.pin === model.selected ? null : model.selected;
      if (model.pin !== null) announce(`Pinned. Select another entry, and open the tab Compare.`);
      this.changed();
    });
    byID("projection").addEventListener("change", async () => {
      this.model.projection = byID("projection").value;
      await this.select(this.model.selected);
      await this.entries?.reload();
    });
  }

  /** Returns the last rejection whose rollback changes the view, or the last entry with a rejected
      attributed event, else the last entry. Looks only at the end of the log, so a long log does not
      make this slower. */
  async mostTelling() {
    const { source, model } = this;
    let end = await source.place({}, source.last + 1);
    const searchedEnd = Math.max(0, end - searchedMax);
    while (end > searchedEnd) {
      const start = Math.max(searchedEnd, end - searchedAtOnce);
      const { rows } = await source.rows({}, start, end - start, model.projection);
      for (const { entry, changes } of rows.reverse()) {
        if (worstOutcome(attributedEvents(entry)) === "rejected") return entry.sequence;
        if (entry.kind !== "rejected") continue;
        if (changes !== undefined ? changes > 0 : await this.changesView(entry.sequence))
          return entry.sequence;
      }
      end = start;
    }
    return source.last;
  }

  /** @param {number} sequence */
  async changesView(sequence) {
    const { window, index } = await this.history.at(this.model.projection, sequence);
    return index >= 0 && viewChangeCount(window.frames[index].patch) > 0;
  }

  // ---- Selection --------------------------------------------------------------------------------

  /** @param {number} sequence
      @param {boolean} [isGrowth] whether the log has grown, and the user did nothing */
  async select(sequence, isGrowth = false) {
    this.token += 1;
    const { token } = this;
    let moment;
    try {
      const found = this.history.at(this.model.projection, sequence);
      moment = await (isGrowth ? found : this.showingWait(found));
    } catch (error) {
      return this.fail(error);
    }
    if (token !== this.token) return undefined;
    const isOther =
      this.moment?.sequence !== moment.sequence || this.shown !== this.model.projection;
    this.moment = moment;
    this.shown = this.model.projection;
    this.model.selected = moment.sequence;
    if (isOther && this.model.tab !== "intent")
      this.model.intent = moment.entry?.intent === undefined ? "" : keyOf(moment.entry.intent);
    // The list scrolls first, while the layout of the page is known. If the inspector has ended,
    // only the entry's place in the list is missing.
    const offset = (await this.entries?.offset().catch(() => -1)) ?? -1;
    if (token !== this.token) return undefined;
    const listed = this.entries?.list.select(offset);
    if (isOther || !isGrowth) this.paint();
    else this.paintGrowth();
    await listed;
    document.documentElement.dataset.selected = String(moment.sequence);
    return undefined;
  }

  /** Says why an entry is not there yet, if that takes long. Painting the entry replaces the words.
      @template Found
      @param {Promise<Found>} found
      @returns {Promise<Found>} */
  async showingWait(found) {
    const timer = window.setTimeout(() => {
      const words = "Folding the entries before this one. The first time takes longer.";
      byID("explanation").replaceChildren(el("p", { class: "soft" }, words));
    }, waitShown);
    try {
      return await found;
    } finally {
      clearTimeout(timer);
    }
  }

  /** @param {unknown} error */
  fail(error) {
    const words = error instanceof Error ? error.message : String(error);
    byID("explanation").replaceChildren(
      el("p", { class: "flaw", role: "alert" }, visibleText(words)),
    );
  }

  /** Paints what depends on the model. */
  changed() {
    this.paint();
  }

  paint() {
    const { moment, model, source } = this;
    model.save();
    const { entry } = moment;
    byID("details-title").textContent = entry
      ? `Entry ${entry.sequence}: ${kindWords(entry)}${entry.intent === undefined ? "" : ` ${keyOf(entry.intent)}`}`
      : moment.sequence === 0
        ? "Before the first entry"
        : "Before the first entry of this page";
    byID("details-time").textContent = entry ? `${timeText(numberOf(entry.at))} UTC` : "";
    byID("explanation").replaceChildren(
      ...(source.last === 0
        ? [
            el(
              "p",
              { class: "main-sentence" },
              source.isPartial ? "This page has no entries." : "This log has no entries yet.",
            ),
          ]
        : sentenceList(
            this,
            explained(moment, source.recorders, actorNoun(source.head) !== null),
          )),
    );
    const pin = byID("pin");
    pin.textContent =
      model.pin === model.selected ? "Unpin" : entry ? "Pin this entry" : "Pin the start";
    document.title = `${visibleText(source.head.log)}: ${entry ? `entry ${entry.sequence}` : "the start"} - Foldback`;
    this.showPlace();
    this.paintPanel();
    this.paintCommand();
  }

  /** Shows where the selected entry is in the log. */
  showPlace() {
    this.timeline?.select();
    this.player?.select();
    this.strip?.select();
    if (document.documentElement.dataset.ready) this.strip?.load();
  }

  /** Paints what new entries change while the selected entry stays. The open tab keeps its nodes, with
      the focus and what is typed there. */
  paintGrowth() {
    this.showPlace();
    panels.find(({ id }) => id === this.model.tab)?.grew?.(this, byID(`panel-${this.model.tab}`));
  }

  // ---- Tabs -------------------------------------------------------------------------------------

  makeTabs() {
    const tabs = byID("tabs");
    for (const { id, title } of panels) {
      tabs.append(
        el(
          "button",
          {
            type: "button",
            role: "tab",
            id: `tab-${id}`,
            "aria-controls": `panel-${id}`,
            on: { click: () => this.openTab(id) },
          },
          title,
        ),
      );
      byID("panels").append(
        el("div", {
          role: "tabpanel",
          id: `panel-${id}`,
          class: "panel",
          tabindex: 0,
          "aria-labelledby": `tab-${id}`,
          hidden: true,
        }),
      );
    }
    tabs.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      const at = tabNames.indexOf(this.model.tab);
      const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabNames.length - 1 }[
        event.key
      ];
      if (next === undefined) return;
      event.preventDefault();
      this.openTab(tabNames[(next + tabNames.length) % tabNames.length]);
      byID(`tab-${this.model.tab}`).focus();
    });
  }

  /** @param {string} tab */
  openTab(tab) {
    this.model.tab = tab;
    this.model.save();
    this.paintPanel();
    this.paintCommand();
  }

  paintPanel() {
    for (const { id } of panels) {
      const isOpen = id === this.model.tab;
      const tab = byID(`tab-${id}`);
      tab.setAttribute("aria-selected", String(isOpen));
      tab.tabIndex = isOpen ? 0 : -1;
      byID(`panel-${id}`).hidden = !isOpen;
    }
    panels.find(({ id }) => id === this.model.tab)?.paint(this, byID(`panel-${this.model.tab}`));
  }

  paintCommand() {
    const ofPanel = panels.find(({ id }) => id === this.model.tab)?.command?.(this) ?? null;
    this.command = tabCommand(this, ofPanel);
    byID("command").textContent = visibleText(this.command);
  }

  fillProjections() {
    const select = byID("projection");
    select.append(
      ...this.projections.map((/** @type {string} */ name) =>
        el("option", { value: name }, visibleText(name)),
      ),
    );
    select.value = projectionNamed(this.source.head, this.model.projection)?.name ?? "";
    byID("projection-row").hidden = this.projections.length < 2;
  }

  /** @param {any} intent */
  openIntent(intent) {
    if (intent === undefined) return;
    this.model.intent = keyOf(intent);
    this.openTab("intent");
    this.timeline?.paint();
    byID("tabs").scrollIntoView({ block: "nearest" });
  }

  /** Searches the entries for a text, or shows all entries if that is the search now.
      @param {string} text */
  async toggleSearch(text) {
    const { text: old, ...filter } = this.model.filter;
    this.model.filter = old === text ? filter : { ...filter, text };
    this.model.save();
    this.entries?.fillForm();
    this.timeline?.paint();
    await this.entries?.reload();
  }

  /** Tells the story of a place. An element of an array that has an id is followed by it, if the place
      is of given states.
      @param {string} place
      @param {any[]} states */
  openPlace(place, states = []) {
    const root = states.find((state) => valueAt(state, place) !== undefined);
    this.model.place = lastingPlace(root, place);
    this.openTab("place");
    byID("tabs").scrollIntoView({ block: "nearest" });
  }

  // ---- A log that grows -------------------------------------------------------------------------

  async headChanged() {
    const shown = this.known;
    this.known = this.source.last;
    paintHead(this);
    paintLive(this, null);
    this.timeline?.readDecisions();
    const count = this.known - shown;
    const decided = this.source.decisions?.list.length ?? 0;
    const isDecided = decided !== this.decided;
    this.decided = decided;
    if (count <= 0) {
      if (isDecided) this.paintGrowth();
      return;
    }
    this.history.grew();
    announce(`${counted(count, "new entry", "new entries")}.`);
    const isFollowing = this.moment.sequence === shown;
    await this.select(isFollowing ? this.known : this.moment.sequence, true);
    await this.entries?.reload();
  }
}

/** Opens the page. Tests read the global object `foldback`. */
async function start() {
  const source = document.querySelector("script#entries")
    ? new EmbeddedSource()
    : await FetchedSource.opened();
  const page = new Page(source);
  const ready = page.open().catch((error) => page.fail(error));
  Reflect.set(globalThis, "foldback", {
    source,
    ready,
    select: (/** @type {number} */ sequence) => page.select(sequence),
    state: () => jsonText(page.moment.after),
  });
  await ready;
}

start().catch((error) => {
  byID("banners").replaceChildren(
    alertBanner(error instanceof Error ? error.message : String(error)),
  );
});
