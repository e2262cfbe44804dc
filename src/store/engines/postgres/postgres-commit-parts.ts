import { CHANGE_LISTS, CHECK_LISTS, commitResults, REFUSED_STATE } from './postgres-commit-results.ts'

/** Appends the rows of a batch, after its checks one by one. Reports why it does not. Called by \`commit\` alone. */
export const APPEND_FUNCTION: string = `
  create function S.append(
    p_identity bigint, p_incarnation bigint, p_session text, p_epoch bigint,
    p_vault bigint, p_seq bigint, p_size int, p_keys text[], p_checks bigint[], p_changes bigint[], p_data bytea
  ) returns int language plpgsql as $$
  declare
    at int;
    c int;
    changed int;
    tail bigint;
  begin
    if p_incarnation is not null and
        not exists (select 1 from S.incarnations where number = p_incarnation) then
      return ${commitResults.crashed};
    end if;
    if p_session is not null then
      perform 1 from S.sessions where id = p_session and epoch = p_epoch for key share;
      if not found then return ${commitResults.fenced}; end if;
    end if;

    -- locked records: keys
    c := p_checks[1];
    if c > 0 then
      perform 1 from S.records where key = any(p_keys[1:c]) order by key for update;
    end if;

    -- expected records: keys; positions, lengths (-1: absent)
    at := ${CHECK_LISTS};
    c := p_checks[2];
    if c = 1 and p_checks[at+2] < 0 then
      -- Usually that there is no lease of the vault.
      if exists (select 1 from S.records where key = p_keys[p_checks[1]+1]) then
        return ${commitResults.refused};
      end if;
    elsif c > 0 then
      perform 1
        from unnest(p_keys[p_checks[1]+1:p_checks[1]+c], p_checks[at+1:at+c], p_checks[at+c+1:at+2*c]) e(key, start, size)
        left join S.records r on r.key = e.key
        where case when e.size < 0 then r.key is not null
          else r.bytes is distinct from substring(p_data from e.start::int for e.size::int) end;
      if found then return ${commitResults.refused}; end if;
    end if;
    at := at + 2 * c;

    -- required hashes: positions, lengths, blobs
    c := p_checks[3];
    if c > 0 then
      perform 1 from unnest(p_checks[at+1:at+c], p_checks[at+c+1:at+2*c], p_checks[at+2*c+1:at+3*c])
          q(start, size, blob)
        join S.hashes h on h.hash = substring(p_data from q.start::int for q.size::int) and h.blob = q.blob
        order by h.hash for key share of h;
      get diagnostics changed = row_count;
      if changed < c then return ${commitResults.refused}; end if;
    end if;

    if exists (select 1 from S.outcomes where identity = p_identity) then return ${commitResults.settled}; end if;

    -- the single row
    if p_vault is not null then
      select max(seq) into tail from S.journal where vault = p_vault;
      if tail >= p_seq then return ${commitResults.refused}; end if;
      if tail < p_seq - 1 then return ${commitResults.crashed}; end if;
      insert into S.journal (vault, seq, bytes) values (p_vault, p_seq, substring(p_data for p_size))
        on conflict do nothing;
      return case when found then ${commitResults.accepted} else ${commitResults.refused} end;
    end if;

    -- journals: vaults, first numbers; sorted
    at := ${CHANGE_LISTS};
    c := coalesce(p_changes[1], 0);
    if c = 0 then
      insert into S.outcomes (identity, is_done) values (p_identity, true);
      return ${commitResults.accepted};
    end if;
    for i in 1..c loop
      select max(seq) into tail from S.journal where vault = p_changes[at+i];
      if tail >= p_changes[at+c+i] then return ${commitResults.refused}; end if;
      if tail < p_changes[at+c+i] - 1 then return ${commitResults.crashed}; end if;
    end loop;
    at := at + 2 * c;

    -- rows: vaults, numbers, positions, lengths; sorted
    c := p_changes[2];
    insert into S.journal (vault, seq, bytes)
      select j.vault, j.seq, substring(p_data from j.start::int for j.size::int)
      from unnest(p_changes[at+1:at+c], p_changes[at+c+1:at+2*c], p_changes[at+2*c+1:at+3*c],
        p_changes[at+3*c+1:at+4*c]) j(vault, seq, start, size)
      on conflict do nothing;
    get diagnostics changed = row_count;
    if changed = c then return ${commitResults.accepted}; end if;
    if changed = 0 then return ${commitResults.refused}; end if;
    -- Rolls back the rows that are in.
    raise exception using errcode = '${REFUSED_STATE}', message = 'refused';
  end $$;
`

/** Removes the rows of a sweep. Returns the position after its lists. Called by \`commit\` alone. */
export const SWEEP_FUNCTION: string = `
  create function S.sweep(p_at int, p_changes bigint[], p_data bytea) returns int language plpgsql as $$
  declare
    at int := p_at;
    c int;
  begin
    -- swept pages: ids
    c := p_changes[3];
    if c > 0 then
      delete from S.pages where id = any(p_changes[at+1:at+c]);
      at := at + c;
    end if;

    -- swept hashes: positions, lengths, blobs
    c := p_changes[4];
    if c > 0 then
      delete from S.hashes h
        using unnest(p_changes[at+1:at+c], p_changes[at+c+1:at+2*c], p_changes[at+2*c+1:at+3*c]) q(start, size, blob)
        where h.hash = substring(p_data from q.start::int for q.size::int) and h.blob = q.blob;
      at := at + 3 * c;
    end if;

    -- swept blobs: positions, lengths, blobs. Locked first: the next statement then sees who reused one.
    c := p_changes[5];
    if c > 0 then
      perform 1 from S.blobs where id = any(p_changes[at+2*c+1:at+3*c]) order by id for update;
      delete from S.blobs b
        using unnest(p_changes[at+1:at+c], p_changes[at+c+1:at+2*c], p_changes[at+2*c+1:at+3*c]) q(start, size, blob)
        where b.id = q.blob and not exists (
          select 1 from S.hashes h
          where h.hash = substring(p_data from q.start::int for q.size::int) and h.blob = q.blob);
      at := at + 3 * c;
    end if;

    -- swept journals: vaults, last numbers
    c := p_changes[6];
    if c > 0 then
      delete from S.journal j using unnest(p_changes[at+1:at+c], p_changes[at+c+1:at+2*c]) q(vault, last)
        where j.vault = q.vault and j.seq <= q.last;
      delete from S.outcomes where time < clock_timestamp() - interval '1 day';
      at := at + 2 * c;
    end if;
    return at;
  end $$;
`
