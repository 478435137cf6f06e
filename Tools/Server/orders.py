#!/usr/bin/env python3
"""A backend with a table of its own that keeps Foldback's contract with `foldback.sql`.

It needs Python 3.11, psycopg 3 and PostgreSQL. Several processes may serve one database:
    psql -d shop --single-transaction -f foldback.sql -f orders.sql
    python3 orders.py --database "dbname=shop" --token secret=ann
With a standby: --database "host=one,two dbname=shop target_session_attrs=read-write".

`decide` has the rules of the backend. `settled` waits until an answer cannot be lost. The names A1,
A2 and N6 are laws of the article "Your own backend". If decisions were lost, for example because a
backup was restored, stop all processes and run SELECT foldback.new_lineage('SPACE') first (N6).
"""

import argparse, hashlib, queue, sys, threading, time
import psycopg
from wire import Problem, require, serve, text_of

CONNECTIONS_MAX, ATTEMPTS_MAX, ATTEMPT_SECONDS_MAX, POLL_SECONDS = 8, 3, 5, 0.2
INTENTS_MAX, PAGE_EVENTS_MAX, PAGE_BYTES_MAX, COUNT_MAX = 256, 256, 1 << 20, 10
SETTINGS = "-c client_min_messages=warning -c synchronous_commit=on"  # See `settled`.
MESSAGE = "SELECT pg_logical_emit_message(true, 'foldback', '')"
connections = queue.LifoQueue()  # those that nobody uses now; None stands for one to open


def may_use(account, space):
    """Returns whether an account may use a space: "ann.shop" is ann's, and "shop" is for all."""
    owner, dot, _ = space.partition(".")
    return not dot or owner == account


def decide(event, space, connection):
    """Returns the verdict on an event. It changes `orders` only if it accepts the event."""
    match event:
        case {"op": "order", "id": id, "item": item, "count": count}:
            if not (is_name(id) and is_name(item) and type(count) is int and 0 < count < 1000):
                return rejected("invalid", "An order needs an id, an item, and a count below 1000.")
            kept = min(count, COUNT_MAX)
            add = "INSERT INTO orders VALUES (%s, %s, %s, %s, 'open') ON CONFLICT DO NOTHING"
            if connection.execute(add, (space, id, item, kept)).rowcount == 0:
                return rejected("exists", f"There is an order {id} already.")
            other = {"format": [1, 1], "event": {**event, "count": kept}}
            return {"accepted": {} if kept == count else other}
        case {"op": "ship" | "cancel" as op, "id": id}:
            status = {"ship": "shipped", "cancel": "canceled"}[op]
            close = "UPDATE orders SET status = %s WHERE (space, id, status) = (%s, %s, 'open')"
            if is_name(id) and connection.execute(close, (status, space, id)).rowcount == 1:
                return {"accepted": {}}
            return rejected("not-open", "This order is not there, has shipped, or was canceled.")
    return {"later": {"afterSeconds": 3600, "reason": "the server is older than the app"}}


def is_name(value):
    return type(value) is str and 0 < len(value) <= 64 and value.isprintable()


def rejected(code, message):
    return {"rejected": {"code": code, "message": message}}


def settled(work):
    """Runs `work` in a transaction, and returns its result when no failover can lose it.

    A commit waits for the standby before others see its rows. If that wait is canceled, or if the
    primary starts again meanwhile, they see rows that a failover loses, so they must not tell
    anybody. The next commit that waits makes these rows safe, if it is on the connection that read
    them. A commit of a transaction that has written nothing does not wait. So `work` writes
    MESSAGE if it has read news.

    A commit whose wait was canceled succeeds, with a warning. It is in doubt, as it is if the
    connection ended. Then `work` runs again, and `begin_intent` returns the verdicts that were kept.
    """
    try:
        connection = connections.get(timeout=ATTEMPT_SECONDS_MAX)
    except queue.Empty:
        raise Problem(503, "the server is busy", {"Retry-After": "1"})
    try:
        for _ in range(ATTEMPTS_MAX):
            try:
                connection = connection or connect()
                try:
                    result = attempt(work, connection)
                except Problem as problem:  # Nothing is written, but what it says was read.
                    result = problem
                    attempt(lambda connection: connection.execute(MESSAGE), connection)
                if connection.warnings:
                    continue
                if isinstance(result, Problem):
                    raise result
                return result
            except psycopg.errors.InsufficientPrivilege as error:  # another account's replica
                raise Problem(403) from error
            except psycopg.OperationalError as error:
                print(f"the database failed: {error}", file=sys.stderr)
                connection = connection and connection.close()  # It returns None.
        raise Problem(503, "the database cannot confirm a decision now", {"Retry-After": "2"})
    finally:
        connections.put(connection)


def attempt(work, connection):
    """Runs `work` in a transaction. It cancels what takes too long, also the wait of the commit."""
    connection.warnings.clear()
    limit = threading.Timer(ATTEMPT_SECONDS_MAX, connection.cancel)
    limit.start()
    try:
        with connection.transaction():
            return work(connection)
    finally:
        limit.cancel()


def connect():
    connection = psycopg.connect(options.database, autocommit=True, options=SETTINGS)
    connection.warnings = []
    connection.add_notice_handler(lambda notice: connection.warnings.append(notice.message_primary))
    return connection


def submit(account, space, intents, device):
    """Decides on each intent once, in order. All of them commit or none (A1)."""

    def work(connection):
        require_shared(connection, space, device)
        verdicts, ended_lanes = [], set()
        for intent in intents[:INTENTS_MAX]:  # The device sends the others again.
            if intent["lane"] not in ended_lanes:
                verdict = verdict_on(intent, account, space, connection)
                id = {"replica": intent["replica"], "number": intent["number"]}
                verdicts.append({**id, **verdict})
                if "later" in verdict:
                    ended_lanes.add(intent["lane"])
        lineage, head = require_shared(connection, space, device)  # now under the space's lock
        connection.execute(MESSAGE)
        return {"verdicts": verdicts, "lineage": lineage, "head": head}

    return settled(work)


def verdict_on(intent, account, space, connection):
    """Returns the first verdict on an intent, or decides."""
    effect = intent["effect"]
    digest = int.from_bytes(hashlib.sha256(text_of(effect).encode()).digest()[:8], signed=True)
    begin = "SELECT foldback.begin_intent(%s, %s, %s, %s, %s)"
    id = (space, account, intent["replica"], intent["number"], digest)
    if known := connection.execute(begin, id).fetchone()[0]:
        return known
    match decide(intent["event"], space, connection):
        case {"accepted": other}:
            event, form = text_of((other or effect)["event"]), (other or effect)["format"]
            accept = "SELECT foldback.accept(%s, %s, %s)"
            position = connection.execute(accept, (event, form, bool(other))).fetchone()[0]
            return {"accepted": {"position": position, **other}}
        case {"rejected": reason} as verdict:
            connection.execute("SELECT foldback.reject(%(code)s, %(message)s)", reason)
            return verdict
        case later:
            return later


def changes(account, space, device, wait):
    """Returns effects, also to their authors, and waits for the first if there is none (A2)."""

    def work(connection):
        lineage, head = require_shared(connection, space, device)
        if head > device["through"] or is_last:
            connection.execute(MESSAGE)
        find = "SELECT * FROM foldback.changes(%s, %s, %s) WHERE position <= %s"
        values = (space, device["through"], PAGE_EVENTS_MAX + 1, head)
        events, size, through = [], 0, head
        for position, replica, number, _, form, event, _ in connection.execute(find, values):
            size += len(text_of(event))
            if events and size > PAGE_BYTES_MAX or len(events) == PAGE_EVENTS_MAX:
                through = events[-1]["position"]
                break
            origin = {"replica": replica, "intent": int(number)}
            events.append({"position": position, "format": form, "event": event, "origin": origin})
        page = {"events": events, "through": through, "more": through < head}
        return {**page, "lineage": lineage, "head": head}

    until = time.monotonic() + wait
    while True:
        is_last = time.monotonic() >= until
        page = settled(work)
        if page["through"] > device["through"] or is_last:
            return page
        time.sleep(POLL_SECONDS)


def require_shared(connection, space, device):
    """Returns the lineage and the head, and refuses a device that has other data (N6)."""
    find = "SELECT lineage, head FROM foldback.head(%s)"
    lineage, head = connection.execute(find, (space,)).fetchone()
    require(device["lineage"] in (None, lineage), 409, code="superseded", shared=0)
    require(device["through"] <= head, 409, code="superseded", shared=head)
    return lineage, head


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--listen", metavar="HOST:PORT", default="127.0.0.1:8787", help="port 0 is any free port")
    add("--database", metavar="CONNINFO", default="", help="as libpq takes it")
    add("--token", metavar="TOKEN=ACCOUNT", action="append", help="can be repeated")
    options = parser.parse_args()
    for _ in range(CONNECTIONS_MAX):
        connections.put(None)
    tokens = dict(pair.split("=", 1) for pair in options.token or ["secret=ann"])
    serve(options.listen, tokens, may_use, submit, changes)
