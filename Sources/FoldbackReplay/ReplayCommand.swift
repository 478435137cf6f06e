#if ReplayTool
    import ArgumentParser
    import Foldback
    import Foundation

    /// The root of a tool's command line. Without a command, it summarizes a log.
    struct ReplayCommand<Tool: ReplayTool>: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: Tool.name,
                abstract: "Shows what happened in a Foldback log, and why.",
                usage: """
                    \(Tool.name) <log>
                    \(Tool.name) <command> ...
                    """,
                discussion: """
                    Start with `\(Tool.name) LOG`: it says what is in a log, what is open, and which \
                    command says more. \(Tool.commands.isEmpty ? "No command" : "Only the last group") \
                    changes a log that has entries.

                    Exit codes: 0 done, 1 the answer is no, 2 wrong usage, 3 the log or a file \
                    cannot be used, 125 inconclusive (first-break, minimize).

                    To complete commands with Tab in bash (also zsh, fish):
                      source <(\(Tool.name) --generate-completion-script bash)
                    """,
                version: """
                    \(Tool.name): Foldback before its first release, log format \(LogHeader.format)
                    """,
                // The commands of every tool. A command of one tool belongs in its `commands`.
                groupedSubcommands: [
                    CommandGroup(
                        name: "Look at a log",
                        subcommands: [
                            Summary<Tool>.self, Log<Tool>.self, Tail<Tool>.self,
                            Status<Tool>.self, Step<Tool>.self, Inspect<Tool>.self,
                            PlotCommand<Tool>.self,
                        ]),
                    CommandGroup(
                        name: "Ask why",
                        subcommands: [
                            Why<Tool>.self, At<Tool>.self, Diff<Tool>.self, WhatIf<Tool>.self,
                            FindBreak<Tool>.self, Minimize<Tool>.self, RerunCommand<Tool>.self,
                        ]),
                    CommandGroup(
                        name: "Check and copy",
                        subcommands: [
                            Verify<Tool>.self, Export<Tool>.self, ImportCommand<Tool>.self,
                            BackupCommand<Tool>.self,
                        ]),
                    CommandGroup(name: "Only in \(Tool.name)", subcommands: Tool.commands),
                ].filter { !$0.subcommands.isEmpty },
                defaultSubcommand: Summary<Tool>.self)
        }

        /// The help of the tool or of a command. The groups' titles are their names alone.
        static func help(_ text: String) -> String {
            text.replacing(" SUBCOMMANDS:\n", with: ":\n")
        }

        /// The names of all commands.
        static var names: [String] {
            ["help"]
                + configuration.subcommands.flatMap {
                    [$0._commandName] + $0.configuration.aliases
                }
        }

        /// Refuses a first word that is neither a command nor a log.
        ///
        /// Without this, a mistyped command would be taken for the path of a log.
        static func requireKnownCommand(in words: [String]) throws {
            guard let first = words.first, first.first != "-" else { return }
            let isHelp = first == "help"
            guard let word = isHelp ? words.dropFirst().first : first,
                !names.contains(word), word.first != "-",
                isHelp || !FileManager.default.fileExists(atPath: word)
            else { return }
            // A path may be that of a log, and the summary says that there is none.
            guard isHelp || !word.contains(where: { $0 == "/" || $0 == "." }) else { return }
            let near = names.filter { $0.isNear(word) }
            let hint = near.isEmpty ? "" : "; did you mean \(near.joined(separator: " or "))"
            let what = isHelp ? "is not a command" : "is neither a command nor a log"
            throw ValidationError("\(word) \(what)\(hint)")
        }
    }

    extension String {
        /// Whether one edit, or two in a long name, make the other text of the name: a letter that is
        /// missing, added, changed, or exchanged with the next one.
        fileprivate func isNear(_ other: String) -> Bool {
            let (old, new) = (Array(lowercased()), Array(other.lowercased()))
            guard abs(old.count - new.count) <= 2, !new.isEmpty else { return false }
            // rows[i][j] is the number of edits between the first i and the first j characters.
            var rows = [Array(0...new.count)]
            for i in old.indices {
                var row = [i + 1]
                for j in new.indices {
                    var edits = min(rows[i][j + 1], row[j]) + 1
                    edits = min(edits, rows[i][j] + (old[i] == new[j] ? 0 : 1))
                    if i > 0, j > 0, old[i] == new[j - 1], old[i - 1] == new[j] {
                        edits = min(edits, rows[i - 1][j - 1] + 1)
                    }
                    row.append(edits)
                }
                rows.append(row)
            }
            return rows[old.count][new.count] <= min(2, old.count / 3)
        }
    }
#endif
