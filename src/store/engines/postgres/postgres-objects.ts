import { randomBytes } from 'node:crypto'
import { VfsError } from '../../../vfs/index.ts'
import { SEGMENT_FORMAT } from '../store-format.ts'
import type { PostgresConnection } from './postgres-connection.ts'
import { qualify } from './postgres-schema.ts'

/** Each home has its objects in a directory of its own: a collection deletes there what its home does not name. */
const OWN_DIRECTORY = /\/home-[0-9a-f]{16}(?=\?|$)/

/** SQL of the identity of a home's database. It changes when a dump is restored, not at a failover. */
export const DATABASE_IDENTITY = `(select concat_ws('-', (pg_control_system()).system_identifier,
  (select oid from pg_database where datname = current_database()), 'S.home'::regclass::oid))`

/** The objects of a home, as it records them, and where somebody wants them. */
export interface ObjectsRequest {
  readonly recorded: string | undefined
  readonly wanted: string
  /** True to take over objects that another database may use, or a copy of them. */
  readonly isClaimed: boolean
}

/** Returns the URL under which a user names recorded objects. */
function toUserObjects(recorded: string): string {
  return recorded.replace(OWN_DIRECTORY, '')
}

/** Returns the URL to record; undefined if the recorded one is what was wanted. */
export function chooseObjects({ recorded, wanted, isClaimed }: ObjectsRequest): string | undefined {
  if (recorded === undefined) return appendDirectory(wanted, `/home-${randomBytes(8).toString('hex')}`)
  if (!isClaimed) return undefined
  return appendDirectory(wanted, OWN_DIRECTORY.exec(recorded)?.[0] ?? '')
}

function appendDirectory(url: string, directory: string): string {
  return url.replace(/(?=\?|$)/, directory)
}

/**
 * Records where large content goes, for all who open the home, and raises its format. Returns what is recorded then:
 * another opener may have been first, unless it is claimed.
 */
export async function recordObjects(
  connection: PostgresConnection,
  objects: string,
  isClaimed: boolean,
): Promise<string> {
  const conflict = isClaimed ? 'do update set value = excluded.value' : 'do nothing'
  const text = qualify(
    `with added as (insert into S.home values ('objects', $1) on conflict (key) ${conflict} returning value),
      raised as (update S.home set value = '${SEGMENT_FORMAT}' where key = 'format' and exists (select from added)),
      owned as (insert into S.home select 'database', ${DATABASE_IDENTITY} from added
        on conflict (key) do update set value = excluded.value)
      select value from added union all
      select value from S.home where key = 'objects' and not exists (select from added)`,
    connection.address.schema,
  )
  const [[found] = []] = await connection.read({ text }, [objects])
  // Nothing is found if another opener recorded it after this statement began.
  return found === undefined ? recordObjects(connection, objects, isClaimed) : String(found)
}

/** Records the database as the one that owns the objects, for a home of an earlier version. */
export async function recordOwner(connection: PostgresConnection): Promise<void> {
  const text = `insert into S.home values ('database', ${DATABASE_IDENTITY}) on conflict do nothing`
  await connection.read({ text: qualify(text, connection.address.schema) })
}

/** Throws EINVAL if a home has its objects elsewhere: content that is there would be lost. */
export function assertSameObjects(label: string, recorded: string, wanted: string): void {
  if (recorded === wanted || toUserObjects(recorded) === wanted) return
  const detail = `the home ${label} has its large content in ${toUserObjects(recorded)}, not in ${wanted}; omit objects, or claim ${wanted} if that has a copy of it`
  throw new VfsError('EINVAL', label, { op: 'open', detail })
}

/** Returns why a restored copy of a home leaves the objects alone. */
export function describeCopy(label: string, recorded: string): string {
  const objects = toUserObjects(recorded)
  return `this database is a restored copy, and the objects may belong to the original; if nothing else uses them, run: coppice home create '${label}' --objects '${objects}' --claim`
}
