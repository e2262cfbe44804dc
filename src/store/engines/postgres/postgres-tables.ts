import { FIRST_FORMAT } from '../store-format.ts'

/**
 * Version of the functions of a home, raised with any change of them. They are added beside those that earlier programs
 * call, which may still be in use on other machines.
 */
export const FUNCTIONS_VERSION: number = 2

/** Tables of a home. `S` stands for the schema. */
export const TABLES: string = `
  create table S.home (key text primary key, value text not null);
  create table S.pages (id bigint primary key, bytes bytea not null);
  create table S.blobs (id bigint primary key, bytes bytea not null);
  create table S.hashes (hash bytea primary key, blob bigint not null);
  create table S.records (key text collate "C" primary key, bytes bytea not null) with (fillfactor = 70);
  create table S.journal (vault bigint, seq bigint, bytes bytea not null, primary key (vault, seq));
  create table S.sessions (
    id text primary key,
    text text not null,
    time timestamptz not null,
    epoch bigint generated always as identity
  ) with (fillfactor = 50);
  create table S.outcomes (
    identity bigint primary key,
    is_done boolean not null,
    time timestamptz not null default clock_timestamp()
  );
  -- PostgreSQL empties an unlogged table when it recovers from a crash, which may have taken the last commits.
  create unlogged table S.incarnations (number bigint not null);
  alter table S.pages alter column bytes set storage external;
  alter table S.blobs alter column bytes set storage external;
  insert into S.home values
    ('format', '${FIRST_FORMAT}'), ('functions', '${FUNCTIONS_VERSION}'), ('id', gen_random_uuid()::text);
`

/** Names of the tables: a schema that has tables, but not all of these, belongs to another program. */
export const TABLE_NAMES: readonly string[] = [
  'blobs',
  'hashes',
  'home',
  'incarnations',
  'journal',
  'outcomes',
  'pages',
  'records',
  'sessions',
]

/**
 * Finds out whether a commit was done whose answer was lost, and makes sure that it never is done later: its
 * statement may still be on the way. Waits while it runs. Null if the journal row was pruned meanwhile.
 */
export const SETTLE_FUNCTION = `
  create function S.settle(p_identity bigint, p_vault bigint, p_seq bigint, p_bytes bytea)
  returns boolean language plpgsql as $$
  declare
    stored bytea;
    done boolean;
  begin
    perform pg_advisory_xact_lock(p_identity);
    if p_vault is not null then
      select bytes into stored from S.journal where vault = p_vault and seq = p_seq;
      if stored = p_bytes then return true; end if;
      if stored is null and exists (select 1 from S.journal where vault = p_vault and seq > p_seq) then
        return null;
      end if;
    end if;
    insert into S.outcomes (identity, is_done) values (p_identity, false) on conflict do nothing;
    select is_done into done from S.outcomes where identity = p_identity;
    return done;
  end $$;
`

/** Returns the number of the time since the last crash; chooses one if there is none yet. */
export const INCARNATION_FUNCTION = `
  create function S.incarnation() returns bigint language plpgsql as $$
  declare
    current bigint;
  begin
    select number into current from S.incarnations;
    if found then return current; end if;
    lock table S.incarnations in exclusive mode;
    insert into S.incarnations
      select (random() * 1e15)::bigint where not exists (select 1 from S.incarnations);
    select number into current from S.incarnations;
    return current;
  end $$;
`

/** Publishes the entry of a session. A new epoch means that the entry was removed since the last time. */
export const PUBLISH_FUNCTION = `
  create function S.publish(p_id text, p_text text) returns bigint language plpgsql as $$
  declare
    current bigint;
  begin
    perform set_config('synchronous_commit', 'off', true);
    insert into S.sessions (id, text, time) values (p_id, p_text, clock_timestamp())
      on conflict (id) do update set text = excluded.text, time = excluded.time
      returning epoch into current;
    return current;
  end $$;
`
