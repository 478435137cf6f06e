#!/usr/bin/env python3
"""Tests foldback.sql and orders.py on a primary and a standby, which it starts and deletes.

It needs PostgreSQL and psycopg 3, and takes about a minute. CONFORM is the path of `conform`:
    CONFORM=.../conform SEED=1 python3 Tools/Server/Tests/orders_test.py
Both are optional. The seed chooses events and what is killed, and not when.
"""

import http.client, json, os, pathlib, random, shutil, signal, subprocess, sys, tempfile, threading
import time, unittest
import psycopg

os.environ.setdefault("FSYNC", "off")  # Only processes die here.
HERE = pathlib.Path(__file__).resolve().parent
SERVER, SAMPLES = HERE.parent, HERE / "orders"
SEED = int(os.environ.get("SEED", time.time_ns() % 1_000_000))
FORMAT, TEA = [1, 1], {"op": "order", "id": "1", "item": "tea", "count": 1}


def cluster(command, *words):
    words = [SERVER / "cluster", command, folder / "cluster", *words]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"cluster {command} failed: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def fail_over():
    """Kills the primary, and promotes the standby."""
    global database
    cluster("kill", "primary")
    cluster("promote")
    # psycopg 3.1.7 does not get past a first host that is frozen.
    database = cluster("conninfo").replace("foldback_server", "shop")


def setUpModule():
    global folder, database
    print(f"seed {SEED}", flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="foldback-orders."))
    folder.chmod(0o755)  # so that the user postgres can reach it
    database = cluster("start").replace("foldback_server", "shop")
    cluster("psql", "-qc", "CREATE ROLE shop LOGIN", "-f", SERVER / "orders.sql", *GRANTS)


GRANTS = [
    "-c", "GRANT USAGE ON SCHEMA foldback TO shop",
    "-c", "GRANT SELECT, INSERT ON foldback.decision TO shop",
    "-c", "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA foldback TO shop",
    "-c", "GRANT SELECT, INSERT, UPDATE ON orders TO shop",
]  # fmt: skip


def tearDownModule():
    cluster("destroy")
    shutil.rmtree(folder)


def connect(user="shop", **options):
    return psycopg.connect(database.replace("user=shop", f"user={user}"), **options)


def begin(connection, space, number=1, replica="r", account="ann", digest=7):
    ask = "SELECT foldback.begin_intent(%s, %s, %s, %s, %s)"
    return connection.execute(ask, (space, account, replica, number, digest)).fetchone()[0]


def accept(connection, event=TEA, reworded=False):
    ask = "SELECT foldback.accept(%s, %s, %s)"
    return connection.execute(ask, (json.dumps(event), FORMAT, reworded)).fetchone()[0]


def reject(connection, code="no", message="No."):
    return connection.execute("SELECT foldback.reject(%s, %s)", (code, message)).fetchone()[0]


def head(connection, space):
    return connection.execute("SELECT * FROM foldback.head(%s)", (space,)).fetchone()


class Functions(unittest.TestCase):
    """Questions: is each intent decided once, and is each mistake of a caller noticed?"""

    def setUp(self):
        self.space = self.id().rpartition(".")[2]
        self.one, self.two = connect(), connect()
        self.addCleanup(self.one.close)
        self.addCleanup(self.two.close)

    def refuses(self, error, act, *values):
        with self.assertRaises(error) as caught, self.one.transaction():
            act(*values)
        return str(caught.exception)

    def test_each_intent_keeps_its_first_verdict(self):
        one, space = self.one, self.space
        with one.transaction():
            self.assertIsNone(begin(one, space, 1))
            self.assertEqual(accept(one), 2)
            self.assertIsNone(begin(one, space, 2))
            self.assertEqual(reject(one), 3)
            self.assertIsNone(begin(one, space, 2**64 - 1))
            self.assertEqual(accept(one, None, True), 4)
            self.assertIsNone(begin(one, space, 2**63))
            bytes = "'\\x00ff'::bytea || repeat('x', 99)::bytea"
            one.execute(f"SELECT foldback.accept(NULL, '{{200,3}}', true, {bytes})")
        with one.transaction():
            self.assertEqual(begin(one, space, 1), {"accepted": {"position": 2}})
            find = "SELECT pg_current_xact_id_if_assigned() IS NOT NULL"
            self.assertTrue(one.execute(find).fetchone()[0], "the commit waits for the standby")
        self.assertEqual(begin(one, space, 2), {"rejected": {"code": "no", "message": "No."}})
        reworded = {"accepted": {"position": 4, "format": FORMAT, "event": None}}
        self.assertEqual(begin(one, space, 2**64 - 1), reworded)
        other = begin(one, space, 2**63)["accepted"]
        self.assertEqual((other["format"], other["bytes"][:4]), ([200, 3], "AP94"))
        self.assertEqual(len(other["bytes"]), 136)
        for number in (1, 2):
            self.assertEqual(begin(one, space, number, digest=8)["rejected"]["code"], "id-reused")
            self.assertNotIn("id-reused", str(begin(one, space, number)))
        columns = "position, replica, number, account, format, effect"
        find = f"SELECT {columns} FROM foldback.changes(%s, %s, %s)"
        pages = [one.execute(find, (space, *part)).fetchall() for part in [(0, 2), (4, 9)]]
        first = (2, "r", 1, "ann", FORMAT, TEA)
        self.assertEqual(pages[0], [first, (4, "r", 2**64 - 1, "ann", FORMAT, None)])
        self.assertEqual(pages[1], [(5, "r", 2**63, "ann", [200, 3], None)])

    def test_a_replica_belongs_to_the_first_account(self):
        with self.one.transaction():
            begin(self.one, self.space)
            reject(self.one)
        for number in (1, 2):
            denied = psycopg.errors.InsufficientPrivilege
            self.refuses(denied, begin, self.one, self.space, number, "r", "bob")
        self.assertEqual(head(self.one, self.space)[1], 2)

    def test_two_transactions_found_a_space_once_and_decide_in_turn(self):
        self.assertIsNone(begin(self.one, self.space))
        answers = []

        def second():
            answers.append(begin(self.two, self.space))
            answers.append(begin(self.two, self.space, 2))
            answers.append(accept(self.two))
            self.two.commit()

        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.2)
        self.assertEqual(answers, [], "the lock keeps the second transaction waiting")
        self.assertEqual(accept(self.one), 2)
        self.one.commit()
        thread.join(10)
        self.assertEqual(answers, [{"accepted": {"position": 2}}, None, 3])
        find = "SELECT count(*) FROM foldback.decision WHERE space = %s AND outcome = 'founded'"
        self.assertEqual(self.one.execute(find, (self.space,)).fetchone(), (1,))

    def test_an_intent_is_decided_once_and_only_after_it_was_begun(self):
        one, wrong = self.one, psycopg.errors.ObjectNotInPrerequisiteState
        self.refuses(wrong, accept, one)
        with one.transaction():
            self.assertIsNone(begin(one, self.space))
        self.refuses(wrong, accept, one)  # The first transaction had the lock.

        def twice():
            begin(one, self.space)
            accept(one)
            reject(one)

        def undone():
            with one.transaction(force_rollback=True):  # a savepoint, and the lock goes with it
                begin(one, self.space)
            accept(one)

        def known():
            begin(one, self.space, 2)
            begin(one, self.space, 1)
            accept(one)

        self.refuses(wrong, twice)
        self.refuses(wrong, undone)
        with one.transaction():
            begin(one, self.space)
            accept(one)
        self.refuses(wrong, known)
        self.assertEqual(head(one, self.space)[1], 2)

    def test_wrong_arguments_and_isolation_are_refused(self):
        one, invalid = self.one, psycopg.errors.InvalidParameterValue
        self.refuses(invalid, begin, one, None)
        self.refuses(invalid, begin, one, self.space, -1)
        self.refuses(invalid, reject, one, None)
        one.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        self.refuses(psycopg.errors.ActiveSqlTransaction, begin, one, self.space)

    def test_a_space_of_foldback_server_is_refused(self):
        add = "INSERT INTO foldback.decision (space, position, ordinal, outcome, founded)"
        values = """VALUES (%s, 1, 0, 'founded', '{"lineage":"x","replica":"y","timeline":1}')"""
        with self.one.transaction():
            self.one.execute(f"{add} {values}", (self.space,))
        wrong = psycopg.errors.ObjectNotInPrerequisiteState
        self.assertIn("foldback-server serves", self.refuses(wrong, begin, self.one, self.space))

    def test_a_new_lineage_takes_a_position(self):
        one, renew = self.one, "SELECT foldback.new_lineage(%s)"
        with one.transaction():
            begin(one, self.space)
            accept(one)
        before = head(one, self.space)
        one.execute(renew, (self.space,))
        after = head(one, self.space)
        self.assertEqual(after[1], before[1] + 1)
        self.assertNotEqual(after[0], before[0])
        self.assertEqual(begin(one, self.space), {"accepted": {"position": 2}})
        one.commit()
        self.refuses(psycopg.errors.NoDataFound, one.execute, renew, ("none",))

    def test_the_roles_can_add_and_not_change(self):
        for user in ("shop", "foldback_server"):
            with connect(user, autocommit=True) as connection:
                for change in ("UPDATE {} SET position = 0", "DELETE FROM {}", "TRUNCATE {}"):
                    with self.assertRaises(psycopg.errors.InsufficientPrivilege):
                        connection.execute(change.format("foldback.decision"))
        cluster("psql", "-qc", "CREATE ROLE stranger LOGIN")
        with connect("stranger") as stranger:
            with self.assertRaises(psycopg.errors.InsufficientPrivilege):
                begin(stranger, self.space)

    def test_the_file_can_run_again(self):
        with self.one.transaction():
            begin(self.one, self.space)
            accept(self.one)
        cluster("psql", "-q1v", "ON_ERROR_STOP=1", "-f", SERVER / "foldback.sql")
        self.assertEqual(begin(self.one, self.space), {"accepted": {"position": 2}})

    def test_the_functions_find_rows_by_keys(self):
        one, steps = self.one, 30_000
        many = """INSERT INTO foldback.decision
            (space, position, ordinal, outcome, replica, number, account, digest, effect, format)
            SELECT %s, n + 1, 0, 'accepted', 'r' || n %% 3, n, 'ann', 7, '1', '{1,1}'
            FROM generate_series(1, %s) n"""
        for number in range(8):  # The plans are made while the space is small.
            begin(one, self.space, number, f"early {number}")
        one.commit()
        one.execute(many, (self.space, steps))
        one.commit()
        cluster("psql", "-qc", "ANALYZE foldback.decision")
        count = """SELECT seq_scan, idx_tup_fetch FROM pg_stat_xact_user_tables
            WHERE relname = 'decision'"""
        before = one.execute(count).fetchone()
        for number in range(8):
            begin(one, self.space, number, f"late {number}")
            accept(one)
            begin(one, self.space, steps + 3 + number, "r1")
            self.assertIsNotNone(begin(one, self.space, 3, "r0"))
            head(one, self.space)
            one.execute("SELECT * FROM foldback.changes(%s, %s, 3)", (self.space, steps - 9))
        after = one.execute(count).fetchone()
        self.assertEqual(after[0], before[0], "nothing reads the whole table")
        self.assertLess(after[1] - before[1], 8 * 40)


class Process:
    """A process of orders.py."""

    def __init__(self):
        words = [sys.executable, SERVER / "orders.py", "--listen", "127.0.0.1:0"]
        words += ["--database", database, "--token", "secret=ann"]
        self.log = open(folder / "log", "a")
        self.child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.port = int(self.child.stdout.readline().rpartition(":")[2])

    def kill(self):
        self.child.send_signal(signal.SIGKILL)
        self.child.wait()
        self.child.stdout.close()
        self.log.close()

    def ask(self, method, path, document=None):
        """Returns the status and the document of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=25)
        try:
            headers = {"Authorization": "Bearer secret"}
            body = document and json.dumps(document)
            connection.request(method, f"/v1/spaces/{path}", body, headers)
            response = connection.getresponse()
            return response.status, json.load(response)
        finally:
            connection.close()

    def submit(self, space, replica, *numbered, **device):
        intents = [{"number": n, "format": FORMAT, "event": event} for n, event in numbered]
        document = {"replica": replica, "through": 0, "intents": intents, **device}
        return self.ask("POST", f"{space}/intents", document)


def end_waits(act="pg_cancel_backend"):
    """Ends the statements that wait for the standby: they succeed with a warning."""
    with connect("postgres", autocommit=True) as connection:
        find = f"SELECT {act}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        return connection.execute(find).rowcount


class Orders(unittest.TestCase):
    """Question: does each answer hold, whatever is killed or canceled?"""

    def setUp(self):
        self.processes = [Process(), Process()]
        self.addCleanup(lambda: [process.kill() for process in self.processes])

    def test_1_it_conforms_while_another_process_decides_in_the_space(self):
        conform = os.environ.get("CONFORM") or self.skipTest("no CONFORM")
        (folder / "token").write_text("secret")
        words = [
            conform,
            f"http://127.0.0.1:{self.processes[0].port}",
            "--token-file",
            folder / "token",
        ]
        for option in ("accepted", "refused", "unlocking", "reworded"):
            words += [f"--{option}", SAMPLES / f"{option}.json"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
            number = 0
            while child.poll() is None:
                number += 1
                event = {**TEA, "id": f"beside {number}"}
                status, _ = self.processes[1].submit("default", "beside", (number, event))
                self.assertEqual(status, 200)
                time.sleep(0.02)
            output = child.stdout.read()
        self.assertEqual(child.returncode, 0, output)
        self.assertIn("17 passed, 0 failed", output)

    def test_2_the_rules_hold_over_both_processes(self):
        one, two = self.processes
        order = {"op": "order", "id": "1", "item": "tea", "count": 25}
        status, answer = one.submit("rules", "a", (1, order), (2, {"op": "ship", "id": "1"}))
        kept = {"position": 2, "format": FORMAT, "event": {**order, "count": 10}}
        self.assertEqual(answer["verdicts"][0], {"replica": "a", "number": 1, "accepted": kept})
        status, answer = two.submit(
            "rules", "b", (1, {"op": "cancel", "id": "1"}), (2, {"op": "?"}), (3, TEA)
        )
        verdicts = answer["verdicts"]
        self.assertEqual(verdicts[0]["rejected"]["code"], "not-open")
        self.assertEqual(["later" in verdict for verdict in verdicts], [False, True])
        status, page = two.ask("GET", "rules/changes?after=0")
        self.assertEqual([event["position"] for event in page["events"]], [2, 3])
        self.assertEqual((page["through"], page["head"], page["more"]), (4, 4, False))
        poll = []
        thread = threading.Thread(
            target=lambda: poll.append(one.ask("GET", "rules/changes?after=4&wait=9"))
        )
        thread.start()
        two.submit("rules", "b", (9, {**TEA, "id": "2"}))
        thread.join(5)
        self.assertEqual(poll[0][1]["events"][0]["origin"], {"replica": "b", "intent": 9})
        self.assertEqual(one.submit("rules", "c", (1, TEA), through=99)[0], 409)
        self.assertEqual(one.submit("rules", "c", (1, TEA), lineage="x")[0], 409)
        self.assertEqual(one.submit("none", "c", (1, TEA), lineage="x")[0], 409)
        with connect() as connection:
            self.assertEqual(head(connection, "rules")[1], 5)
            self.assertEqual(head(connection, "none"), (None, 0))

    def test_3_answers_hold_while_processes_and_the_primary_are_killed(self):
        Load(self, random.Random(SEED)).run()

    def test_4_nobody_hears_of_a_decision_that_a_failover_loses(self):
        one, two = self.processes
        one.submit("lost", "a", (1, TEA))
        cluster("kill", "standby")
        done = threading.Event()

        def cancel():
            while not done.is_set():
                end_waits()
                time.sleep(0.05)

        thread = threading.Thread(target=cancel)
        thread.start()
        status, _ = one.submit("lost", "a", (2, {"op": "ship", "id": "1"}))
        with connect() as connection:
            seen = head(connection, "lost")[1]
        page = two.ask("GET", "lost/changes?after=2")
        repeated, _ = two.submit("lost", "a", (2, {"op": "ship", "id": "1"}))
        done.set()
        thread.join()
        self.assertEqual((status, page[0], repeated), (503, 503, 503), page)
        self.assertEqual(seen, 3, "readers of the table see the decision")
        fail_over()
        status, page = two.ask("GET", "lost/changes?after=2")
        self.assertEqual((status, page["events"], page["head"]), (200, [], 2))
        status, answer = one.submit("lost", "a", (2, {"op": "cancel", "id": "1"}))
        self.assertEqual(answer["verdicts"][0]["accepted"], {"position": 3})

    def test_5_devices_learn_that_a_backup_was_put_back(self):
        one, two = self.processes
        cluster("rejoin")
        first = one.submit("backup", "a", (1, TEA))[1]
        cluster("backup", folder / "backup")
        one.submit("backup", "a", (2, {"op": "ship", "id": "1"}))
        cluster("restore", folder / "backup")
        with connect("postgres", autocommit=True) as connection:
            connection.execute("SELECT foldback.new_lineage('backup')")
        device = {"lineage": first["lineage"], "through": 3}
        status, problem = two.submit("backup", "a", (2, {"op": "ship", "id": "1"}), **device)
        self.assertEqual((status, problem["code"], problem["shared"]), (409, "superseded", 0))
        status, page = one.ask("GET", "backup/changes?after=0")
        self.assertEqual((status, len(page["events"]), page["through"]), (200, 1, 3))
        self.assertNotEqual(page["lineage"], first["lineage"])


class Load:
    """Devices that ask two processes, while processes, commits and the primary are ended."""

    SECONDS, DEVICES, READERS, SPACE = 15, 6, 2, "load"

    def __init__(self, test, choices):
        self.test, self.choices, self.processes = test, choices, test.processes
        self.answers, self.pages, self.failures, self.counts = {}, {}, [], {}
        self.ended, self.settled = threading.Event(), threading.Event()

    def run(self):
        devices = self.threads(self.device, self.DEVICES)
        readers = self.threads(self.reader, self.READERS)
        until = time.monotonic() + self.SECONDS
        acts = [self.kill_process, self.cancel_commits, self.end_connections]
        while time.monotonic() < until - self.SECONDS / 2:
            self.choices.choice(acts)()
        self.count("failovers")
        cluster("kill", "standby")
        for _ in range(20):  # The rows of these commits can be seen, and get lost.
            self.count("lost commits", end_waits())
            time.sleep(0.02)
        fail_over()
        time.sleep(0.5)
        cluster("rejoin")
        while time.monotonic() < until:
            self.choices.choice(acts)()
        self.ended.set()
        for thread in devices:
            thread.join(40)
        self.settled.set()
        for thread in readers:
            thread.join(40)
        self.check()

    def threads(self, act, count):
        threads = [threading.Thread(target=act, args=(n,), daemon=True) for n in range(count)]
        for thread in threads:
            thread.start()
        return threads

    def count(self, name, number=1):
        self.counts[name] = self.counts.get(name, 0) + number

    # What goes wrong

    def kill_process(self):
        self.count("killed processes")
        place = self.choices.randrange(2)
        self.processes[place].kill()
        self.processes[place] = Process()
        time.sleep(self.choices.random() / 2)

    def cancel_commits(self, act="pg_cancel_backend"):
        cluster("pause", "standby")
        time.sleep(0.1)
        for _ in range(self.choices.randrange(1, 4)):
            self.count("ended waits", end_waits(act))
            time.sleep(0.05)
        cluster("resume", "standby")
        time.sleep(self.choices.random() / 2)

    def end_connections(self):
        self.cancel_commits("pg_terminate_backend")

    # What devices do

    def ask(self, choices, act, *values):
        """Asks one of the processes until one answers, and returns the document."""
        until = time.monotonic() + self.SECONDS + 40
        while time.monotonic() < until:
            try:
                status, document = getattr(choices.choice(self.processes), act)(*values)
                if status == 200:
                    return document
                if status != 503:
                    self.failures.append((values, status, document))
                    return None
                self.count("503")
            except (OSError, http.client.HTTPException):
                self.count("no answer")
            time.sleep(0.02)
        self.failures.append((values, "no answer"))

    def device(self, place):
        choices, replica, sent = random.Random(f"{SEED} {place}"), f"device {place}", []
        while not self.ended.is_set() and not self.failures:
            batch = [choices.choice(sent)] if sent and choices.random() < 0.3 else []
            for _ in range(choices.randrange(1, 4)):
                sent.append((len(sent) + 1, self.event(choices)))
                batch.append(sent[-1])
            answer = self.ask(choices, "submit", self.SPACE, replica, *batch)
            for verdict in answer["verdicts"] if answer else []:
                id = verdict.pop("replica"), verdict.pop("number")
                if self.answers.setdefault(id, verdict) != verdict:
                    self.failures.append((id, self.answers[id], verdict))

    def event(self, choices):
        event = {
            "op": choices.choice(["order", "ship", "cancel"]),
            "id": str(choices.randrange(400)),
        }
        return {**event, "item": "tea", "count": choices.randrange(1, 15)}

    def reader(self, place):
        choices, events, device = random.Random(f"{SEED} reader {place}"), [], ""
        self.pages[place], through = events, 0
        while not self.failures:
            path = f"{self.SPACE}/changes?after={through}{device}&wait=1"
            last = self.settled.is_set()
            page = self.ask(choices, "ask", "GET", path)
            if page is None or last and not page["events"]:
                return
            events += page["events"]
            through = page["through"]
            device = f"&lineage={page['lineage']}" if page["lineage"] else ""

    # What must hold

    def check(self):
        test, columns = self.test, "position, replica, number, outcome, format, effect, rejection"
        find = f"SELECT {columns} FROM foldback.decision WHERE space = %s ORDER BY position"
        with connect() as connection:
            rows = connection.execute(find, (self.SPACE,)).fetchall()
            table = connection.execute(
                "SELECT id, count, status FROM orders WHERE space = %s", (self.SPACE,)
            )
            table = {id: (count, status) for id, count, status in table}
        self.count("answered intents", len(self.answers))
        self.count("decisions", len(rows) - 1)
        print(self.counts, flush=True)
        test.assertEqual(self.failures, [])
        test.assertEqual([row[0] for row in rows], list(range(1, len(rows) + 1)))
        verdicts, effects, orders = {}, [], {}
        for position, replica, number, outcome, form, effect, rejection in rows[1:]:
            test.assertNotIn((replica, number), verdicts)
            reworded = {"format": form, "event": effect} if outcome == "reworded" else {}
            accepted = {"accepted": {"position": position, **reworded}}
            verdicts[replica, number] = {"rejected": rejection} if rejection else accepted
            if not rejection:
                origin = {"replica": replica, "intent": number}
                effects.append(
                    {"position": position, "format": form, "event": effect, "origin": origin}
                )
                status = {"order": "open", "ship": "shipped", "cancel": "canceled"}[effect["op"]]
                count = effect["count"] if status == "open" else orders[effect["id"]][0]
                orders[effect["id"]] = (count, status)
        for id, verdict in self.answers.items():
            test.assertEqual(verdicts.get(id), verdict, id)
        for events in self.pages.values():
            test.assertEqual(events, effects)
        test.assertEqual(table, orders)
        test.assertGreater(len(self.answers), 100)


if __name__ == "__main__":
    unittest.main(verbosity=2)
