/// The difference that a mutant makes to the marked code.
///
/// The marked code begins on the marked line, after the label of a `case`, and ends where its
/// brackets close. Everything works on code as it is laid out by `swift format`.
///
/// Most changes quote no name of the code, so that they survive renaming. A condition limits a
/// change to some of the times that the code runs.
enum Change: Sendable {
    /// The marked statement does not run.
    case skip(if: String = "true")
    /// The condition of the marked `if`, `guard`, `while`, `where` or `filter` counts as true.
    case holds
    /// The condition counts as false.
    case fails(if: String = "true")
    /// Before the marked statement, the function returns this value.
    case returns(String, if: String = "true")
    /// The marked expression has this value. `ORIGINAL` stands for the expression.
    ///
    /// The expression is what follows `return`, `=` or a label, the body of a computed property, or
    /// the whole line.
    case value(String, if: String = "true")
    /// The marked expression `a ?? b` has the value `b`.
    case nilOperand
    /// This code runs before the marked statement.
    case before(String)
    /// This code runs after the marked statement.
    case after(String)
    /// The second text replaces the first text, which occurs once in the marked code and is an
    /// expression: the last resort.
    case replace(String, with: String)
}
