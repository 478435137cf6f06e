// Goes from state to state along frames.

import { patched } from "./json.js";

/** A run over frames. Within a run, parts of a state are copied only when they are first touched.
    A state that the caller keeps stays as it is. */
export class FrameRun {
  /** @param {import("./source.js").State} state */
  constructor(state) {
    this.state = state;
    /** @type {WeakSet<object>} */
    this.owned = new WeakSet();
  }

  /** Returns the present state. Later steps do not change it. */
  kept() {
    this.owned = new WeakSet();
    return this.state;
  }

  /** Goes to the state directly before a frame. In a page without some entries, that is not the
      state after the frame before. A checkpoint may be on either side.
      @param {import("./source.js").Frame} frame
      @param {number | null} previous the sequence of the
      frame before */
  skip(frame, previous) {
    if (frame.skipped === undefined || this.state.sequence !== previous) return;
    this.apply(frame.skipped, frame.entry.sequence - 1);
  }

  /** Goes to the state after a frame.
      @param {import("./source.js").Frame} frame
      @param {number | null} previous */
  step(frame, previous) {
    this.skip(frame, previous);
    this.apply(frame.patch, frame.entry.sequence);
  }

  /** @param {import("./json.js").PatchOperation[]} patch
      @param {number} sequence */
  apply(patch, sequence) {
    let state = patched(this.state, patch, this.owned);
    if (!this.owned.has(state)) {
      state = { ...state };
      this.owned.add(state);
    }
    state.sequence = sequence;
    this.state = state;
  }
}
