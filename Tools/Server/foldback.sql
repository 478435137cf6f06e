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
    space      text   NOT NULL,
    position   bigint NOT NULL,  -- of the group of decisions, from 1 and without gaps
    ordinal    int    NOT NULL,  -- the place in the group, from 0
    outcome    text   NOT NULL CHECK (outcome IN ('accepted', 'reworded', 'rejected', 'founded', 'lost')),
    replica    text,             -- the intent's id; NULL for 'founded' and 'lost'
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
