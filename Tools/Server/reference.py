#!/usr/bin/env python3
"""A server that keeps Foldback's contract over HTTP, with Python 3.11 and SQLite alone.

Put your rules into `may_use` and `decide`. The names A1 to A4 and N6 are the laws of the article
"Your own backend". `wire.py` reads requests and writes answers.

Only one process may serve a file. After you restore a backup, give it a new lineage (N6):
    sqlite3 FILE "UPDATE lineage SET name = hex(randomblob(16))"
"""
import argparse, hashlib, json, sqlite3, threading
from wire import require, serve, text_of

INTENTS_MAX, PAGE_EVENTS_MAX, PAGE_BYTES_MAX = 256, 256, 1 << 20
TABLES = """
CREATE TABLE IF NOT EXISTS lineage (name TEXT NOT NULL);
INSERT INTO lineage SELECT hex(randomblob(16)) WHERE NOT EXISTS (SELECT * FROM lineage);
CREATE TABLE IF NOT EXISTS replica (
    space TEXT, name TEXT, account TEXT NOT NULL, PRIMARY KEY (space, name));
CREATE TABLE IF NOT EXISTS decision (
    space TEXT, replica TEXT, number TEXT,         -- the intent's id
    content TEXT NOT NULL, verdict TEXT NOT NULL,  -- a digest of the event, and the answer
    position INTEGER, effect TEXT, digest TEXT,    -- NULL if the intent was rejected
    PRIMARY KEY (space, replica, number), UNIQUE (space, position));
CREATE TABLE IF NOT EXISTS unlocked (space TEXT, name TEXT, PRIMARY KEY (space, name));
"""
changed = threading.Condition()  # Its lock guards `db`, and each commit wakes the long polls.


def may_use(account, space):
    """Returns whether an account may use a space: "ann.notes" is ann's, and "notes" is for all."""
    owner, dot, _ = space.partition(".")
    return not dot or owner == account


def decide(event, account, space, db):
    """Returns the verdict on an event. Changes that it makes in `db` commit with the verdict.

    There are two more verdicts: {"later": {"reason": "..."}}, and an acceptance that replaces the
    event: {"accepted": {"format": [1, 1], "event": ...}}. Change `db` only if you accept.
    """
    match event:
        case {"op": "set", "key": str(key)} if key.startswith("unlock-"):
            db.execute("INSERT OR IGNORE INTO unlocked VALUES (?, ?)", (space, key[7:]))
        case {"op": "set", "key": str(key)} if key.startswith("locked-"):
            find = "SELECT * FROM unlocked WHERE space = ? AND name = ?"
            if not row(find, space, key[7:]):
                message = f"Nobody has set unlock-{key[7:]} yet."
                return {"rejected": {"code": "locked", "message": message}}
    return {"accepted": {}}


def submit(account, space, intents, device):
    """Decides on each intent once, in order, and answers after the commit (A1)."""
    with changed, db:  # `db` commits or rolls back before `changed` lets others in.
        db.execute("BEGIN IMMEDIATE")
        lineage, head = require_shared(space, device)
        for replica in {intent["replica"] for intent in intents}:  # The first account owns it.
            db.execute("INSERT OR IGNORE INTO replica VALUES (?, ?, ?)", (space, replica, account))
            find = "SELECT account FROM replica WHERE space = ? AND name = ?"
            require(row(find, space, replica) == (account,), 403)
        verdicts, ended_lanes = [], set()
        for intent in intents[:INTENTS_MAX]:  # The device sends the others again.
            if intent["lane"] not in ended_lanes:
                verdict, head = verdict_on(intent, account, space, head)
                verdicts.append(
                    {"replica": intent["replica"], "number": intent["number"], **verdict}
                )
                if "later" in verdict:
                    ended_lanes.add(intent["lane"])
        changed.notify_all()
    return {"verdicts": verdicts, "lineage": lineage, "head": head}


def verdict_on(intent, account, space, head):
    """Returns the first verdict on an intent, or a new one, and the head after it."""
    id, content = (space, intent["replica"], str(intent["number"])), digest_of(intent["effect"])
    find = "SELECT content, verdict FROM decision WHERE (space, replica, number) = (?, ?, ?)"
    if known := row(find, *id):
        reused = {"code": "id-reused", "message": "This id came before with another event."}
        return json.loads(known[1]) if known[0] == content else {"rejected": reused}, head
    verdict = decide(intent["event"], account, space, db)
    if "later" in verdict:
        return verdict, head
    position = effect = digest = None
    if "accepted" in verdict:
        effect = text_of(verdict["accepted"] or intent["effect"])
        digest = digest_of([digest_at(space, head), *id, effect])
        verdict["accepted"]["position"] = position = head = head + 1  # A3
    values = (*id, content, text_of(verdict), position, effect, digest)
    db.execute("INSERT INTO decision VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
    return verdict, head


def changes(account, space, device, wait):
    """Returns effects, also to their authors, and waits for the first if there is none (A2)."""
    find = """SELECT position, effect, replica, number FROM decision
              WHERE space = ? AND position > ? ORDER BY position LIMIT ?"""
    with changed:  # No commit comes between the look and the wait.
        changed.wait_for(lambda: require_shared(space, device)[1] > device["through"], wait)
        lineage, head = require_shared(space, device)
        events, size, through = [], 0, device["through"]
        for position, effect, *id in db.execute(find, (space, through, PAGE_EVENTS_MAX)):
            size += len(effect)
            if events and size > PAGE_BYTES_MAX:
                break
            origin = {"replica": id[0], "intent": int(id[1])}
            events.append({"position": position, **json.loads(effect), "origin": origin})
            through = position
        page = {"events": events, "through": through, "more": through < head}
        return {**page, "lineage": lineage, "head": head, "digest": digest_at(space, through)}


def require_shared(space, device):
    """Returns the lineage and the head, and refuses a device that has other data (N6)."""
    (lineage,) = row("SELECT name FROM lineage")
    head = row("SELECT max(position) FROM decision WHERE space = ?", space)[0] or 0
    require(device["lineage"] in (None, lineage), 409, code="superseded", shared=0)
    require(device["through"] <= head, 409, code="superseded", shared=head)
    own = device["digest"] and digest_at(space, device["through"])
    require(own in (None, device["digest"]), 409, code="superseded", shared=0)
    return lineage, head


def digest_at(space, position):
    """Returns a digest of all effects up to a position; None at 0."""
    find = "SELECT digest FROM decision WHERE space = ? AND position = ?"
    return (row(find, space, position) or [None])[0]


def digest_of(value):
    return hashlib.sha256(text_of(value).encode()).hexdigest()


def row(query, *values):
    return db.execute(query, values).fetchone()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="Each option has a default: 127.0.0.1:8787, reference.sqlite, secret=ann.",
    )
    add = parser.add_argument
    add("--listen", metavar="HOST:PORT", default="127.0.0.1:8787", help="port 0 is any free port")
    add("--data", metavar="FILE", default="reference.sqlite", help="the database")
    add("--token", metavar="TOKEN=ACCOUNT", action="append", help="can be repeated")
    options = parser.parse_args()
    db = sqlite3.connect(options.data, isolation_level=None, check_same_thread=False)
    db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;" + TABLES)
    tokens = dict(pair.split("=", 1) for pair in options.token or ["secret=ann"])
    serve(options.listen, tokens, may_use, submit, changes)
