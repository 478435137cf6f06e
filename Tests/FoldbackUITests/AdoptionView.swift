/// A row of an app's screen. It knows the app's own values only, so it needs no module.
struct PersonRow {
    let person: Person
    var note = ""

    var text: String { "\(person.name), \(person.followers) followers\(note)" }
}
