import FoldbackServer
import Foundation
import JWTKit
import Synchronization

/// The keys that sign tokens, and what a token must say.
///
/// A token is a JWT (RFC 7519) with the account as its `sub`, the server as its `aud`, and an `exp`. Its
/// algorithm must be that of its key: an RSA key never checks an HMAC.
struct Tokens: Sendable {
    private struct Header: Decodable {
        let alg: String
        let kid: String?
        let crit: [String]?
    }

    struct Claims: JWTPayload {
        let sub: SubjectClaim
        let aud: Audience
        let exp: ExpirationClaim
        var nbf: NotBeforeClaim?

        func verify(using algorithm: some JWTAlgorithm) throws {
            try exp.verifyNotExpired()
            try nbf?.verifyNotBefore()
        }
    }

    /// Those for whom a token is: one name, or a list. JWTKit's own type ends the process at an empty list.
    struct Audience: Codable {
        let names: [String]

        init(names: [String]) { self.names = names }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let name = try? container.decode(String.self) {
                names = [name]
            } else {
                names = try container.decode([String].self)
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            if names.count == 1 {
                try container.encode(names[0])
            } else {
                try container.encode(names)
            }
        }
    }

    private let keys: JWTKeyCollection
    /// The algorithm of each key by its name; that of the only key has no name.
    private let algorithms: [String?: String]
    private let audience: String
    private let known = KnownTokens()

    /// Reads a key set: public keys of ES256, RS256 and EdDSA, each with `kid` and `alg`.
    ///
    /// - Throws: ``ConfigurationError``.
    init(keySet file: URL, audience: String) async throws {
        let keySet: JWKS
        do {
            keySet = try JSONDecoder().decode(JWKS.self, from: Data(contentsOf: file))
        } catch {
            throw ConfigurationError("the keys in \(file.path) cannot be read: \(error)")
        }
        let keys = JWTKeyCollection()
        var algorithms: [String?: String] = [:]
        for key in keySet.keys {
            guard let name = key.keyIdentifier?.string, let algorithm = key.algorithm?.rawValue,
                ["ES256", "RS256", "EdDSA"].contains(algorithm)
            else {
                throw ConfigurationError(
                    "each key in \(file.path) must have a \"kid\", and an \"alg\" that is ES256, "
                        + "RS256 or EdDSA")
            }
            guard algorithms.updateValue(algorithm, forKey: name) == nil else {
                throw ConfigurationError("\(file.path) has the key \(name) twice")
            }
            do { try await keys.add(jwk: key) } catch {
                throw ConfigurationError("the key \(name) in \(file.path) is not valid: \(error)")
            }
        }
        guard !algorithms.isEmpty else { throw ConfigurationError("\(file.path) has no key") }
        (self.keys, self.algorithms, self.audience) = (keys, algorithms, audience)
    }

    /// Uses a secret key of the server's own (HS256).
    init(secret: [UInt8], audience: String) async {
        keys = await JWTKeyCollection().add(
            hmac: HMACKey(from: Data(secret)), digestAlgorithm: .sha256)
        algorithms = [nil: "HS256"]
        self.audience = audience
    }

    /// Returns the account of a token; nil if it is not valid now.
    func account(of bearer: String?) async -> Account? {
        guard let bearer, bearer.utf8.count <= 8_192 else { return nil }
        if let account = known.account(of: bearer, at: .now) { return account }
        guard let header = Self.header(of: bearer), header.crit == nil,
            let algorithm = algorithms[algorithms[nil] == nil ? header.kid : nil],
            header.alg == algorithm,
            let claims = try? await keys.verify(bearer, as: Claims.self),
            claims.aud.names.contains(audience), let account = Account(claims.sub.value)
        else { return nil }
        known.add(bearer, account, until: claims.exp.value)
        return account
    }

    /// Returns a token that the server's own key has signed.
    func token(of account: Account, until end: Date) async throws -> String {
        try await keys.sign(
            Claims(
                sub: SubjectClaim(value: account.description),
                aud: Audience(names: [audience]), exp: ExpirationClaim(value: end)))
    }

    private static func header(of token: String) -> Header? {
        guard let part = token.split(separator: ".", omittingEmptySubsequences: false).first
        else { return nil }
        var text = String(part).replacing("-", with: "+").replacing("_", with: "/")
        while text.count % 4 != 0 { text.append("=") }
        return Data(base64Encoded: text).flatMap {
            try? JSONDecoder().decode(Header.self, from: $0)
        }
    }
}

/// Tokens that were found valid, so that each is checked once.
private final class KnownTokens: Sendable {
    private static let countMax = 8_192
    private let accounts = Mutex<[String: (account: Account, end: Date)]>([:])

    func account(of token: String, at now: Date) -> Account? {
        accounts.withLock { accounts in
            guard let known = accounts[token] else { return nil }
            guard known.end > now else {
                accounts[token] = nil
                return nil
            }
            return known.account
        }
    }

    func add(_ token: String, _ account: Account, until end: Date) {
        accounts.withLock { accounts in
            if accounts.count >= Self.countMax { accounts.removeAll() }
            accounts[token] = (account, end)
        }
    }
}

extension Date {
    /// A whole number of seconds from now.
    static func inSeconds(_ seconds: Int) -> Date {
        Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + Double(seconds)).rounded())
    }
}
