// The encoding is exact (U7): {"state":"notAsked"}, {"state":"loading"},
// {"state":"failure","failure":…}, {"state":"success","value":…}.

private enum RemoteDataState: String, Codable {
    case notAsked, loading, failure, success
}

private enum RemoteDataKey: String, CodingKey {
    case state, failure, value
}

extension RemoteData: Encodable where Value: Encodable, Failure: Encodable {
    /// Encodes the state, also loading. Encode ``restored`` if the data are written to a disk.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: RemoteDataKey.self)
        switch self {
        case .notAsked: try container.encode(RemoteDataState.notAsked, forKey: .state)
        case .loading: try container.encode(RemoteDataState.loading, forKey: .state)
        case .failure(let failure):
            try container.encode(RemoteDataState.failure, forKey: .state)
            try container.encode(failure, forKey: .failure)
        case .success(let value):
            try container.encode(RemoteDataState.success, forKey: .state)
            try container.encode(value, forKey: .value)
        }
    }
}

extension RemoteData: Decodable where Value: Decodable, Failure: Decodable {
    /// Decodes the state, also loading. Use ``restored`` if the data were read from a disk.
    ///
    /// - Throws: a `DecodingError` for an unknown state, and for a failure or success without its
    ///   content.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: RemoteDataKey.self)
        switch try container.decode(RemoteDataState.self, forKey: .state) {
        case .notAsked: self = .notAsked
        case .loading: self = .loading
        case .failure: self = .failure(try container.decode(Failure.self, forKey: .failure))
        case .success: self = .success(try container.decode(Value.self, forKey: .value))
        }
    }
}
