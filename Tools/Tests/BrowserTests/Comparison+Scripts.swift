/// The scripts of the comparison. They run in the page and not here, because they ask thousands of
/// times.
extension Comparison {
    /// Chooses what to send.
    static let actions = """
        // The frequent kinds several times.
        const names = [
            "like", "like", "like", "unlike", "comment", "comment", "post", "delete", "follow",
            "unfollow", "withdraw", "undo", "undo", "redo", "redo", "redo", "boost", "upload", "fraction", "wait", "open", "retry", "dismiss",
            "reject", "reword", "friend", "friend", "advance", "load", "network", "accept", "accept",
            "accept", "accept", "accept",
        ];
        const pick = (list, number) => list[number % list.length];

        // Returns what to send; undefined if the action fits nothing.
        function request(name, number, { rows, stage, people, waits, blocked, known, undo }) {
            const posts = rows.filter(row => row.kind === "post" && row.loaded && !row.ghost);
            const marks = rows.flatMap(row => row.marks).concat(
                Object.values(people).flatMap(person => person.marks));
            const post = pick(posts.filter(row => name === "delete" ? row.mine
                : name === "boost" ? !blocked.includes("item:" + row.post) : true), number)?.post;
            const held = pick(stage.held, number)?.id;
            const writing = pick(stage.held.filter(held => held.content), number)?.id;
            const mark = pick(marks.filter(mark => mark.actions.includes(name)), number)?.number;
            const person = pick(Object.keys(people), number);
            const choices = Object.entries(waits).flatMap(
                ([wait, { actions }]) => actions.map(action => ({ wait, action })));
            const isOffline = stage.offline.includes("mia");
            const text = `${name} ${number}`;
            const device = request => ["/r/mia/do", request];
            switch (name) {
                case "like": case "unlike": case "delete": case "boost":
                    return post && device({ do: name, post });
                case "comment": return post && device({ do: name, post, text });
                case "post": return device({ do: name, text });
                case "upload": return !waits.upload && device({ do: name, text });
                case "follow": case "unfollow":
                    return person && device({ do: name, name: person });
                case "retry": case "dismiss": case "withdraw":
                    return mark && device({ do: name, number: mark });
                case "undo": case "redo": return undo[name] && device({ do: name });
                case "open":
                    return known.length > 0 && device({ do: name, post: pick(known, number).id });
                case "wait":
                    return choices.length > 0 && device({ do: name, ...pick(choices, number) });
                case "load": return !waits.feed && device({ do: name });
                case "accept": return held && ["/stage", { do: "release", id: held }];
                case "reject": return held && ["/stage", { do: name, id: held, reason: text }];
                case "reword": return writing && ["/stage", { do: name, id: writing, text }];
                case "fraction":
                    return stage.held.some(({ wait }) => wait === "upload")
                        && ["/stage", { do: name, wait: "upload", value: number / 1000 }];
                case "friend":
                    return post && ["/r/ben/do", number % 3 > 0 ? { do: "post", text }
                        : { do: "comment", post, text }];
                case "advance":
                    return ["/stage", { do: name, seconds: pick([0.05, 0.5, 2, 12], number) }];
                case "network":
                    return ["/stage", { do: isOffline ? "online" : "offline", replica: "mia" }];
            }
        }

        // Returns an action as its kind and what to send. An action that fits nothing becomes the next
        // one that fits something.
        function choice([place, number], state) {
            if (place < 10) return ["crash", ["/stage", { do: "crash" }]];
            for (let offset = 0; ; offset += 1) {
                const name = names[(place + offset) % names.length];
                const wanted = request(name, number, state);
                if (wanted) return [name, wanted];
            }
        }

        """

    /// Returns what the page shows, and what it has to show.
    static let shown = """
        const find = (node, part) => node.querySelector(part);
        const plain = words => words.toLowerCase().replace(/\\.$/, "");
        const texts = (node, part) => [...node.querySelectorAll(part)].map(node => node.textContent);
        // Takes from a mark in the page what it has to say. The page may say more.
        const shownMarks = node => [...node.querySelectorAll("[data-mark]")].map(mark => [
            Number(mark.dataset.mark), mark.dataset.state,
            [...mark.querySelectorAll("[data-do]")].map(button => button.dataset.do),
        ]);
        const rightMarks = marks => marks.map(mark => [mark.number, mark.state, mark.actions]);
        const missingWords = (node, marks) => marks.flatMap(mark => {
            const words = plain(find(node, `[data-mark="${mark.number}"] .words`)?.textContent ?? "");
            const parts = [mark.what, mark.text, mark.reason ?? ""];
            if (mark.attempts > 1 && !words.includes("attempt " + mark.attempts))
                parts.push(`${mark.attempts} attempts`);
            return parts.filter(part => !words.includes(plain(part)));
        });
        const counted = number => number.toLocaleString("en");

        const shownRow = node => {
            const { id, kind, state, ghost, post } = node.dataset;
            if (!find(node, ".by")) return [id, kind, state, "placeholder"];
            const row = [
                id, kind, state, ghost !== undefined, post, find(node, ".by").textContent,
                find(node, ".text").textContent, shownMarks(node), node.ariaPosInSet,
            ];
            if (kind === "post") row.push(
                find(node, ".likes").textContent, find(node, ".like").ariaPressed,
                find(node, ".like").ariaDisabled === "true",
                parseInt(find(node, ".comments").textContent || "0"),
                find(node, ".reach").hidden ? "0" : find(node, ".reach").textContent.match(/[0-9,]+/)[0],
                find(node, ".photo").hidden ? "" : find(node, ".photo").style.getPropertyValue("--photo"),
                !find(node, "[data-do=delete]").hidden);
            return row;
        };
        const rightRow = (row, place, blocked) => {
            if (!row.loaded) return [row.id, row.kind, row.state, "placeholder"];
            const right = [
                row.id, row.kind, row.state, row.ghost, row.post, row.by, row.text,
                rightMarks(row.marks), String(place),
            ];
            if (row.kind === "post") right.push(
                counted(row.likes), String(row.liked),
                blocked.includes("*") || blocked.includes("item:" + row.post), row.comments,
                counted(row.reach), row.photo ?? "", row.mine);
            return right;
        };
        const missingLikers = (node, { kind, loaded, likers }) => {
            if (kind !== "post" || !loaded) return [];
            const words = find(node, ".likers").textContent;
            if (likers.length === 0) return words ? [words] : [];
            return likers.slice(0, 4).filter(name => !words.includes(name));
        };

        // The control or the row that is busy during a wait.
        const controlOf = name => {
            const slot = find(document, `[data-slot="${CSS.escape(name)}"]`);
            return document.getElementById(slot?.dataset.control) ?? slot?.closest("article");
        };
        const shownAround = () => ({
            busy: feed.ariaBusy, note: find(document, "#feed-note").textContent !== "",
            waits: [...document.querySelectorAll("[data-wait]")].map(node => {
                const bar = find(node, "[role=progressbar]");
                return [
                    node.dataset.wait, node.dataset.phase,
                    controlOf(node.dataset.wait)?.ariaBusy === "true",
                    bar?.dataset.shows ?? null, bar?.ariaValueNow ?? null,
                    node.closest("dialog[open]") !== null,
                    [...node.querySelectorAll("button")].map(button => button.dataset.action),
                ];
            }).sort(),
            people: [...document.querySelectorAll("#people .person")].map(node => [
                find(node, ".by").textContent, find(node, "[data-name]").ariaPressed,
                shownMarks(node),
            ]),
            known: [...document.querySelectorAll("#known [data-post]")].map(node => node.dataset.post),
            undo: ["undo", "redo"].map(name => find(document, `#${name}`)).map(
                button => [button.textContent, button.ariaDisabled === "true"]),
            account: texts(document, "#account .badge").map(words => parseInt(words))
                .filter(number => number > 0),
            link: texts(document, "#link").join("").trim(),
            held: [...document.querySelectorAll("#held-list > li")].map(node => node.key),
            lanes: [...document.querySelectorAll("#lanes > li")].map(node => [
                find(node, "a").textContent.toLowerCase(), find(node, "a").search,
                find(node, ".words").textContent,
            ]),
        });
        const rightAround = ({ feed, waits, people, known, account, log, undo, stage, blocked }) => ({
            busy: String(feed.busy), note: Boolean(feed.error || feed.empty),
            waits: Object.entries(waits).map(([name, wait]) => [
                name, wait.phase, wait.busy && Boolean(controlOf(name)), wait.indicator ?? null,
                wait.fraction == null ? null : String(Math.round(wait.fraction * 100)),
                wait.overlay, wait.actions,
            ]).sort(),
            people: Object.entries(people).map(([name, { followed, marks }]) => [
                name, String(followed), rightMarks(marks),
            ]),
            known: known.map(({ id }) => id),
            undo: [["Undo", undo.undo], ["Redo", undo.redo]].map(([words, name]) => [
                name ? `${words} ${name}` : words, !name || blocked.includes("*"),
            ]),
            account: ["pending", "accepted", "conflicted", "rejected"].map(word => account[word])
                .filter(number => number > 0),
            link: account.paused ?? "online", held: stage.held.map(({ id }) => id),
            lanes: log.lanes.map(({ what, number, state }) => [what, `?intent=${number}`, state]),
        });
        const missingAround = ({ waits, people }) => [
            ...Object.entries(waits).filter(([name, { text }]) => text
                && !find(document, `[data-wait="${CSS.escape(name)}"]`)?.textContent.includes(text))
                .map(([name, { text }]) => `${name}: ${text}`),
            ...missingWords(find(document, "#people"), Object.values(people).flatMap(
                ({ marks }) => marks)),
        ];

        """

    /// Defines `compare(choices)`.
    static let script = """
        const feed = find(document, "#feed");
        const canonical = value => JSON.stringify(value, (_, part) =>
            part?.constructor === Object ? Object.fromEntries(Object.entries(part).sort()) : part);
        const copy = ({ reset, steps, replacements, cues, ...state }) => state;
        const state = () => fetch("/r/mia/state").then(answer => answer.json()).then(copy);
        const parts = revision => (([boot, number]) => [boot, Number(number)])(revision.split("-"));

        // ---- The model: what the messages say

        let model = null;
        // The model at each of the last revisions, and the first fault.
        const models = new Map();
        let fault;
        const result = { performed: {}, refused: 0, pages: 0, states: 0 };

        window.heard = message => {
            if (!model) return;
            const [[boot, number], [oldBoot, old]] = [message, model].map(
                ({ revision }) => parts(revision));
            if (!message.reset && (boot !== oldBoot || number !== old + 1))
                fault ??= `${message.revision} after ${model.revision}`;
            const rows = message.reset ? message.rows : model.rows;
            for (const step of message.steps ?? []) {
                if ("delete" in step) rows.splice(step.delete, 1);
                if ("move" in step) rows.splice(step.to, 0, ...rows.splice(step.move, 1));
                if ("change" in step) rows[step.change] = step.row;
                if ("insert" in step) rows.splice(step.insert, 0, step.row);
            }
            model = { ...(message.reset ? {} : model), ...copy(message), rows };
            models.set(model.revision, canonical(model));
            if (models.size > 200) models.delete(models.keys().next().value);
        };

        // ---- The page at each revision

        // What a row shows, until something in the row changes.
        const shownRows = new WeakMap();
        const forget = records => {
            for (const { target } of records)
                shownRows.delete((target.closest ? target : target.parentElement)?.closest("article"));
        };
        const touched = new MutationObserver(forget);
        touched.observe(
            feed, { subtree: true, childList: true, attributes: true, characterData: true });

        function difference() {
            forget(touched.takeRecords());
            const nodes = [...feed.children];
            let place = 0;
            for (const [index, row] of model.rows.entries()) {
                if (row.loaded) place += 1;
                const node = nodes[index];
                if (!node) return `row ${index} is not there`;
                const right = JSON.stringify(rightRow(row, place, model.blocked));
                if (!shownRows.has(node)) shownRows.set(node, JSON.stringify(shownRow(node)));
                if (shownRows.get(node) !== right)
                    return `row ${index}: ${shownRows.get(node)} instead of ${right}`;
                if (row.marks.length > 0 || row.likers?.length > 0) {
                    const missing = [...missingWords(node, row.marks), ...missingLikers(node, row)];
                    if (missing.length > 0) return `row ${index} does not say ${missing}`;
                }
            }
            if (nodes.length > model.rows.length) return `there are ${nodes.length} rows`;
            const [own, right] = [shownAround(), rightAround(model)].map(part => JSON.stringify(part));
            if (own !== right) return `${own} instead of ${right}`;
            const missing = missingAround(model);
            return missing.length > 0 ? `it does not say ${missing}` : undefined;
        }

        let wake = () => {};
        new MutationObserver(() => {
            const { revision } = document.body.dataset;
            if (model && revision === model.revision) {
                const found = difference();
                if (found) fault ??= `at ${revision}, ${found}`;
                result.pages += 1;
            } else if (model) fault ??= `${revision} instead of ${model.revision}`;
            wake();
        }).observe(document.body, { attributeFilter: ["data-revision"] });

        // Returns when the page shows a revision that is right.
        const until = isRight => new Promise(resolve => {
            wake = () => { if (isRight(parts(document.body.dataset.revision))) resolve(); };
            wake();
        });

        // ---- Actions

        const send = ([path, request]) => fetch(path, {
            method: "POST", headers: { "Content-Type": "application/json" },
            body: JSON.stringify(request),
        }).then(answer => answer.json());

        async function perform([name, wanted]) {
            const sending = send(wanted);
            // A process that is killed may not answer.
            const { error } = await (name === "crash" ? sending.catch(() => ({})) : sending);
            if (error === undefined) result.performed[name] = (result.performed[name] ?? 0) + 1;
            else result.refused += 1;
        }

        // A connection of the browser's six is for messages.
        const atOnceMax = 4;

        // Returns the server's state, when the page has shown its revision.
        async function next() {
            const latest = await state();
            const [boot, number] = parts(latest.revision);
            await until(([ownBoot, own]) => ownBoot === boot && own >= number);
            if (!models.has(latest.revision)) return latest;
            if (models.get(latest.revision) !== canonical(latest))
                fault ??= `the messages up to ${latest.revision} give `
                    + `${models.get(latest.revision)} instead of ${canonical(latest)}`;
            result.states += 1;
            return latest;
        }

        window.compare = async choices => {
            Object.assign(result, { performed: {}, refused: 0, pages: 0, states: 0 });
            model ??= await state();
            let last = model;
            while (choices.length > 0) {
                const group = choices.splice(0, atOnceMax).map(numbers => choice(numbers, last));
                const [crash, ...others] = [
                    group.find(([name]) => name === "crash"),
                    ...group.filter(([name]) => name !== "crash"),
                ];
                await Promise.all(others.map(perform));
                if (crash) {
                    const [boot] = parts(document.body.dataset.revision);
                    await perform(crash);
                    await until(([ownBoot]) => ownBoot !== boot);
                }
                last = await next();
                if (fault) return { error: `after ${JSON.stringify(group)}: ${fault}` };
            }
            return result;
        };
        """
}
