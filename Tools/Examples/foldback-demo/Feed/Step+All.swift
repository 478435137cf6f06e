import Foldback
import FoldbackExamples

/// The steps of the story.
///
/// Mia's intents have the numbers 1, 2, 3, …; `bo.2.0` is the post that Bo's second intent made.
extension Step {
    static let all = [
        offline, outOfOrder, rejection, conflict, doubleTap, purchase, retry, reopening,
    ]

    private static let bread = Post(by: "bo", text: "Fresh bread")
    private static let bike = Post(by: "bo", text: "Old bike")
    private static let cat = Post(by: "cleo", text: "My cat")
    private static let light = Post(by: "mia", text: "First light")

    private static let offline = Step(
        title: "Posting and liking offline",
        scene: "Mia posts, likes Bo's bicycle and follows him. Days later she is online again.",
        moments: [
            Moment(
                caption: "before",
                acts: [
                    .other("bo", .posted("Fresh bread")), .other("bo", .posted("Old bike")),
                    .other("cleo", .posted("My cat")), .other("cleo", .blocked("mia")), .downlink,
                ],
                posts: ["bo.1.0": bread, "bo.2.0": bike, "cleo.1.0": cat]),
            Moment(
                caption: "at once",
                acts: [
                    .mia(.posted("First light")), .mia(.liked(post: "bo.2.0")),
                    .mia(.followed("bo")),
                ],
                posts: ["mia.1.0": light, "bo.2.0": bike.liked(by: "mia")],
                followers: ["bo": ["mia"]], overlay: [1: .pending, 2: .pending, 3: .pending]),
            Moment(
                caption: "after the answers",
                acts: [.arrive([1, 2, 3]), .answered([1, 2, 3]), .downlink]),
        ],
        rule:
            "The intent's id determines the id mia.1.0, so it stays when the post is confirmed (F12)."
    )

    private static let outOfOrder = Step(
        title: "Answers out of order, with a replacement for the prediction",
        scene:
            "Mia comments on Bo's bread and likes it. Cleo likes it too, which Mia cannot see yet.",
        moments: [
            Moment(caption: "before"),
            Moment(
                caption: "at once",
                acts: [
                    .mia(.commented(post: "bo.1.0", text: "so   good!!!")),
                    .mia(.liked(post: "bo.1.0")),
                ],
                posts: ["bo.1.0": bread.liked(by: "mia").with("mia.4.0", "so   good!!!")],
                overlay: [4: .pending, 5: .pending]),
            Moment(
                caption: "5 is answered",
                acts: [.other("cleo", .liked(post: "bo.1.0")), .arrive([4, 5]), .answered([5])],
                overlay: [4: .pending, 5: .accepted]),
            Moment(
                caption: "4 is answered", acts: [.answered([4])],
                posts: ["bo.1.0": bread.liked(by: "mia").with("mia.4.0", "so good!")],
                overlay: [4: .accepted, 5: .accepted]),
            Moment(
                caption: "the downlink", acts: [.downlink],
                posts: ["bo.1.0": bread.liked(by: "cleo", "mia").with("mia.4.0", "so good!")]),
        ],
        rule:
            "The authority's event replaces the prediction, and only the downlink confirms it (F3, F8)."
    )

    private static let rejection = Step(
        title: "A rejection rolls back one intent",
        scene: "Cleo has blocked Mia. Mia comments on a post of Cleo's and likes it.",
        moments: [
            Moment(caption: "before"),
            Moment(
                caption: "at once",
                acts: [
                    .mia(.commented(post: "cleo.1.0", text: "Sweet!")),
                    .mia(.liked(post: "cleo.1.0")),
                ],
                posts: ["cleo.1.0": cat.liked(by: "mia").with("mia.6.0", "Sweet!")],
                overlay: [6: .pending, 7: .pending]),
            Moment(
                caption: "6 is answered", acts: [.arrive([6, 7]), .answered([6])],
                posts: ["cleo.1.0": cat.liked(by: "mia")], overlay: [7: .pending],
                rejections: [
                    6: Rejection(code: "blocked", message: "cleo takes no comments from mia")
                ]),
            Moment(caption: "7 is answered", acts: [.answered([7]), .downlink]),
        ],
        rule:
            "The view is as if 6 had never been recorded. The app has no code that undoes it (F10)."
    )

    private static let asked = bike.liked(by: "mia").with("mia.8.0", "How old?")

    private static let conflict = Step(
        title: "A conflicted intent comes back",
        scene:
            "Mia comments on Bo's bicycle. Before her comment arrives, he deletes and restores it.",
        moments: [
            Moment(caption: "before"),
            Moment(
                caption: "at once", acts: [.mia(.commented(post: "bo.2.0", text: "How old?"))],
                posts: ["bo.2.0": asked], overlay: [8: .pending]),
            Moment(
                caption: "deleted", acts: [.other("bo", .deleted(post: "bo.2.0")), .downlink],
                posts: ["bo.2.0": bike.liked(by: "mia").deleted],
                overlay: [8: .conflicted(.pending, "bo deleted it")]),
            Moment(
                caption: "restored", acts: [.other("bo", .restored(post: "bo.2.0")), .downlink],
                posts: ["bo.2.0": asked], overlay: [8: .pending]),
            Moment(caption: "after the answer", acts: [.arrive([8]), .answered([8]), .downlink]),
        ],
        rule:
            "While 8 does not apply, the view lacks it. Each new base tries it again (F9).")

    private static let send = Act.mia(
        .commented(post: "mia.1.0", text: "At six!"), once: "comment draft 5")
    private static let timed = light.with("mia.9.0", "At six!")

    private static let doubleTap = Step(
        title: "A double tap is joined",
        scene: "Mia taps \"Send\" twice. The downlink is faster than the answer.",
        moments: [
            Moment(caption: "before"),
            Moment(
                caption: "first tap", acts: [send], posts: ["mia.1.0": timed],
                overlay: [9: .pending]),
            Moment(caption: "second tap", acts: [send], overlay: [9: .pending]),
            Moment(caption: "the downlink", acts: [.arrive([9]), .downlink]),
            Moment(caption: "after the answer", acts: [.answered([9])]),
        ],
        rule:
            "Both taps have one once key, so they are one intent (F14). Its late answer is a repeat (F7)."
    )

    private static let purchase = Step(
        title: "A confirm-only purchase waits",
        scene: "Mia pays so that more people see her post. Her device cannot predict how many.",
        moments: [
            Moment(caption: "before"),
            Moment(
                caption: "at once",
                acts: [.mia(.boosted(post: "mia.1.0", reach: nil), confirmOnly: true)],
                overlay: [10: .waiting(.pending)]),
            Moment(
                caption: "10 is answered",
                acts: [.other("bo", .liked(post: "mia.1.0")), .arrive([10]), .answered([10])],
                overlay: [10: .waiting(.accepted)]),
            Moment(
                caption: "the downlink", acts: [.downlink],
                posts: ["mia.1.0": timed.liked(by: "bo").shown(to: 80)]),
        ],
        rule:
            "It is listed at once, and folded only after the authority confirmed it (F13)."
    )

    private static let retry = Step(
        title: "A rejected intent is retried",
        scene: "Cleo unblocks Mia, and Mia retries her comment.",
        moments: [
            Moment(caption: "before", acts: [.other("cleo", .unblocked("mia"))]),
            Moment(
                caption: "at once", acts: [.retries(6)],
                posts: ["cleo.1.0": cat.liked(by: "mia").with("mia.11.0", "Sweet!")],
                overlay: [11: .pending], rejections: [6: nil]),
            Moment(
                caption: "after the answer", acts: [.arrive([11]), .answered([11]), .downlink]),
        ],
        rule:
            "The event gets a new intent, and the same entry takes the rejection out of the list (F14)."
    )

    private static let reopening = Step(
        title: "The app restarts with pending intents",
        scene:
            "Mia comments and posts. The comment arrives, and the app ends before its answer comes.",
        moments: [
            Moment(caption: "before"),
            Moment(
                caption: "at once",
                acts: [
                    .mia(.commented(post: "bo.2.0", text: "Sold?")), .mia(.posted("Good night")),
                    .arrive([12]),
                ],
                posts: [
                    "bo.2.0": asked.with("mia.12.0", "Sold?"),
                    "mia.13.0": Post(by: "mia", text: "Good night"),
                ],
                overlay: [12: .pending, 13: .pending]),
            Moment(
                caption: "opened again", acts: [.reopened],
                overlay: [12: .pending, 13: .pending]),
            Moment(
                caption: "after the answers",
                acts: [.arrive([12, 13]), .answered([13, 12]), .downlink]),
        ],
        rule:
            "The view is a function of the log alone (F1). 12 is sent again and gets the same verdict (A1)."
    )
}

/// The posts that the story expects, made without the projection.
extension Post {
    fileprivate func liked(by names: String...) -> Post { changed { $0.likes.formUnion(names) } }
    fileprivate func shown(to count: Int) -> Post { changed { $0.reach = count } }
    fileprivate var deleted: Post { changed { $0.isDeleted = true } }
    /// Adds a comment by Mia.
    fileprivate func with(_ id: String, _ text: String) -> Post {
        changed { $0.comments.append(Comment(id: id, by: "mia", text: text)) }
    }

    private func changed(_ change: (inout Post) -> Void) -> Post {
        var post = self
        change(&post)
        return post
    }
}
