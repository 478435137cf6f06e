// The data source of the inspector: a server at this page's own origin.

import { isObject, jsonText, numberOf, parseJSON } from "./json.js";
import { framesHop, framesMax, readEntry } from "./source.js";
import { filterParameters } from "./filters.js";
import { Recorders } from "./recorders.js";
import { Decisions } from "./decisions.js";

const retryDelays = [500, 1_000, 2_000, 5_000];
const askedMax = 100;
const noMarks = { rejected: [], conflicted: [], faulted: [], through: 0, isOver: false };

/** @typedef {import("./source.js").Source} Source */

/** @implements {Source} */
export class FetchedSource {
  /** @param {any} head */
  constructor(head) {
    this.isLive = true;
    this.isPartial = false;
    this.head = head;
    this.first = 0;
    this.recorders = new Recorders(() => this.head.status);
    this.knowsIntents = true;
    /** @type {Decisions | null} */
    this.decisions = head.space ? new Decisions(this.recorders) : null;
    /** The marks that were found, for each projection.
        @type {Map<string, import("./source.js").Marks>} */
    this.known = new Map();
  }

  /** Asks for the head and for the first entry. */
  static async opened() {
    const source = new FetchedSource(await request("/api/head"));
    await source.findFirst();
    await source.findRecorders([1, Number(source.head.status.nextIntent ?? 1) - 1]);
    await source.findDecisions();
    return source;
  }

  /** The last sequence that can be shown. A damaged log has entries after it. */
  get last() {
    return numberOf(this.head.last ?? this.head.status.sequence);
  }

  get count() {
    return numberOf(this.head.status.entries);
  }

  async findFirst() {
    if (this.first > 0 || this.last === 0) return;
    const { rows } = await this.rows({}, 0, 1);
    this.first = rows[0]?.entry.sequence ?? 0;
  }

  /** @param {import("./filters.js").Filter} filter
      @param {number} offset
      @param {number} count */
  async rows(filter, offset, count) {
    const ask = (/** @type {number} */ offset, /** @type {number} */ count) =>
      request(
        `/api/rows?${filterParameters(
          filter,
          new URLSearchParams({ offset: `${offset}`, count: `${count}` }),
        )}`,
      );
    const answer = await ask(offset, count);
    // An answer with large entries has fewer of them.
    for (;;) {
      const found = answer.rows.length;
      const missing = Math.min(count, answer.count - offset) - found;
      if (found === 0 || missing <= 0) break;
      const next = await ask(offset + found, missing);
      if (next.rows.length === 0) break;
      answer.rows.push(...next.rows);
    }
    await this.read(answer.rows);
    return answer;
  }

  /** @param {import("./filters.js").Filter} filter
      @param {number} sequence */
  async place(filter, sequence) {
    const parameters = filterParameters(filter, new URLSearchParams({ sequence: `${sequence}` }));
    return (await request(`/api/place?${parameters}`)).offset;
  }

  /** @param {string} projection
      @param {number} sequence */
  async frames(projection, sequence) {
    const hop = Math.floor(Math.max(0, sequence - 1) / framesHop) * framesHop;
    const from = Math.max(this.first, hop - framesHop + 1, 1);
    const ask = async (/** @type {number} */ from) => {
      const parameters = new URLSearchParams({
        projection,
        from: `${from}`,
        count: `${framesMax}`,
      });
      const answer = await request(`/api/frames?${parameters}`);
      await this.read(answer.frames);
      return answer;
    };
    let answer = await ask(from);
    // An answer with large frames has fewer of them, and may end before the wanted one.
    while (answer.frames.length > 0 && answer.frames.at(-1).entry.sequence < sequence) {
      const next = await ask(answer.frames.at(-1).entry.sequence + 1);
      if (next.frames.length === 0) break;
      answer = next;
    }
    return { state: answer.state, frames: answer.frames, previous: null };
  }

  /** @param {string} projection
      @param {string} intent */
  async story(projection, intent) {
    const story = await request(`/api/story?${new URLSearchParams({ projection, intent })}`);
    await this.read(story.chapters);
    return { ...story, intent };
  }

  /** Asks for the decisions whose places are not known for good. */
  async findDecisions() {
    const { decisions } = this;
    if (!decisions) return;
    let kept = decisions.settled;
    for (let isWhole = false; !isWhole; kept = decisions.list.length) {
      const after = decisions.list[kept - 1]?.position ?? 0;
      const answer = await request(`/api/decisions?after=${after}`);
      decisions.take(kept, answer.decisions);
      isWhole = answer.isWhole;
    }
  }

  // What if answers this, and many more questions.
  async without() {
    return null;
  }

  /** @param {string} projection
      @param {string} place */
  async causes(projection, place) {
    const { causes } = await request(`/api/why?${new URLSearchParams({ projection, place })}`);
    await this.read(causes);
    return causes;
  }

  /** Asks only for the marks after those that are known.
      @param {string} projection
      @returns {Promise<import("./source.js").Marks>} */
  async marks(projection) {
    const known = this.known.get(projection) ?? noMarks;
    const parameters = new URLSearchParams({ projection, after: `${known.through}` });
    const found = await request(`/api/marks?${parameters}`);
    const marks = {
      rejected: [...known.rejected, ...found.rejected.map(numberOf)],
      conflicted: [...known.conflicted, ...found.conflicted.map(numberOf)],
      faulted: [...known.faulted, ...found.faulted.map(numberOf)],
      through: Math.max(known.through, numberOf(found.through)),
      isOver: found.isOver,
    };
    this.known.set(projection, marks);
    return marks;
  }

  /** Reads the entries of an answer, and finds out which replicas recorded the intents that they
      name.
      @param {{entry: any}[]} items */
  async read(items) {
    for (const { entry } of items) this.recorders.note(readEntry(entry));
    const numbers = items
      .flatMap(({ entry }) => entry.events ?? [])
      .filter((/** @type {any} */ { origin }) => this.recorders.isOwn(origin))
      .map((/** @type {any} */ { origin }) => numberOf(origin.intent));
    await this.findRecorders(numbers);
  }

  /** Asks for the replicas that recorded intents, unless they are known. In a log with one replica,
      they always are.
      @param {number[]} numbers */
  async findRecorders(numbers) {
    const unsure = [...new Set(numbers)].filter(
      (number) => number > 0 && !this.recorders.isSure(number),
    );
    if (unsure.length === 0) return;
    // What is between two intents of a replica is known then.
    const ends = [Math.min(...unsure), Math.max(...unsure)];
    await this.intents([...new Set(ends)]);
    const rest = unsure.filter((number) => !this.recorders.isSure(number));
    if (rest.length > 0) await this.intents(rest);
  }

  endOf() {
    return undefined;
  }

  /** @param {any[]} numbers */
  async intents(numbers) {
    /** @type {Map<string, any>} */
    const found = new Map();
    if (!this.knowsIntents || numbers.length === 0) return found;
    const list = numbers.slice(0, askedMax).map(jsonText).join(",");
    try {
      const { intents } = await request(`/api/intents?${new URLSearchParams({ numbers: list })}`);
      for (const [key, entry] of Object.entries(isObject(intents) ? intents : {})) {
        found.set(key, readEntry(entry));
        this.recorders.note(entry);
      }
    } catch (error) {
      // An inspector without this route does not have it later.
      if (error instanceof RequestError && error.status === 404) this.knowsIntents = false;
    }
    return found;
  }

  async verification() {
    return request("/api/verify");
  }

  /** @param {string} of */
  async plot(of) {
    return (await request(`/api/plot?${new URLSearchParams({ of })}`)).svg;
  }

  /** @param {string} form
      @param {string} projection
      @param {import("./filters.js").Filter} filter
      @param {number} to */
  async exported(form, projection, filter, to) {
    const parameters = new URLSearchParams({ as: form, projection });
    if (form === "test") parameters.set("to", `${to}`);
    if (form === "ndjson") filterParameters(filter, parameters);
    return (await request(`/api/export?${parameters}`)).files;
  }

  /** @param {string} path
      @param {any} [body] */
  async ask(path, body) {
    return request(path, body);
  }

  /** Waits for changes of the log, again and again.
      @param {(head: any) => Promise<void>} changed
      @param {(reason: string | null) => void} lost called with null when the answers are back */
  async follow(changed, lost) {
    let failures = 0;
    let lacksCounts = this.head.counts === undefined;
    for (;;) {
      try {
        const after = jsonText(this.head.status.sequence);
        const counts = lacksCounts ? "&counts=unknown" : "";
        const space = this.head.space ? `&decided=${jsonText(this.head.space.last)}` : "";
        const { writer } = this.head;
        const process = writer?.isThere ? (writer.process ?? "unknown") : "none";
        const head = await request(
          `/api/changes?after=${after}&writer=${process}${counts}${space}`,
        );
        lacksCounts = head.counts === undefined;
        // The last counts stay until the inspector has folded the new entries.
        head.counts ??= this.head.counts;
        if (failures > 0) lost(null);
        failures = 0;
        this.head = head;
        await this.findFirst();
        await this.findDecisions();
        await changed(head);
      } catch (error) {
        failures += 1;
        lost(error instanceof Error ? error.message : String(error));
        const delay = retryDelays[Math.min(failures, retryDelays.length) - 1];
        await new Promise((resolve) => setTimeout(resolve, delay));
      }
    }
  }
}

/** @param {string} path
    @param {any} [body] sent with POST if there is one
    @returns {Promise<any>} */
async function request(path, body) {
  const options =
    body === undefined
      ? {}
      : { method: "POST", body: jsonText(body), headers: { "Content-Type": "application/json" } };
  let response;
  try {
    response = await fetch(path, { cache: "no-store", ...options });
  } catch {
    throw new Error("The inspector does not answer. It may have ended.");
  }
  const text = await response.text();
  /** @type {any} */
  let answer = null;
  try {
    answer = parseJSON(text);
  } catch {
    throw new Error(`The inspector answered ${response.status} without JSON.`);
  }
  if (!response.ok) throw new RequestError(response.status, answer?.error);
  return answer;
}

class RequestError extends Error {
  /** @param {number} status
      @param {string} [words] */
  constructor(status, words = `The inspector answered ${status}.`) {
    super(words);
    this.status = status;
  }
}
