#if canImport(SwiftUI)
    import SwiftUI

    /// The sections and rows of a list, one view for each row.
    ///
    /// ```swift
    /// List {
    ///     SnapshotRows(snapshot) { post, row in
    ///         PostRow(post).itemStatus(row.status).opacity(row.isGhost ? 0.5 : 1)
    ///     } placeholder: {
    ///         PostRow(.example)
    ///     } header: { section in
    ///         Text(section.title)
    ///     }
    /// }
    /// ```
    ///
    /// A row without content is drawn by `placeholder`, redacted, and assistive technology does not
    /// see it (U20).
    public struct SnapshotRows<
        SectionID: Hashable & Sendable, Item: Identifiable & Equatable & Sendable,
        Content: View, Placeholder: View, Header: View
    >: View where Item.ID: Sendable {
        public typealias Snapshot = ListSnapshot<SectionID, Item>

        private let snapshot: Snapshot
        private let content: (Item, Snapshot.Row) -> Content
        private let placeholder: () -> Placeholder
        private let header: (SectionID) -> Header

        public init(
            _ snapshot: Snapshot,
            @ViewBuilder content: @escaping (Item, Snapshot.Row) -> Content,
            @ViewBuilder placeholder: @escaping () -> Placeholder,
            @ViewBuilder header: @escaping (SectionID) -> Header
        ) {
            self.snapshot = snapshot
            self.content = content
            self.placeholder = placeholder
            self.header = header
        }

        public var body: some View {
            ForEach(snapshot.sections) { section in
                Section {
                    ForEach(section.rows) { row in
                        if let item = row.content {
                            content(item, row)
                        } else {
                            placeholder()
                                .redacted(reason: .placeholder)
                                .accessibilityHidden(true)
                        }
                    }
                } header: {
                    header(section.id)
                }
            }
        }
    }
#endif
