-- The decisions of spaces in PostgreSQL, in one table that people can read. Version 13 or later.
--
--     psql --single-transaction -f foldback.sql
--
-- The file may run again at any time: it changes nothing that is there. It needs a role that may create
-- a schema. A server needs less; see the end of the file.

SET client_min_messages = warning;
CREATE SCHEMA IF NOT EXISTS foldback;

-- One row for each decision on an intent. Nothing changes or deletes a row.
CREATE TABLE IF NOT EXISTS foldback.decision (
    space      text   COLLATE "C" NOT NULL,
    position   bigint NOT NULL,  -- of the group of decisions, from 1 and without gaps
    ordinal    int    NOT NULL,  -- the place in the group, from 0
    outcome    text   NOT NULL CHECK (outcome IN ('accepted', 'reworded', 'rejected', 'founded', 'lost')),
    replica    text   COLLATE "C",  -- the intent's id; NULL for 'founded' and 'lost'
    number     bigint,
    account    text,             -- the user who sent it
    digest     bigint,           -- of the event that was sent
    version    bigint,           -- of the projection that decided
    format     int[],            -- the codec of the effect, and its version
    effect     json,             -- the event that was applied, as it was sent
    bytes      bytea,            -- the same, if it is not JSON
    rejection  json,             -- {"code": …, "message": …}
    founded    json,             -- {"lineage": …, "replica": …, "timeline": …}
    decided_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (space, position, ordinal),
    UNIQUE (space, replica, number)
);

-- Finds a space's newest name.
CREATE INDEX IF NOT EXISTS decision_founded ON foldback.decision (space, position)
    WHERE founded IS NOT NULL;

-- Functions for a backend of your own, in any language. It calls them in the transaction in which it
-- changes its own tables, so verdict and data commit together:
--
--     BEGIN;
--     SELECT foldback.begin_intent('orders', 'ann', '4f1e0d3c5a7b4c69', 7, 1234);
--     -- It returned a verdict: COMMIT, and answer with it. It returned NULL: decide.
--     UPDATE orders SET …;
--     SELECT foldback.accept('{"op":"cancel","id":"17"}', '{1,1}', false);
--     COMMIT;  -- If a warning comes back, the answer has to wait: see the article "Your own backend".
--
-- The functions find rows by the table's keys alone. A connection keeps its plans, and may have made them
-- when the table was empty, so the functions turn sequential scans off.

-- Begins to decide on an intent. It takes the space's lock until the transaction ends, and founds the
-- space if it is new. `digest` stands for the format and the bytes that the device sent.
--
-- Returns NULL if the intent is to be decided now: call `accept` or `reject` in this transaction, or
-- nothing for `later`. Returns the first verdict if there is one, as the answer to the device has it. With
-- another digest, this is the rejection `id-reused`. A replica of another account is the error 42501.
CREATE OR REPLACE FUNCTION foldback.begin_intent(
    space text, account text, replica text, number numeric, digest bigint
) RETURNS json LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_variable
DECLARE
    bits CONSTANT bigint :=
        CASE WHEN number < 2::numeric ^ 63 THEN number ELSE number - 2::numeric ^ 64 END;
    first foldback.decision;
    owner text;
BEGIN
    IF num_nulls(space, account, replica, number, digest) > 0
        OR number < 0 OR number >= 2::numeric ^ 64 OR number <> trunc(number) THEN
        RAISE 'an intent needs a space, an account, a replica, a number from 0 up, and a digest'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM set_config('foldback.intent', '', true);
    IF foldback.lock_space(space) IS NULL THEN
        PERFORM foldback.found(space);
    END IF;

    SELECT * INTO first FROM foldback.decision d
        WHERE d.space = space AND d.replica = replica AND d.number = bits;
    owner := first.account;
    IF NOT FOUND THEN  -- The order makes the planner use the key, and not read the whole space.
        SELECT d.account INTO owner FROM foldback.decision d
            WHERE d.space = space AND d.replica = replica ORDER BY d.number LIMIT 1;
    END IF;
    IF owner <> account THEN
        RAISE 'the replica % belongs to another account', replica
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF first.space IS NULL THEN
        PERFORM set_config('foldback.intent', json_build_object('space', space, 'account', account,
            'replica', replica, 'number', bits, 'digest', digest)::text, true);
        RETURN NULL;
    END IF;

    -- A transaction that only reads waits for no standby when it commits. The message makes it wait, so
    -- the answer is safe again (see the article), also if the first commit was canceled while it waited.
    PERFORM pg_logical_emit_message(true, 'foldback', '');
    RETURN CASE
        WHEN first.digest <> digest THEN json_build_object('rejected', json_build_object(
            'code', 'id-reused', 'message', 'This id came before with another event.'))
        WHEN first.outcome = 'rejected' THEN json_build_object('rejected', first.rejection)
        WHEN first.outcome = 'accepted' THEN
            json_build_object('accepted', json_build_object('position', first.position))
        WHEN first.effect IS NOT NULL THEN json_build_object('accepted', json_build_object(
            'position', first.position, 'format', first.format, 'event', first.effect))
        ELSE json_build_object('accepted', json_build_object(
            'position', first.position, 'format', first.format,
            'bytes', replace(encode(first.bytes, 'base64'), E'\n', '')))
    END;
END $$;

-- Accepts the intent that `begin_intent` has begun in this transaction. `effect` is the event as the device
-- sent it, or another one that the backend applies instead: then `reworded` is true. An event that is not
-- JSON is in `bytes`. Returns the position of the effect.
CREATE OR REPLACE FUNCTION foldback.accept(
    effect json, format int[], reworded boolean, bytes bytea DEFAULT NULL
) RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    IF num_nonnulls(effect, bytes) <> 1 OR reworded IS NULL
        OR cardinality(format) IS DISTINCT FROM 2
    THEN
        RAISE 'an effect needs JSON or bytes, a format of two numbers, and whether it is reworded'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN foldback.decide(
        CASE WHEN reworded THEN 'reworded' ELSE 'accepted' END, format, effect, bytes, NULL);
END $$;

-- Rejects the intent that `begin_intent` has begun in this transaction, for good. Programs read the code, and
-- people read the message. A rejection takes a position, too: devices see a gap.
CREATE OR REPLACE FUNCTION foldback.reject(code text, message text)
RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    IF num_nulls(code, message) > 0 THEN
        RAISE 'a rejection needs a code and a message' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN foldback.decide(
        'rejected', NULL, NULL, NULL, json_build_object('code', code, 'message', message));
END $$;

-- Returns the space's lineage and the position of its newest decision; NULL and 0 if it is new.
CREATE OR REPLACE FUNCTION foldback.head(space text, OUT lineage text, OUT head bigint)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_variable
BEGIN
    lineage := foldback.founding(space) ->> 'lineage';
    head := coalesce((SELECT max(d.position) FROM foldback.decision d WHERE d.space = space), 0);
END $$;

-- Returns the effects after a position in order, at most `effects_max`, each with the intent that it comes
-- from. It takes no lock. Positions rise in the order of the commits, so a page misses nothing.
CREATE OR REPLACE FUNCTION foldback.changes(space text, after bigint, effects_max int)
RETURNS TABLE ("position" bigint, replica text, number numeric, account text, format int[], effect json,
    bytes bytea)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY
        SELECT d.position, d.replica,
            CASE WHEN d.number < 0 THEN d.number + 2::numeric ^ 64 ELSE d.number END,
            d.account, d.format, d.effect, d.bytes
        FROM foldback.decision d
        WHERE d.space = changes.space AND d.position > changes.after
            AND d.outcome IN ('accepted', 'reworded')
        ORDER BY d.position, d.ordinal LIMIT effects_max;
END $$;

-- Gives a space a new lineage, and returns it. Operators call it after decisions were lost, for example
-- after a backup was restored, and before a backend serves the space again. Devices then keep what they have
-- aside, and fetch the space from its beginning.
CREATE OR REPLACE FUNCTION foldback.new_lineage(space text)
RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    IF foldback.lock_space(space) IS NULL THEN
        RAISE 'there is no space %', space USING ERRCODE = 'no_data_found';
    END IF;
    RETURN foldback.found(space);
END $$;

-- The functions that follow are parts of those above. Do not call them.

-- Takes the space's lock, and returns its lineage; NULL if it is new.
CREATE OR REPLACE FUNCTION foldback.lock_space(space text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    founding json;
BEGIN
    -- With another level, reads after the lock would see the table as it was before the lock.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE 'the transaction must be READ COMMITTED' USING ERRCODE = 'active_sql_transaction';
    END IF;
    -- Two names with one hash wait for each other, and nothing worse.
    PERFORM pg_advisory_xact_lock(hashtextextended('foldback ' || space, 0));
    founding := foldback.founding(space);
    IF founding -> 'timeline' IS NOT NULL THEN
        RAISE 'foldback-server serves the space %, so a backend must not', space
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    RETURN founding ->> 'lineage';
END $$;

-- Returns what founded the space, or its newest lineage. Such rows have no replica, so the key of intents
-- finds them. Without MATERIALIZED, the planner may read the whole space from its end.
CREATE OR REPLACE FUNCTION foldback.founding(space text) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (WITH marks AS MATERIALIZED (
            SELECT d.position, d.founded FROM foldback.decision d
            WHERE d.space = founding.space AND d.replica IS NULL AND d.outcome = 'founded')
        SELECT founded FROM marks ORDER BY marks.position DESC LIMIT 1);
END $$;

CREATE OR REPLACE FUNCTION foldback.found(space text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    lineage CONSTANT text := replace(gen_random_uuid()::text, '-', '');
BEGIN
    INSERT INTO foldback.decision (space, position, ordinal, outcome, founded)
        SELECT found.space, coalesce(max(d.position), 0) + 1, 0, 'founded',
            json_build_object('lineage', lineage, 'by', 'backend')
        FROM foldback.decision d WHERE d.space = found.space;
    RETURN lineage;
END $$;

CREATE OR REPLACE FUNCTION foldback.decide(
    outcome text, format int[], effect json, bytes bytea, rejection json
) RETURNS bigint LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    -- The setting ends with the transaction, or with its savepoint, as the lock does.
    intent CONSTANT json := nullif(current_setting('foldback.intent', true), '');
    head bigint;
BEGIN
    IF intent IS NULL THEN
        RAISE 'no intent is to be decided in this transaction' USING
            ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'Call foldback.begin_intent first, and decide once, and only if it returned NULL.';
    END IF;
    PERFORM set_config('foldback.intent', '', true);
    SELECT max(d.position) INTO head FROM foldback.decision d WHERE d.space = intent ->> 'space';
    INSERT INTO foldback.decision (
            space, position, ordinal, outcome, replica, number, account, digest, format, effect, bytes,
            rejection)
        VALUES (intent ->> 'space', head + 1, 0, outcome, intent ->> 'replica',
            (intent ->> 'number')::bigint, intent ->> 'account', (intent ->> 'digest')::bigint, format,
            effect, bytes, rejection);
    RETURN head + 1;
END $$;

-- The least that roles need. Nobody needs UPDATE or DELETE.
--
-- foldback-server needs the table, and nothing else:
--     GRANT USAGE ON SCHEMA foldback TO foldback_server;
--     GRANT SELECT, INSERT ON foldback.decision TO foldback_server;
-- A backend needs the same, because the functions run with its rights, and the functions:
--     GRANT USAGE ON SCHEMA foldback TO shop;
--     GRANT SELECT, INSERT ON foldback.decision TO shop;
--     GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA foldback TO shop;
-- If users call the database themselves (Supabase, PostgREST), grant them nothing here. Write functions of
-- your own in another schema: SECURITY DEFINER, with a search_path of their own, and with the account from
-- the session (on Supabase `auth.uid()`), never from an argument.
REVOKE ALL ON SCHEMA foldback FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA foldback FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA foldback FROM PUBLIC;
