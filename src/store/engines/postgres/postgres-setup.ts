import { VfsError } from '../../../vfs/index.ts'
import { createForeignStoreError } from '../engine-errors.ts'
import { assertFormat } from '../store-format.ts'
import { COMMIT_FUNCTION } from './postgres-commit-function.ts'
import { APPEND_FUNCTION, SWEEP_FUNCTION } from './postgres-commit-parts.ts'
import type { PostgresConnection } from './postgres-connection.ts'
import { getRejectionState, toPostgresError } from './postgres-errors.ts'
import { DATABASE_IDENTITY } from './postgres-objects.ts'
import { qualify } from './postgres-schema.ts'
import {
  FUNCTIONS_VERSION,
  INCARNATION_FUNCTION,
  PUBLISH_FUNCTION,
  SETTLE_FUNCTION,
  TABLE_NAMES,
  TABLES,
} from './postgres-tables.ts'

/** Lock of those who create a home: "copp". */
const CREATION_LOCK = 0x636f7070
const MIN_SERVER_VERSION = 150_000
const INSUFFICIENT_PRIVILEGE = '42501'
const FUNCTIONS: readonly string[] = [
  APPEND_FUNCTION,
  SWEEP_FUNCTION,
  COMMIT_FUNCTION,
  SETTLE_FUNCTION,
  PUBLISH_FUNCTION,
  INCARNATION_FUNCTION,
]

/** Properties of an existing home. */
export interface PostgresHome {
  /** True if this role may only read, or the server is a standby. */
  readonly isReadOnly: boolean
  /** Identity of this home: another one at the same address has other pages under the same numbers. */
  readonly id: string
  /** Changes if the home is restored from a backup: it then has other pages under the same numbers, too. */
  readonly state: string
  /** Recorded place of large content; undefined if that is in the database. */
  readonly objects: string | undefined
  /** True if the home was restored elsewhere since it recorded them: the objects may belong to the original. */
  readonly isCopy: boolean
  /** False for a home of an earlier version, which has not recorded its database. */
  readonly hasOwner: boolean
  /** Version of its functions. */
  readonly functions: number
  /** Number of the time since the last crash; undefined if the home is read-only. */
  readonly incarnation: string | undefined
}

/**
 * Creates the tables of a home that is missing, and checks the format of one that exists. ENOTSUP for a later format,
 * for a schema of another program and for an old server; ENOENT if the home must exist.
 */
export async function setUpHome(connection: PostgresConnection, mustExist: boolean): Promise<PostgresHome> {
  const found = await findHome(connection)
  if (found !== undefined) {
    if (!found.isReadOnly && found.functions < FUNCTIONS_VERSION) await upgradeFunctions(connection)
    return found
  }
  const { label } = connection.address
  if (mustExist) {
    const detail = `there is no home in ${label}; create one with: coppice home create '${label}'`
    throw new VfsError('ENOENT', label, { op: 'open', detail })
  }
  await createHome(connection)
  return readProperties(connection)
}

/** Finds a home and checks its format; undefined if there is none. ENOTSUP as `setUpHome`. */
async function findHome(connection: PostgresConnection): Promise<PostgresHome | undefined> {
  const { label, schema } = connection.address
  const text = `select current_setting('server_version_num')::int,
    (select array_agg(relname::text) from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $1 and c.relkind in ('r', 'p', 'v', 'm'))`
  const [[version, names] = []] = await connection.read({ text }, [schema])
  if (Number(version) < MIN_SERVER_VERSION) {
    const detail = `the server of ${label} has version ${version}; homes need PostgreSQL 15 or later`
    throw new VfsError('ENOTSUP', label, { op: 'open', detail })
  }
  const tables = Array.isArray(names) ? names.map(String) : []
  if (tables.length === 0) return undefined
  if (TABLE_NAMES.some((name) => !tables.includes(name))) {
    throw createForeignStoreError(label, `schema ${schema}`, tables)
  }
  return readProperties(connection)
}

/** Reads the properties of a home. ENOTSUP for a later format. */
async function readProperties(connection: PostgresConnection): Promise<PostgresHome> {
  const { label, schema } = connection.address
  const text = qualify(
    `select f.value,
        i.value,
        o.value,
        concat_ws('-', pg_relation_filenode('S.pages'), (pg_control_checkpoint()).timeline_id),
        case when can_write then S.incarnation() end,
        v.value,
        d.value,
        ${DATABASE_IDENTITY}
      from S.home f left join S.home i on i.key = 'id' left join S.home o on o.key = 'objects'
        left join S.home v on v.key = 'functions' left join S.home d on d.key = 'database',
        (select has_table_privilege('S.journal', 'insert') and not pg_is_in_recovery()) r(can_write)
      where f.key = 'format'`,
    schema,
  )
  const [row = []] = await connection.read({ text })
  const [format, id, objects = null, state, incarnation = null, functions = null, recorded = null, own] = row
  assertFormat(label, Number(format))
  return {
    id: String(id),
    objects: objects === null ? undefined : String(objects),
    isCopy: recorded !== null && recorded !== own,
    hasOwner: recorded !== null,
    state: String(state),
    isReadOnly: incarnation === null,
    functions: Number(functions ?? 1),
    incarnation: incarnation === null ? undefined : String(incarnation),
  }
}

/** Creates the schema and everything in it. If another opener does so at once, the second finds it done. */
async function createHome(connection: PostgresConnection): Promise<void> {
  const { label, schema } = connection.address
  const script = `select pg_advisory_xact_lock(${CREATION_LOCK});
    ${qualify(['create schema if not exists "SCHEMA";', TABLES, ...FUNCTIONS].join(''), schema)}`
  try {
    await connection.runScript(script)
  } catch (error) {
    // 42P07, 42723: the table or function exists.
    const state = getRejectionState(error)
    if (state !== '42P07' && state !== '42723') throw toPostgresError('open', label, error)
  }
}

/** Adds the functions that this version calls to a home of an earlier one. ENOTSUP for a role that may not. */
async function upgradeFunctions(connection: PostgresConnection): Promise<void> {
  const { label, schema } = connection.address
  const functions = FUNCTIONS.join('').replaceAll('create function', 'create or replace function')
  const script = `select pg_advisory_xact_lock(${CREATION_LOCK});
    ${qualify(functions, schema)}
    ${qualify(`insert into S.home values ('functions', '${FUNCTIONS_VERSION}')`, schema)}
      on conflict (key) do update set value = excluded.value`
  try {
    await connection.runScript(script)
  } catch (error) {
    if (getRejectionState(error) !== INSUFFICIENT_PRIVILEGE) throw toPostgresError('open', label, error)
    const detail = `an earlier version created the home ${label}; open it once with this version as its owner, who may add functions`
    throw new VfsError('ENOTSUP', label, { op: 'open', detail, cause: error })
  }
}
