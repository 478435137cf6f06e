import Foldback

/// A projection whose events are about items of a view, such as posts of a feed.
///
/// ```swift
/// extension Feed: Itemized {
///     static func items(
///         of event: Event, _ context: EventContext
///     ) -> [ItemReference<String>] {
///         switch event {
///         case .liked(let post): [ItemReference(post, facet: "likes")]
///         case .posted: [ItemReference(context.id())]
///         }
///     }
/// }
/// ```
///
/// With it, `status(of:)` of a model says which intents about an item are pending, conflicted or
/// rejected.
public protocol Itemized: EventFold {
    /// The id of an item.
    associatedtype ItemID: Hashable & Sendable

    /// Returns the items that an event is about, with the items that it creates.
    ///
    /// The default for a projection with ``/Foldback/Projection/keys(touchedBy:_:)`` is one item
    /// for each key.
    static func items(
        of event: Event, _ context: EventContext
    ) -> [ItemReference<ItemID>]
}

extension Itemized where Self: Projection, ItemID == Key {
    public static func items(
        of event: Event, _ context: EventContext
    ) -> [ItemReference<ItemID>] {
        keys(touchedBy: event, context).map { ItemReference($0) }
    }
}

/// An item that an event is about, or a part of the item.
public struct ItemReference<ItemID: Hashable & Sendable>: Hashable, Sendable {
    public let id: ItemID
    /// The part of the item; nil for the whole item.
    public let facet: Facet?

    public init(_ id: ItemID, facet: Facet? = nil) {
        self.id = id
        self.facet = facet
    }
}
