import BrowserDriver
import Foldback
import Foundation
import Testing

extension ReportBrowserTests {
    /// Property: nothing in a log runs, and nothing makes the page ask for an address, wherever the
    /// text is: in keys, values, messages, codes, names of replicas, or info.
    @Suite struct HostileTests {
        private static let payloads = [
            "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>",
            "<img src=http://127.0.0.1:9/picture>", "javascript:alert(1)",
            "<a href=\"javascript:alert(1)\">press</a>", "<!--<script>", "]]>",
            "<svg onload=alert(1)>",
            "<iframe srcdoc=\"<script>alert(1)</script>\">",
            "<style>@import 'http://127.0.0.1:9/'</style>",
            "<meta http-equiv=refresh content=\"0;url=http://127.0.0.1:9/\">",
            "<link rel=prefetch href=http://127.0.0.1:9/>",
            "{{constructor.constructor('alert(1)')()}}",
            "\u{202E}txt.exe\u{202C}", "\u{2067}right to left\u{2069}",
            "\u{0}\u{1}\u{7}\u{8}\u{1B}[31m",
            "\u{2028}\u{2029}\u{FEFF}\u{200B}", "__proto__", "constructor", "hasOwnProperty", "",
            "'; alert(1); '", "${alert(1)}", "`", "%00%0a", "url(http://127.0.0.1:9/)",
            "onclick=alert(1)", "\" onfocus=alert(1) autofocus=\"",
        ]

        /// Makes a history with each payload at each place where a log can have a text.
        private static func entries() -> [String] {
            var entries: [String] = []
            var intent = 0
            func add(_ members: String) {
                entries.append(
                    #"{"at":1795000000000,"sequence":\#(entries.count + 1),\#(members)}"#)
            }
            func record(_ event: String, _ more: String = "") {
                intent += 1
                add(
                    #""kind":"intent","intent":\#(intent),"replica":"me","event":\#(event)\#(more)"#
                )
            }
            for payload in payloads {
                let text = payload.quoted
                record(#"{"op":"set","key":\#(text),"value":{\#(text):[\#(text)],"n":1}}"#)
                let name = payload.isEmpty ? "empty".quoted : text
                record(
                    #"{"op":"increment","key":"none","field":\#(text),"by":1}"#,
                    #","info":{\#(text):\#(text)},"once":\#(name)"#)
                add(
                    #""kind":"rejected","intent":\#(intent),"code":\#(text),"message":\#(text)"#)
                record(#"{"op":"merge","key":\#(text),"value":{\#(text):null,"x":\#(text)}}"#)
            }
            let long = String(repeating: "<b>\u{202E}</script>", count: 80_000).quoted
            record(#"{"op":"set","key":"long","value":\#(long)}"#)
            return entries
        }

        private static func makeLog(in folder: Folder) async throws -> String {
            let file = folder.path("hostile.ndjson")
            try Recipes.write(entries(), to: file)
            // The shell names a log: this name is also shown.
            let log = folder.path("<img src=x onerror=alert(1)>.log")
            try await runTool("foldback", "import", file, log)
            return log
        }

        @Test(arguments: [Shown.Way.file, .inspector])
        func `no text of a log runs, and no text makes a request`(way: Shown.Way) async throws {
            let folder = try Folder()
            let log = try await Self.makeLog(in: folder)
            let browser = try await ReportBrowserTests.browser.value
            _ = try await browser.requests()
            var origin = "file://"
            try await ReportBrowserTests.withPage(log, way, in: folder, fragment: "entry=1") {
                page in
                if way == .inspector { origin = String(page.address.prefix { $0 != "?" }) }
                let last = try await page.number("foldback.source.last")
                let step = way == .file ? 1 : 4
                for sequence in stride(from: 1, through: Int64(last), by: step) {
                    try await page.select(sequence)
                }
                // Each tab shows the entries with a rejection and with the long text.
                for sequence in [3, 7, Int64(last)] {
                    try await page.select(sequence)
                    try await page.browser.run(
                        "location.hash = location.hash.replace(/&?pin=\\d+/, '') + '&pin=1'")
                    for tab in [
                        "entry", "state", "overlay", "intent", "place", "compare", "what-if",
                        "find", "export", "plots",
                    ] {
                        try await page.openTab(tab)
                    }
                }
                try await page.openTab("state")
                try await page.browser.run(
                    "for (const node of document.querySelectorAll('#panel-state [role=treeitem]')) node.expand?.()"
                )
                try await page.picture("hostile \(way)")
                #expect(
                    try await page.strings("Object.keys(Object.prototype)") == [])
                #expect(try await page.bool("({}).x === undefined"))
                // Elements that the page does not have itself would come from a payload.
                #expect(
                    try await page.number(
                        "document.querySelectorAll('img, iframe, object, embed, link, a[href^=javascript], body script:not([type]), main style').length"
                    ) == 0)
                let state = try await page.string("foldback.state()")
                #expect(state.utf8.count > 1_000_000)
            }
            let requests = try await browser.requests()
            let foreign = requests.filter { request in
                !request.hasPrefix(origin) && !request.hasPrefix("about:")
                    && !request.hasPrefix("blob:")
            }
            #expect(!requests.isEmpty && foreign == [])
            if way == .file {
                #expect(requests.count { $0.hasPrefix("file:") } == 1, "\(requests)")
            }
        }

        /// Half of a surrogate pair is not JSON for Foldback. So such a text can only be in events
        /// that are bytes.
        @Test func `bytes that are not JSON are shown as bytes`() async throws {
            let folder = try Folder()
            let file = folder.path("bytes.ndjson")
            let bytes = Array(#""\ud800""#.utf8) + [0xED, 0xA0, 0x80, 0xFF, 0x3C]
            let head =
                #"{"codec":0,"foldback":1,"kind":"acknowledgement","replica":"me","version":1}"#
            let entry =
                #"{"at":1,"event":{"bytes":\#(bytes)},"intent":1,"kind":"intent","replica":"me","sequence":1}"#
            try Data("\(head)\n\(entry)\n".utf8).write(to: URL(filePath: file))
            let log = folder.path("bytes.log")
            let end = try await runTool("foldback", "import", file, log, statuses: [0, 1, 2])
            try #require(end.status == 0, "\(end.errors)")
        }
    }
}
