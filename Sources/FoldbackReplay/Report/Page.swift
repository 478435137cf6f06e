#if ReplayTool
    import Foldback
    import Foundation

    /// The page that shows a log: one HTML document without anything to load.
    ///
    /// The sources are the plain files of the folder Page. Both ways to show a log use them: a
    /// report has its data inside (``report(_:_:)``), and the inspector's page fetches it
    /// (``inspector()``).
    enum Page {
        /// The modules of the script, each after those that it imports.
        private static let modules: [[UInt8]] = [
            PackageResources.json_js, PackageResources.dom_js, PackageResources.filters_js,
            PackageResources.source_js, PackageResources.run_js, PackageResources.words_js,
            PackageResources.recorders_js, PackageResources.effects_js, PackageResources.stories_js,
            PackageResources.decisions_js, PackageResources.source_embedded_js,
            PackageResources.source_fetched_js,
            PackageResources.history_js, PackageResources.model_js, PackageResources.commands_js,
            PackageResources.pieces_js, PackageResources.lanes_js, PackageResources.actor_lanes_js,
            PackageResources.server_lane_js, PackageResources.bars_js,
            PackageResources.timeline_js, PackageResources.actor_timeline_js,
            PackageResources.virtual_js, PackageResources.entries_js, PackageResources.tree_js,
            PackageResources.panel_state_js, PackageResources.panel_overlay_js,
            PackageResources.panel_stories_js, PackageResources.panel_find_js,
            PackageResources.panel_export_js, PackageResources.branch_js,
            PackageResources.panel_what_if_js, PackageResources.play_js, PackageResources.strip_js,
            PackageResources.head_js, PackageResources.main_js,
        ]

        /// One script of all modules. The lines that import are left out, and `export` at the start
        /// of a line, because all modules have one scope here.
        private static let script: String = modules.map { module in
            String(decoding: module, as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false
            ).filter { !$0.hasPrefix("import ") }
                .map { $0.hasPrefix("export ") ? $0.dropFirst("export ".count) : $0 }
                .joined(separator: "\n")
        }.joined(separator: "\n")

        private static let style = String(decoding: PackageResources.page_css, as: UTF8.self)

        /// Returns the inspector's page, and the policy to send with it.
        static func inspector() -> (html: [UInt8], contentSecurityPolicy: String) {
            let (start, end) = parts(policy: nil)
            let policy = policy + "; connect-src 'self'; frame-ancestors 'none'"
            return (Array((start + end).utf8), policy)
        }

        /// Writes a report.
        ///
        /// - Parameter writeBlocks: writes the blocks of data.
        static func report(
            _ write: @escaping ([UInt8]) throws -> Void, _ writeBlocks: (PageBlocks) throws -> Void
        ) throws {
            let (start, end) = parts(policy: policy)
            try write(Array(start.utf8))
            try writeBlocks(PageBlocks(write: write))
            try write(Array(end.utf8))
        }

        /// Returns the document before and after its data.
        private static func parts(policy: String?) -> (start: String, end: String) {
            let document = String(decoding: PackageResources.page_html, as: UTF8.self)
            let meta = policy.map {
                "<meta http-equiv=\"Content-Security-Policy\" content=\"\($0)\">\n"
            }
            let whole = document.replacing(
                "<!--style-->", with: "\(meta ?? "")<style>\(style)</style>"
            ).replacing("<!--script-->", with: "<script type=\"module\">\(script)</script>")
            let mark = "<!--data-->"
            guard let place = whole.firstRange(of: mark) else {
                preconditionFailure("page.html lacks \(mark)")
            }
            return (String(whole[..<place.lowerBound]), String(whole[place.upperBound...]))
        }

        /// Only the page's own script and style run, and nothing is loaded.
        private static let policy = [
            "default-src 'none'", "script-src '\(source(script))'", "style-src '\(source(style))'",
            "base-uri 'none'", "form-action 'none'",
        ].joined(separator: "; ")

        /// Returns the hash of an inline script or style as the policy names it (CSP Level 3).
        private static func source(_ text: String) -> String {
            "sha256-" + Data(SHA256.hash(of: Array(text.utf8))).base64EncodedString()
        }
    }

    /// Writes blocks of JSON into a document. A browser runs nothing in them.
    struct PageBlocks {
        let write: ([UInt8]) throws -> Void

        /// Writes a block that is an array.
        func array(_ id: String, _ body: (_ add: (JSON) throws -> Void) throws -> Void) throws {
            try block(id) {
                try write([UInt8(ascii: "[")])
                var isFirst = true
                try body { element in
                    if !isFirst { try write(Array(",\n".utf8)) }
                    isFirst = false
                    try write(Self.text(of: element))
                }
                try write([UInt8(ascii: "]")])
            }
        }

        func object(_ id: String, _ object: JSON.Object) throws {
            try block(id) { try write(Self.text(of: .object(object))) }
        }

        private func block(_ id: String, _ body: () throws -> Void) throws {
            try write(Array("<script type=\"application/json\" id=\"\(id)\">".utf8))
            try body()
            try write(Array("</script>\n".utf8))
        }

        /// Returns JSON text that cannot end the block. `<` is only inside of strings.
        private static func text(of json: JSON) -> [UInt8] {
            var text: [UInt8] = []
            for byte in json.printed {
                if byte == UInt8(ascii: "<") { text += "\\u003c".utf8 } else { text.append(byte) }
            }
            return text
        }
    }
#endif
