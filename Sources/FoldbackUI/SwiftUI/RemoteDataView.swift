#if canImport(SwiftUI)
    import SwiftUI

    /// Draws remote data, with one view for each state.
    ///
    /// ```swift
    /// RemoteDataView(menu.data) { dishes in
    ///     if dishes.isEmpty { Text("The menu is empty") } else { DishList(dishes) }
    /// } loading: {
    ///     DishPlaceholders()
    /// } failure: { error in
    ///     Text(error.localizedDescription)
    /// }
    /// ```
    ///
    /// Data that nobody has asked for look like data that are loading.
    public struct RemoteDataView<Value, Failure: Error, Content: View, Loading: View, Failed: View>:
        View
    {
        private let data: RemoteData<Value, Failure>
        private let content: (Value) -> Content
        private let loading: () -> Loading
        private let failure: (Failure) -> Failed

        public init(
            _ data: RemoteData<Value, Failure>,
            @ViewBuilder content: @escaping (Value) -> Content,
            @ViewBuilder loading: @escaping () -> Loading,
            @ViewBuilder failure: @escaping (Failure) -> Failed
        ) {
            self.data = data
            self.content = content
            self.loading = loading
            self.failure = failure
        }

        public var body: some View {
            switch data {
            case .notAsked, .loading: loading()
            case .failure(let error): failure(error)
            case .success(let value): content(value)
            }
        }
    }
#endif
