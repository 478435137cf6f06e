// The command line that shows the same content in a terminal.

import { filterOptions } from "./filters.js";
import { projectionNamed } from "./source.js";

/** An edit of a what-if, as the inspector takes it.
    @typedef {{drop?: number, swap?: [number, number], edit?: number, insert?: number, event?: any,
      reject?: number, acknowledge?: number}} Edit */

/** Returns an argument as a shell reads it.
    @param {string} argument */
export function shellQuoted(argument) {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(argument)) return argument;
  // A line break or another control character needs an escape.
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(argument)) {
    const escaped = argument
      .replaceAll("\\", "\\\\")
      .replaceAll("'", "\\'")
      .replace(
        /[\u0000-\u001f\u007f]/g,
        (found) => `\\x${found.charCodeAt(0).toString(16).padStart(2, "0")}`,
      );
    return `$'${escaped}'`;
  }
  return `'${argument.replaceAll("'", "'\\''")}'`;
}

/** @param {import("./model.js").App} app
    @param {string} command
    @param {...string} options */
export function commandLine({ source, model }, command, ...options) {
  const { tool, log, projections, usualProjection } = source.head;
  // The inspector shows all projections, as this page does.
  const shown =
    command === "inspect" ? projections[0] : projectionNamed(source.head, model.projection);
  const needsProjection =
    !["log", "rerun", "import", "verify", "plot"].includes(command) &&
    shown !== undefined &&
    shown.name !== usualProjection;
  const path = log.startsWith("-") ? `./${log}` : log;
  const projection = needsProjection ? ["--projection", shown.name] : [];
  return [tool, command, path, ...options, ...projection].map(shellQuoted).join(" ");
}

/** Returns the words before a command. The commands read the log itself, so a redacted page says that
    they show its values.
    @param {import("./model.js").App} app */
export function commandLabel({ source }) {
  return source.head.isRedacted ? "In a terminal, without the redaction: " : "In a terminal: ";
}

/** @param {import("./model.js").App} app */
export function filterCommand(app) {
  return commandLine(app, "log", ...filterOptions(app.model.filter));
}

/** @param {import("./model.js").App} app
    @param {Edit[]} edits */
export function whatIfCommand(app, edits) {
  const options = edits.flatMap((edit) => {
    if (edit.drop !== undefined) return ["--drop", `${edit.drop}`];
    if (edit.swap) return ["--swap", `${edit.swap[0]}`, `${edit.swap[1]}`];
    if (edit.edit !== undefined) return ["--edit", `${edit.edit}=${edit.event}`];
    if (edit.insert !== undefined) return ["--insert", `${edit.insert}=${edit.event}`];
    if (edit.reject !== undefined) return ["--reject", `${edit.reject}`];
    return ["--acknowledge", `${edit.acknowledge}`];
  });
  return commandLine(app, "what-if", ...options);
}

/** Returns the command for the present tab.
    @param {import("./model.js").App} app
    @param {string | null} [ofPanel] the command that the tab's own form makes */
export function tabCommand(app, ofPanel = null) {
  const { model } = app;
  const entry = String(model.selected);
  if (ofPanel) return ofPanel;
  switch (model.tab) {
    case "state":
      return model.part === "view"
        ? commandLine(app, "at", entry)
        : commandLine(app, "at", entry, "--json");
    case "overlay":
      return commandLine(app, "at", entry, "--json");
    case "intent":
      return model.intent === ""
        ? commandLine(app, "log")
        : commandLine(app, "why", "--intent", model.intent);
    case "place":
      return model.place === null
        ? commandLine(app, "at", entry)
        : commandLine(app, "why", "--place", model.place);
    case "compare":
      return commandLine(
        app,
        "diff",
        String(model.pin ?? 0),
        entry,
        ...(model.part === "confirmed" ? ["--confirmed"] : []),
      );
    case "plots":
      return commandLine(app, "plot", "--of", "pending");
    default:
      return commandLine(app, "step", "--from", entry);
  }
}

/** Copies a text.
    @param {string} text
    @returns {Promise<boolean>} */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    return isCopied;
  }
}
