/** Results of the commit function. */
export const commitResults = {
  refused: 0,
  accepted: 1,
  /** A collection removed the session: what it read may be gone. */
  fenced: 2,
  /** Its outcome was looked up before it arrived, so it must not be done. */
  settled: 3,
  /** The database may have lost earlier rows of the journal in a crash. */
  crashed: 4,
} as const

/** State of a refusal after the first change: the transaction rolls back. */
export const REFUSED_STATE = 'CP001'

/** Number of counts at the start of the numbers: one for each list, in the order in which they are read. */
const SECTION_COUNT = 13

/**
 * Commits a batch in one statement. Locks are taken in one order: the session, records by key, required hashes, the
 * journal, pages, blobs, hashes, records. `p_numbers` has a count for each list, then the columns of each list.
 * Positions and lengths refer to `p_data`. READ COMMITTED: each statement sees what was committed while it waited.
 */
export const COMMIT_FUNCTION: string = `
  create function S.commit(
    p_identity bigint, p_durable boolean, p_incarnation bigint, p_session text, p_epoch bigint,
    p_keys text[], p_numbers bigint[], p_data bytea
  ) returns int language plpgsql set enable_seqscan = off as $$
  declare
    at int := ${SECTION_COUNT};
    k int := 0;
    c int;
    changed int;
    tail bigint;
  begin
    perform pg_advisory_xact_lock(p_identity);
    if p_durable = (current_setting('synchronous_commit') = 'off') then
      perform set_config('synchronous_commit', case when p_durable then 'on' else 'off' end, true);
    end if;
    if p_incarnation is not null and
        not exists (select 1 from S.incarnations where number = p_incarnation) then
      return ${commitResults.crashed};
    end if;
    if p_session is not null then
      perform 1 from S.sessions where id = p_session and epoch = p_epoch for key share;
      if not found then return ${commitResults.fenced}; end if;
    end if;

    -- locked records: keys
    c := p_numbers[1];
    if c > 0 then
      perform 1 from S.records where key = any(p_keys[1:c]) order by key for update;
      k := c;
    end if;

    -- expected records: keys; positions, lengths (-1: absent)
    c := p_numbers[2];
    if c = 1 and p_numbers[at+2] < 0 then
      -- Usually that there is no lease of the vault.
      perform 1 from S.records where key = p_keys[k+1];
      if found then return ${commitResults.refused}; end if;
      k := k + 1;
      at := at + 2;
    elsif c > 0 then
      perform 1 from unnest(p_keys[k+1:k+c], p_numbers[at+1:at+c], p_numbers[at+c+1:at+2*c]) e(key, start, size)
        left join S.records r on r.key = e.key
        where case when e.size < 0 then r.key is not null
          else r.bytes is distinct from substring(p_data from e.start::int for e.size::int) end;
      if found then return ${commitResults.refused}; end if;
      k := k + c;
      at := at + 2 * c;
    end if;

    -- required hashes: positions, lengths, blobs
    c := p_numbers[3];
    if c > 0 then
      perform 1 from unnest(p_numbers[at+1:at+c], p_numbers[at+c+1:at+2*c], p_numbers[at+2*c+1:at+3*c])
          q(start, size, blob)
        join S.hashes h on h.hash = substring(p_data from q.start::int for q.size::int) and h.blob = q.blob
        order by h.hash for key share of h;
      get diagnostics changed = row_count;
      if changed < c then return ${commitResults.refused}; end if;
      at := at + 3 * c;
    end if;

    -- journal: vaults, numbers, positions, lengths; sorted. Usually a single row, in a single statement.
    c := p_numbers[4];
    if c = 1 then
      insert into S.journal (vault, seq, bytes)
        select p_numbers[at+1], p_numbers[at+2], substring(p_data from p_numbers[at+3]::int for p_numbers[at+4]::int)
        where coalesce((select max(seq) from S.journal where vault = p_numbers[at+1]) = p_numbers[at+2] - 1, true)
          and not exists (select 1 from S.outcomes where identity = p_identity)
        on conflict do nothing;
    elsif c > 1 then
      for i in 1..c loop
        continue when i > 1 and p_numbers[at+i] = p_numbers[at+i-1];
        select max(seq) into tail from S.journal where vault = p_numbers[at+i];
        if tail >= p_numbers[at+c+i] then return ${commitResults.refused}; end if;
        if tail < p_numbers[at+c+i] - 1 then return ${commitResults.crashed}; end if;
      end loop;
      insert into S.journal (vault, seq, bytes)
        select j.vault, j.seq, substring(p_data from j.start::int for j.size::int)
        from unnest(p_numbers[at+1:at+c], p_numbers[at+c+1:at+2*c], p_numbers[at+2*c+1:at+3*c],
          p_numbers[at+3*c+1:at+4*c]) j(vault, seq, start, size)
        where not exists (select 1 from S.outcomes where identity = p_identity)
        on conflict do nothing;
    else
      insert into S.outcomes (identity, is_done) values (p_identity, true) on conflict do nothing;
    end if;
    get diagnostics changed = row_count;
    if changed < greatest(c, 1) then
      if exists (select 1 from S.outcomes where identity = p_identity) then return ${commitResults.settled}; end if;
      select max(seq) into tail from S.journal where vault = p_numbers[at+1];
      if c = 1 and tail < p_numbers[at+2] - 1 then return ${commitResults.crashed}; end if;
      if c = 1 then return ${commitResults.refused}; end if;
      -- Rolls back the rows that are in.
      raise exception using errcode = '${REFUSED_STATE}', message = 'refused';
    end if;
    at := at + 4 * c;
    if at = array_length(p_numbers, 1) then return ${commitResults.accepted}; end if;

    -- swept pages: ids
    c := p_numbers[5];
    if c > 0 then
      delete from S.pages where id = any(p_numbers[at+1:at+c]);
      at := at + c;
    end if;

    -- swept hashes: positions, lengths, blobs
    c := p_numbers[6];
    if c > 0 then
      delete from S.hashes h
        using unnest(p_numbers[at+1:at+c], p_numbers[at+c+1:at+2*c], p_numbers[at+2*c+1:at+3*c]) q(start, size, blob)
        where h.hash = substring(p_data from q.start::int for q.size::int) and h.blob = q.blob;
      at := at + 3 * c;
    end if;

    -- swept blobs: positions, lengths, blobs. Locked first: the next statement then sees who reused one.
    c := p_numbers[7];
    if c > 0 then
      perform 1 from S.blobs where id = any(p_numbers[at+2*c+1:at+3*c]) order by id for update;
      delete from S.blobs b
        using unnest(p_numbers[at+1:at+c], p_numbers[at+c+1:at+2*c], p_numbers[at+2*c+1:at+3*c]) q(start, size, blob)
        where b.id = q.blob and not exists (
          select 1 from S.hashes h
          where h.hash = substring(p_data from q.start::int for q.size::int) and h.blob = q.blob);
      at := at + 3 * c;
    end if;

    -- swept journals: vaults, last numbers
    c := p_numbers[8];
    if c > 0 then
      delete from S.journal j using unnest(p_numbers[at+1:at+c], p_numbers[at+c+1:at+2*c]) q(vault, last)
        where j.vault = q.vault and j.seq <= q.last;
      delete from S.outcomes where time < clock_timestamp() - interval '1 day';
      at := at + 2 * c;
    end if;

    -- pages: ids, positions, lengths
    c := p_numbers[9];
    if c > 0 then
      insert into S.pages (id, bytes)
        select q.id, substring(p_data from q.start::int for q.size::int)
        from unnest(p_numbers[at+1:at+c], p_numbers[at+c+1:at+2*c], p_numbers[at+2*c+1:at+3*c]) q(id, start, size)
        on conflict (id) do update set bytes = excluded.bytes;
      at := at + 3 * c;
    end if;

    -- blobs: ids, positions, lengths
    c := p_numbers[10];
    if c = 1 then
      insert into S.blobs (id, bytes)
        values (p_numbers[at+1], substring(p_data from p_numbers[at+2]::int for p_numbers[at+3]::int))
        on conflict (id) do update set bytes = excluded.bytes;
      at := at + 3;
    elsif c > 1 then
      insert into S.blobs (id, bytes)
        select q.id, substring(p_data from q.start::int for q.size::int)
        from unnest(p_numbers[at+1:at+c], p_numbers[at+c+1:at+2*c], p_numbers[at+2*c+1:at+3*c]) q(id, start, size)
        on conflict (id) do update set bytes = excluded.bytes;
      at := at + 3 * c;
    end if;
    if at = array_length(p_numbers, 1) then return ${commitResults.accepted}; end if;

    -- hashes: positions, lengths, blobs
    c := p_numbers[11];
    if c > 0 then
      insert into S.hashes (hash, blob)
        select substring(p_data from q.start::int for q.size::int), q.blob
        from unnest(p_numbers[at+1:at+c], p_numbers[at+c+1:at+2*c], p_numbers[at+2*c+1:at+3*c]) q(start, size, blob)
        on conflict (hash) do update set blob = excluded.blob;
      at := at + 3 * c;
    end if;

    -- records that must be new: keys; positions, lengths
    c := p_numbers[12];
    if c > 0 then
      insert into S.records (key, bytes)
        select q.key, substring(p_data from q.start::int for q.size::int)
        from unnest(p_keys[k+1:k+c], p_numbers[at+1:at+c], p_numbers[at+c+1:at+2*c]) q(key, start, size)
        on conflict do nothing;
      get diagnostics changed = row_count;
      if changed < c then raise exception using errcode = '${REFUSED_STATE}', message = 'refused'; end if;
      k := k + c;
      at := at + 2 * c;
    end if;

    -- other records: keys; positions, lengths (-1: deleted)
    c := p_numbers[13];
    if c > 0 then
      delete from S.records r
        using unnest(p_keys[k+1:k+c], p_numbers[at+c+1:at+2*c]) q(key, size)
        where r.key = q.key and q.size < 0;
      insert into S.records (key, bytes)
        select q.key, substring(p_data from q.start::int for q.size::int)
        from unnest(p_keys[k+1:k+c], p_numbers[at+1:at+c], p_numbers[at+c+1:at+2*c]) q(key, start, size)
        where q.size >= 0
        on conflict (key) do update set bytes = excluded.bytes;
    end if;
    return ${commitResults.accepted};
  end $$;
`
