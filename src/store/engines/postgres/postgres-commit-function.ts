import { CHANGE_LISTS, commitResults, getTurnKey, REFUSED_STATE } from './postgres-commit-results.ts'

const IS_IN_INCARNATION = 'exists (select from S.incarnations where number = p_incarnation)'
const IS_IN_SESSION = `exists (
  select from S.sessions where id = p_session and epoch = p_epoch for key share)`

/**
 * Commits a batch in one statement. A single row of a journal is `p_vault`, `p_seq` and the first `p_size` bytes of
 * `p_data`. Checks and other changes are lists, or null: the lengths of all lists, then the columns of each list.
 * Positions and lengths refer to `p_data`.
 *
 * Locks are taken in one order: the identity, the turns of its vaults, the session, records by key, required hashes, the
 * journal, pages, blobs, hashes, records. READ COMMITTED: each statement sees what was committed while it waited.
 *
 * Each expression takes the server a microsecond and each statement ten, so the usual commit meets few of them.
 */
export const COMMIT_FUNCTION: string = `
  create function S.commit(
    p_identity bigint, p_durable boolean, p_incarnation bigint, p_session text, p_epoch bigint,
    p_vault bigint, p_seq bigint, p_size int, p_keys text[], p_checks bigint[], p_changes bigint[], p_data bytea
  ) returns int language plpgsql set enable_seqscan = off as $$
  declare
    locked text;
    result int;
    at int;
    k int;
    c int;
    changed int;
  begin
    -- An assignment takes half the time of a statement. Without a vault, the second function does nothing.
    locked := concat(pg_advisory_xact_lock(p_identity), pg_advisory_xact_lock_shared(${getTurnKey('p_vault')}));
    if p_vault is null then
      for i in 1..coalesce(p_changes[1], 0) loop
        perform pg_advisory_xact_lock_shared(${getTurnKey(`p_changes[${CHANGE_LISTS}+i]`)});
      end loop;
    end if;
    if p_durable = (current_setting('synchronous_commit') = 'off') then
      perform set_config('synchronous_commit', case when p_durable then 'on' else 'off' end, true);
    end if;

    -- The usual commit is a row after another one, and nothing is against it.
    if p_session is null and p_incarnation is null then
      ${createAppend()}
    elsif p_incarnation is null then
      ${createAppend(IS_IN_SESSION)}
    elsif p_session is null then
      ${createAppend(IS_IN_INCARNATION)}
    else
      ${createAppend(IS_IN_INCARNATION, IS_IN_SESSION)}
    end if;
    if not found then
      result := S.append(p_identity, p_incarnation, p_session, p_epoch,
        p_vault, p_seq, p_size, p_keys, p_checks, p_changes, p_data);
      if result <> ${commitResults.accepted} then return result; end if;
    end if;
    if p_changes is null then return ${commitResults.accepted}; end if;
    at := ${CHANGE_LISTS} + 2 * p_changes[1] + 4 * p_changes[2];
    if p_changes[3] + p_changes[4] + p_changes[5] + p_changes[6] > 0 then
      at := S.sweep(at, p_changes, p_data);
    end if;

    -- pages: ids, positions, lengths
    c := p_changes[7];
    if c > 0 then
      insert into S.pages (id, bytes)
        select q.id, substring(p_data from q.start::int for q.size::int)
        from unnest(p_changes[at+1:at+c], p_changes[at+c+1:at+2*c], p_changes[at+2*c+1:at+3*c]) q(id, start, size)
        on conflict (id) do update set bytes = excluded.bytes;
      at := at + 3 * c;
    end if;

    -- blobs: ids, positions, lengths
    c := p_changes[8];
    if c = 1 then
      insert into S.blobs (id, bytes)
        values (p_changes[at+1], substring(p_data from p_changes[at+2]::int for p_changes[at+3]::int))
        on conflict (id) do update set bytes = excluded.bytes;
      at := at + 3;
    elsif c > 1 then
      insert into S.blobs (id, bytes)
        select q.id, substring(p_data from q.start::int for q.size::int)
        from unnest(p_changes[at+1:at+c], p_changes[at+c+1:at+2*c], p_changes[at+2*c+1:at+3*c]) q(id, start, size)
        on conflict (id) do update set bytes = excluded.bytes;
      at := at + 3 * c;
    end if;

    -- hashes: positions, lengths, blobs
    c := p_changes[9];
    if c = 1 then
      insert into S.hashes (hash, blob)
        values (substring(p_data from p_changes[at+1]::int for p_changes[at+2]::int), p_changes[at+3])
        on conflict (hash) do update set blob = excluded.blob;
      at := at + 3;
    elsif c > 1 then
      insert into S.hashes (hash, blob)
        select substring(p_data from q.start::int for q.size::int), q.blob
        from unnest(p_changes[at+1:at+c], p_changes[at+c+1:at+2*c], p_changes[at+2*c+1:at+3*c]) q(start, size, blob)
        on conflict (hash) do update set blob = excluded.blob;
      at := at + 3 * c;
    end if;

    if p_changes[10] + p_changes[11] = 0 then return ${commitResults.accepted}; end if;

    -- records that must be new: keys; positions, lengths
    k := coalesce(p_checks[1] + p_checks[2], 0);
    c := p_changes[10];
    if c > 0 then
      insert into S.records (key, bytes)
        select q.key, substring(p_data from q.start::int for q.size::int)
        from unnest(p_keys[k+1:k+c], p_changes[at+1:at+c], p_changes[at+c+1:at+2*c]) q(key, start, size)
        on conflict do nothing;
      get diagnostics changed = row_count;
      if changed < c then raise exception using errcode = '${REFUSED_STATE}', message = 'refused'; end if;
      k := k + c;
      at := at + 2 * c;
    end if;

    -- other records: keys; positions, lengths (-1: deleted)
    c := p_changes[11];
    if c > 0 then
      delete from S.records r
        using unnest(p_keys[k+1:k+c], p_changes[at+c+1:at+2*c]) q(key, size)
        where r.key = q.key and q.size < 0;
      insert into S.records (key, bytes)
        select q.key, substring(p_data from q.start::int for q.size::int)
        from unnest(p_keys[k+1:k+c], p_changes[at+1:at+c], p_changes[at+c+1:at+2*c]) q(key, start, size)
        where q.size >= 0
        on conflict (key) do update set bytes = excluded.bytes;
    end if;
    return ${commitResults.accepted};
  end $$;
`

/** Returns the statement that appends a single row, if the row before it is there and all conditions hold. */
function createAppend(...conditions: readonly string[]): string {
  const outcome = 'not exists (select from S.outcomes where identity = p_identity)'
  return `insert into S.journal (vault, seq, bytes)
        select p_vault, p_seq, substring(p_data for p_size) from S.journal
        where ${['p_checks is null', 'vault = p_vault', 'seq = p_seq - 1', outcome, ...conditions].join(' and ')}
        on conflict do nothing;`
}
