// The data source of a static page: the JSON blocks in the page.

import { isExactBrowser, isSameJSON, jsonText, parseJSON, placeOfArray, valueAt } from "./json.js";
import { byID } from "./dom.js";
import { BoundedCache, framesHop, framesMax, lowerBound, projectionNamed, readEntry, viewChangeCount } from "./source.js";
import { filterPredicate } from "./filters.js";
import { Recorders } from "./recorders.js";
import { Decisions } from "./decisions.js";
import { FrameRun } from "./run.js";
import { conflictPlaces, endStates, newConflicts, newFaults, noteSettled, readStory } from "./stories.js";
import { markOf } from "./words.js";

/** @typedef {{states: {before: number, state: import("./source.js").State}[],
      frames: {patch: import("./json.js").PatchOperation[], others?: any[], skipped?: any[]}[],
      without?: {[intent: string]: import("./source.js").Absence}}} Block */

/** @typedef {import("./source.js").Source} Source */

/** What a page without entries shows.
    @type {import("./source.js").State} */
const emptyState = {
  sequence: 0,
  through: 0,
  view: null,
  confirmed: null,
  pending: [],
  accepted: [],
  conflicted: [],
  faults: 0,
  reasons: {},
  faulted: [],
};

/** @implements {Source} */
export class EmbeddedSource {
  constructor() {
    this.isLive = false;
    this.head = parseJSON(byID("head").textContent);
    /** @type {any[]} */
    this.entries = takeBlock("entries").map(readEntry);
    /** @type {Map<string, Block>} */
    this.blocks = new Map();
    /** @type {BoundedCache<import("./source.js").State>} */
    this.states = new BoundedCache(8);
    /** @type {{key: string, places: number[]} | null} */
    this.filtered = null;
    /** @type {Map<string, string> | undefined} */
    this.ends = undefined;
    this.first = this.entries[0]?.sequence ?? 0;
    this.last = this.entries.at(-1)?.sequence ?? 0;
    this.count = this.entries.length;
    this.isPartial = (this.head.filters ?? []).length > 0;
    this.recorders = new Recorders(() => this.head.status);
    /** The entries that recorded intents.
        @type {Map<string, any>} */
    this.recorded = new Map();
    for (const entry of this.entries) {
      this.recorders.note(entry);
      if (entry.kind === "intent") this.recorded.set(jsonText(entry.intent), entry);
    }
    const decided = takeBlock("decisions");
    /** @type {Decisions | null} */
    this.decisions = this.head.space ? new Decisions(this.recorders) : null;
    this.decisions?.take(0, decided);
    if (this.isPartial && this.count > 0 && this.head.projections.length > 0) {
      const { states, frames } = this.block("");
      noteSettled(states[0].state, frames, this.entries, this.recorders);
    }
  }

  /** Parses a projection's block when it is first needed.
      @param {string} name
      @returns {Block} */
  block(name) {
    const projection = projectionNamed(this.head, name);
    let block = this.blocks.get(projection.name);
    if (!block) {
      block = /** @type {Block} */ (
        takeBlock(`projection-${this.head.projections.indexOf(projection)}`)
      );
      this.blocks.set(projection.name, block);
    }
    return block;
  }

  /** @param {string} name
      @param {number} index
      @returns {import("./source.js").Frame} */
  frame(name, index) {
    return { entry: this.entries[index], ...this.block(name).frames[index] };
  }

  /** @param {number} index */
  previous(index) {
    return index > 0 ? this.entries[index - 1].sequence : null;
  }

  /** Returns the state after the frame before `index`, or a checkpoint directly before the frame.
      @param {string} name
      @param {number} index */
  stateBefore(name, index) {
    const key = `${index} ${name}`;
    const known = this.states.get(key);
    if (known) return known;
    const { states } = this.block(name);
    if (states.length === 0) return emptyState;
    const found = lowerBound(states.length, (place) => states[place].before, index + 1) - 1;
    const start = states[Math.max(0, found)];
    const run = new FrameRun(start.state);
    for (let next = start.before; next < index; next += 1)
      run.step(this.frame(name, next), this.previous(next));
    this.states.set(key, run.kept());
    return run.state;
  }

  /** @param {import("./filters.js").Filter} filter
      @returns {number[] | null} */
  places(filter) {
    const key = jsonText(filter);
    if (key === "{}") return null;
    if (this.filtered?.key !== key) {
      const passes = filterPredicate(
        filter,
        this.recorders,
        (intent) => this.endOf(jsonText(intent)),
        (trouble) => {
          const { conflicted, faulted } = this.troubles("");
          return trouble === "conflict" ? conflicted : faulted;
        },
      );
      /** @type {number[]} */
      const places = [];
      for (let index = 0; index < this.entries.length; index += 1) {
        if (passes(this.entries[index])) places.push(index);
      }
      this.filtered = { key, places };
    }
    return this.filtered.places;
  }

  /** @param {import("./filters.js").Filter} filter
      @param {number} offset
      @param {number} count
      @param {string} projection */
  async rows(filter, offset, count, projection) {
    const places = this.places(filter);
    const frames = this.head.projections.length > 0 ? this.block(projection).frames : [];
    const length = places?.length ?? this.entries.length;
    const rows = [];
    for (let at = Math.max(0, offset); at < Math.min(length, offset + count); at += 1) {
      const index = places?.[at] ?? at;
      rows.push({
        entry: this.entries[index],
        changes: viewChangeCount(frames[index]?.patch ?? []),
      });
    }
    return { count: length, isWhole: true, rows };
  }

  /** @param {import("./filters.js").Filter} filter
      @param {number} sequence */
  async place(filter, sequence) {
    const places = this.places(filter);
    const at = (/** @type {number} */ index) => this.entries[places?.[index] ?? index].sequence;
    return lowerBound(places?.length ?? this.entries.length, at, sequence);
  }

  /** @param {string} projection
      @param {number} sequence */
  async frames(projection, sequence) {
    const index = lowerBound(this.entries.length, (at) => this.entries[at].sequence, sequence);
    const start = Math.max(0, Math.floor(index / framesHop) * framesHop - framesHop);
    const end = Math.min(this.entries.length, start + framesMax);
    const frames = [];
    for (let at = start; at < end; at += 1) frames.push(this.frame(projection, at));
    return { state: this.stateBefore(projection, start), frames, previous: this.previous(start) };
  }

  /** Returns the state of an intent at the end of the log. The head has it also for an intent that
      an entry settled that this page does not have.
      @param {string} intent */
  endOf(intent) {
    const { ends } = this.head;
    if (ends && Object.hasOwn(ends, intent)) return ends[intent];
    this.ends ??= endStates(
      this.entries,
      this.recorders,
      this.stateBefore("", this.entries.length),
    );
    return this.ends.get(intent);
  }

  /** @param {any[]} numbers */
  async intents(numbers) {
    /** @type {Map<string, any>} */
    const found = new Map();
    for (const key of numbers.map(jsonText)) {
      const entry = this.recorded.get(key);
      if (entry) found.set(key, entry);
    }
    return found;
  }

  /** @param {string} projection
      @param {number} index */
  around(projection, index) {
    const run = new FrameRun(this.stateBefore(projection, index));
    const frame = this.frame(projection, index);
    run.skip(frame, this.previous(index));
    const before = run.kept();
    run.apply(frame.patch, frame.entry.sequence);
    return { before, after: run.kept(), frame };
  }

  /** @param {string} projection
      @param {string} intent */
  async story(projection, intent) {
    const block = this.block(projection);
    const recorded = this.entries.findIndex(
      (entry) => entry.kind === "intent" && jsonText(entry.intent) === intent,
    );
    if (recorded < 0) throw new Error(`Intent ${intent} is not among the entries of this page.`);
    const conflicts = conflictPlaces(block.states[0].state, block.frames, intent);
    return readStory(
      intent,
      this.entries,
      recorded,
      this.recorders,
      conflicts,
      (index) => this.around(projection, index),
      this.endOf(intent) ?? "",
      this.head.attempts?.[intent],
    );
  }

  /** @param {string} projection
      @param {string} intent */
  async without(projection, intent) {
    const { without } = this.block(projection);
    return without && Object.hasOwn(without, intent) ? without[intent] : null;
  }

  /** @param {string} projection
      @param {string} place */
  async causes(projection, place) {
    const block = this.block(projection);
    const run = new FrameRun(block.states[0]?.state ?? emptyState);
    const isRelated = relation(place);
    const causes = [];
    for (let index = 0; index < this.entries.length; index += 1) {
      const frame = this.frame(projection, index);
      run.skip(frame, this.previous(index));
      if (!frame.patch.some(({ path }) => isRelated(path))) {
        run.apply(frame.patch, frame.entry.sequence);
        continue;
      }
      const before = run.kept();
      run.apply(frame.patch, frame.entry.sequence);
      const after = run.kept();
      const view = changeAt(before.view, after.view, place);
      const confirmed = changeAt(before.confirmed, after.confirmed, place);
      if (view || confirmed) causes.push({ entry: frame.entry, intents: [], view, confirmed });
    }
    return causes;
  }

  /** Returns the entries where a conflict began, and those with a fault.
      @param {string} projection */
  troubles(projection) {
    const { states, frames } = this.block(projection);
    const start = states[0]?.state ?? emptyState;
    const at = (/** @type {number[]} */ indices) =>
      indices.map((index) => this.entries[index].sequence);
    return {
      conflicted: at(newConflicts(start, frames)),
      faulted: at(newFaults(frames)),
    };
  }

  /** @param {string} projection */
  async marks(projection) {
    const isRejected = (/** @type {any} */ entry) => markOf(entry) === "rejected";
    return {
      rejected: this.entries.filter(isRejected).map((entry) => entry.sequence),
      ...this.troubles(projection),
      through: this.last,
      isOver: true,
    };
  }

  async verification() {
    return this.head.verification ?? null;
  }

  /** @param {string} of */
  async plot(of) {
    return this.head.plots?.[of] ?? null;
  }

  /** @param {string} form
      @param {string} projection
      @param {import("./filters.js").Filter} filter
      @param {number} to */
  async exported(form, projection, filter, to) {
    if (form !== "ndjson" && this.head.filters.length > 0) {
      throw new Error(
        "This page has only some of the log's entries. Run the command in a terminal.",
      );
    }
    if (this.head.projections[0]?.areEventsDescribed) {
      throw new Error(
        "This page describes the events, and a file needs their bytes. Run the command in a terminal.",
      );
    }
    if (!isExactBrowser) {
      throw new Error(
        "This browser rounds some numbers, so the file could differ from the log. Run the command in a terminal.",
      );
    }
    const name = this.head.test?.name ?? "recorded";
    const places = form === "ndjson" ? this.places(filter) : null;
    const entries = places
      ? places.map((index) => this.entries[index])
      : form === "test"
        ? this.entries.filter((entry) => entry.sequence <= to)
        : this.entries;
    const file =
      form === "bundle" ? { ...this.head.file, bundle: this.head.bundle } : this.head.file;
    const text = [file, ...entries].map((line) => `${jsonText(line)}\n`).join("");
    if (form !== "test")
      return [{ name: `${name}${form === "bundle" ? "-bundle" : ""}.ndjson`, text }];
    // The test is of the tool's first projection.
    const state = this.stateBefore(this.head.projections[0].name, entries.length);
    return [
      { name: `${typeName(name)}LogTests.swift`, text: this.head.test.source },
      { name: `${name}.ndjson`, text },
      { name: `${name}.expected.json`, text: jsonText(state) },
    ];
  }

  /** @returns {Promise<any>} */
  async ask() {
    throw new Error("A file cannot answer this. Run the command in a terminal.");
  }

  follow() {
    // A file does not change.
  }
}

/** Parses a block, and removes its text from the document.
    @param {string} id
    @returns {any} */
function takeBlock(id) {
  const node = byID(id);
  const text = node?.textContent ?? "";
  node?.remove();
  return text === "" ? [] : parseJSON(text);
}

/** Returns the name of a test's type, as `export --as test` makes it.
    @param {string} name */
export function typeName(name) {
  const joined = name
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
  return /^[A-Za-z]/.test(joined) ? joined : `Recorded${joined}`;
}

/** Returns a function that says whether a change at a path may change the value at the place.
    @param {string} wanted */
function relation(wanted) {
  const place = placeOfArray(wanted);
  return (/** @type {string} */ path) => {
    const part = path.startsWith("/view")
      ? path.slice(5)
      : path.startsWith("/confirmed")
        ? path.slice(10)
        : null;
    if (part === null) return path === "";
    // An element that is added to an array moves the elements after it.
    const parent = part.slice(0, Math.max(0, part.lastIndexOf("/")));
    return `${place}/`.startsWith(`${parent}/`) || `${part}/`.startsWith(`${place}/`);
  };
}

/** @param {any} old
    @param {any} next
    @param {string} place */
function changeAt(old, next, place) {
  const [a, b] = [valueAt(old, place), valueAt(next, place)];
  return isSameJSON(a, b) ? undefined : { old: a, new: b };
}
