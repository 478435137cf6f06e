import BrowserDriver
import Foldback
import Foundation
import Testing

extension ReportBrowserTests {
    /// Links, and pages of logs that are not whole.
    @Suite struct LinkTests {
        @Test(arguments: Shown.feed)
        func `a link carries selection, filters, pin and tab to another window`(
            shown: Shown
        ) async throws {
            var fragment = ""
            try await ReportBrowserTests.withPage(shown) { page in
                try await page.select(3)
                try await page.click("#pin")
                try await page.select(16)
                try await page.click("#filters-toggle")
                try await page.click("#filters [value=rejected]")
                try await page.until(
                    "document.querySelector('#entries-count').textContent.startsWith('1 of')")
                try await page.openTab("compare")
                try await page.until("location.hash.includes('tab=compare')")
                fragment = try await page.string("location.hash.slice(1)")
            }
            try await ReportBrowserTests.withPage(shown, fragment: fragment) { page in
                #expect(try await page.selected == 16)
                #expect(
                    try await page.text("#entries-count") == "1 of 36 entries match")
                #expect(
                    try await page.bool(
                        "document.querySelector('#filters [value=rejected]').checked"))
                try await page.until("!document.querySelector('#panel-compare').hidden")
                try await page.until(
                    "document.querySelector('#panel-compare').innerText.includes('entry 3 (pinned)')"
                )
            }
        }

        @Test(arguments: [
            "entry=99999999999999", "entry=-1&pin=x&tab=none&kind=none", "%%%&&&=",
            "entry=3&projection=none&place=%2F%3Cimg%20src%3Dx%3E&tab=place&story=99",
            "since=never&intent=x&entry=5",
        ])
        func `a link with nonsense opens a page`(fragment: String) async throws {
            try await ReportBrowserTests.withPage(Shown.feed[0], fragment: fragment) { page in
                let selected = try await page.selected
                #expect(selected >= 0)
            }
        }
    }

    /// Pages of damaged, empty, filtered and redacted logs.
    @Suite struct PartTests {
        private static func makeLog(in folder: Folder) throws -> String {
            try Recipes.log(
                "part.log",
                (1...30).map {
                    #"{"do":"record","event":{"op":"set","key":"secret-key-\#($0)","value":"secret \#($0) \#(String(repeating: "x", count: 900))"}}"#
                }, in: folder)
        }

        @Test(arguments: [Shown.Way.file, .inspector])
        func `a damaged log shows the entries before the damage, and a banner`(
            way: Shown.Way
        ) async throws {
            let folder = try Folder()
            let log = try Self.makeLog(in: folder)
            let file = URL(filePath: log).appending(path: "data.mdb")
            var data = try Data(contentsOf: file)
            let text = Data("secret 20 ".utf8)
            while let place = data.firstRange(of: text) { data[place.lowerBound] ^= 1 }
            try data.write(to: file)
            func check(_ page: LogPage) async throws {
                let banner = try await page.text("#banners [role=alert]")
                #expect(banner.contains("The log is damaged."))
                let last = try await page.number("foldback.source.last")
                #expect((1..<20).contains(last), "\(last)")
                try await page.select(Int64(last))
                let view = try #require(try await page.state["view"]?.objectValue)
                #expect(view.members.count == Int(last))
                try await page.picture("damaged \(way)")
            }
            switch way {
            case .file:
                let address = try await Report.make(of: log, in: folder, statuses: [3])
                try await ReportBrowserTests.withPage(address, check)
            case .inspector:
                let inspector = try await Inspector.start(log)
                defer { inspector.end() }
                try await ReportBrowserTests.withPage(
                    inspector.address, isReady: false, ignoring: ["/api/"]
                ) { page in
                    try await page.until("document.querySelector('#banners [role=alert]')")
                    try await page.picture("damaged inspector")
                    #expect(
                        try await page.text("#banners").contains("The log is damaged."))
                }
            }
        }

        @Test func `an empty log makes a page`() async throws {
            let folder = try Folder()
            let log = try Recipes.log("empty.log", [], in: folder)
            try await ReportBrowserTests.withPage(log, .file, in: folder) { page in
                let explanation = try await page.text("#explanation")
                #expect(explanation == "This log has no entries yet.")
                for tab in ["state", "overlay", "intent", "compare", "export", "plots"] {
                    try await page.openTab(tab)
                }
                #expect(try await page.state["view"] == [:])
            }
        }

        @Test func `a page of some entries says so, and has their exact states`() async throws {
            let folder = try Folder()
            let log = try Self.makeLog(in: folder)
            let address = try await Report.make(
                of: log, "--from", "5", "--to", "20", in: folder)
            try await ReportBrowserTests.withPage(address) { page in
                let banner = try await page.text("#banners")
                #expect(banner.contains("only some of the entries"))
                #expect(banner.contains("--from 5 --to 20"))
                try await check([5, 12, 20], page, log)
                #expect(try await page.text("#entries-count") == "16 entries on this page")
            }
            let keys = try await Report.make(of: log, "--key", "secret-key-17", in: folder)
            try await ReportBrowserTests.withPage(keys) { page in
                try await check([17], page, log)
                #expect(try await page.text("#entries-count") == "1 entry on this page")
            }
        }

        private func check(_ sequences: [Int64], _ page: LogPage, _ log: String) async throws {
            for sequence in sequences {
                try await page.select(sequence)
                let state = try await runTool("foldback", "at", log, "\(sequence)", "--json")
                let shown = try await page.state
                #expect(shown == (try state.lines.first))
            }
        }

        @Test func `a redacted page does not have the redacted text anywhere`() async throws {
            let folder = try Folder()
            let log = try Self.makeLog(in: folder)
            let address = try await Report.make(of: log, "--keep", "/op", in: folder)
            let file = try #require(URL(string: address))
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(!text.contains("secret"))
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            try await ReportBrowserTests.withPage(address) { page in
                #expect(try await page.text("#banners").contains("redacted"))
                #expect(try await page.number("foldback.source.last") == 30)
                let state = try await page.string("foldback.state()")
                #expect(!state.contains("secret"))
            }
        }

        @Test func `more than 50,000 entries do not make a page`() async throws {
            let folder = try Folder()
            let file = folder.path("many.ndjson")
            let entries = (1...50_001).map {
                #"{"at":\#($0),"event":{"key":"k","op":"set","value":1},"intent":\#($0),"kind":"intent","replica":"me","sequence":\#($0)}"#
            }
            try Recipes.write(entries, to: file)
            let page = folder.path("page.html")
            let end = try await runTool(
                "foldback", "export", file, "--as", "page", "-o", page, statuses: [1, 2])
            #expect(end.errors.contains("50,000") || end.errors.contains("50000"), "\(end.errors)")
            #expect(end.errors.contains("inspect"))
            #expect(!FileManager.default.fileExists(atPath: page))
        }
    }
}
