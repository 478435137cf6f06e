// The data source of the inspector: a server at this page's own origin.

import { jsonText, parseJSON } from "./json.js";
import { framesHop, framesMax, readEntry } from "./source.js";
import { filterParameters } from "./filters.js";

const retryDelays = [500, 1_000, 2_000, 5_000];

/** @typedef {import("./source.js").Source} Source */

/** @implements {Source} */
export class FetchedSource {
  /** @param {any} head */
  constructor(head) {
    this.isLive = true;
    this.head = head;
    this.first = 0;
  }

  /** Asks for the head and for the first entry. */
  static async opened() {
    const source = new FetchedSource(await request("/api/head"));
    await source.findFirst();
    return source;
  }

  get last() {
    return Number(jsonText(this.head.status.sequence));
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
    const parameters = filterParameters(
      filter,
      new URLSearchParams({ offset: `${offset}`, count: `${count}` }),
    );
    const answer = await request(`/api/rows?${parameters}`);
    for (const row of answer.rows) readEntry(row.entry);
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
    const parameters = new URLSearchParams({ projection, from: `${from}`, count: `${framesMax}` });
    const answer = await request(`/api/frames?${parameters}`);
    for (const frame of answer.frames) readEntry(frame.entry);
    return { state: answer.state, frames: answer.frames, previous: null };
  }

  /** @param {string} projection
      @param {string} intent */
  async story(projection, intent) {
    const story = await request(`/api/story?${new URLSearchParams({ projection, intent })}`);
    for (const chapter of story.chapters) readEntry(chapter.entry);
    return { ...story, intent };
  }

  /** @param {string} projection
      @param {string} place */
  async causes(projection, place) {
    const { causes } = await request(`/api/why?${new URLSearchParams({ projection, place })}`);
    for (const cause of causes) readEntry(cause.entry);
    return causes;
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
      @param {(head: any) => void} changed
      @param {(reason: string | null) => void} lost called with null when the answers are back */
  async follow(changed, lost) {
    let failures = 0;
    for (;;) {
      try {
        const head = await request(`/api/changes?after=${this.last}`);
        if (failures > 0) lost(null);
        failures = 0;
        this.head = head;
        await this.findFirst();
        changed(head);
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
  if (!response.ok) throw new Error(answer?.error ?? `The inspector answered ${response.status}.`);
  return answer;
}
