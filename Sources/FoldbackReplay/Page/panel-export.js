// The tabs that save: export, and plots.

import { button, el, svgNames } from "./dom.js";
import { filterOptions, isFilterEmpty } from "./filters.js";
import { fileList } from "./pieces.js";
import { commandLine } from "./commands.js";
import { showLater } from "./panel-stories.js";

// ---- Export -------------------------------------------------------------------------------------

const exportForm = { form: "ndjson" };

/** @type {import("./panel-state.js").Panel} */
export const exportPanel = {
  id: "export",
  title: "Export",
  paint(app, node) {
    const { model, moment } = app;
    const isAll = isFilterEmpty(model.filter);
    const result = el("div", { class: "result" });
    const choice = (
      /** @type {string} */ form,
      /** @type {string} */ title,
      /** @type {string} */ words,
    ) =>
      el(
        "li",
        {},
        button(
          title,
          () => {
            exportForm.form = form;
            document.dispatchEvent(new Event("command"));
            showLater(
              result,
              app.source
                .exported(form, model.projection, model.filter, moment.sequence)
                .then((files) => [fileList(files)]),
            );
          },
          { "data-export": form },
        ),
        el("span", { class: "soft" }, words),
      );
    node.replaceChildren(
      el(
        "ul",
        { class: "choices" },
        choice(
          "ndjson",
          "NDJSON of the selection",
          isAll
            ? "All entries, one JSON line each. Filter the list to select fewer."
            : "The entries that match the filters, one JSON line each.",
        ),
        choice(
          "bundle",
          "Bundle",
          "All entries in one file for a bug report, which import also takes.",
        ),
        choice(
          "test",
          "Swift test",
          `A Swift Testing case: the history up to entry ${moment.sequence}, and the state after it.`,
        ),
      ),
      result,
    );
  },
  command: (app) => {
    const { filter } = app.model;
    if (exportForm.form === "ndjson")
      return isFilterEmpty(filter)
        ? commandLine(app, "export", "--as", "ndjson")
        : commandLine(app, "log", ...filterOptions(filter), "--json");
    const output = exportForm.form === "test" ? "." : "bundle.ndjson";
    return commandLine(app, "export", "--as", exportForm.form, "-o", output);
  },
};

// ---- Plots --------------------------------------------------------------------------------------

const plotWords = {
  pending: "Pending intents over time",
  settling: "How long intents took to settle",
  bytes: "Bytes in the log",
};

/** @type {import("./panel-state.js").Panel} */
export const plotsPanel = {
  id: "plots",
  title: "Plots",
  paint(app, node) {
    /** @type {any} */
    const kept = node;
    if (kept.plotsOf === app.source.last) return undefined;
    kept.plotsOf = app.source.last;
    return showLater(node, plots(app));
  },
  grew(app, node) {
    this.paint(app, node);
  },
};

/** @param {import("./model.js").App} app */
async function plots(app) {
  const found = [];
  for (const [of, words] of Object.entries(plotWords)) {
    const text = await app.source.plot(of);
    const picture = text ? svgNode(text) : null;
    if (picture) {
      picture.setAttribute("role", "img");
      picture.setAttribute("aria-label", words);
      found.push(el("figure", {}, picture));
    }
  }
  return found.length > 0 ? found : [el("p", { class: "soft" }, "There is nothing to plot yet.")];
}

/** Returns the picture, if it has only shapes and text.
    @param {string} text */
function svgNode(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (parsed.localName !== "svg") return null;
  const isPlain = [parsed, ...parsed.querySelectorAll("*")].every(
    (node) =>
      svgNames.has(node.localName) &&
      [...node.attributes].every(
        ({ name, value }) => !/^on|href|^style$/i.test(name) && !/url\(/i.test(value),
      ),
  );
  return isPlain ? document.importNode(parsed, true) : null;
}
