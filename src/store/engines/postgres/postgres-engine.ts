import { globSync } from 'node:fs'
import { join } from 'node:path'
import { VfsError } from '../../../vfs/index.ts'
import type {
  Batch,
  BlobSize,
  Durability,
  Engine,
  EngineUsage,
  JournalRow,
  MaybePromise,
  ReadBatch,
  ReadBatchResult,
  RecordRow,
} from '../../engine.ts'
import { LocalCache } from '../../local-cache.ts'
import { createSegmentName } from '../../segments/segment-row.ts'
import type { SegmentStore } from '../../segments/segment-store.ts'
import { PostgresChanges } from './postgres-changes.ts'
import { PostgresCommits } from './postgres-commits.ts'
import { PostgresConnection, type ReadRows, type SqlRow } from './postgres-connection.ts'
import { PostgresHints } from './postgres-hints.ts'
import { PostgresIncarnations } from './postgres-incarnations.ts'
import {
  assertSameObjects,
  chooseObjects,
  describeCopy,
  recordObjects,
  recordOwner,
} from './postgres-objects.ts'
import { PostgresOutcomes } from './postgres-outcomes.ts'
import { EMPTY_READ, readBatch, toBytes } from './postgres-reads.ts'
import { PostgresSessionRegistry } from './postgres-session-registry.ts'
import { type PostgresHome, setUpHome } from './postgres-setup.ts'
import { createStatements, type PostgresStatements } from './postgres-statements.ts'
import { PostgresTurns } from './postgres-turns.ts'
import { type Freshness, parsePostgresUrl } from './postgres-url.ts'

export interface PostgresEngineOptions {
  /** `postgres://user@host/database?schema=name`. The password may also come from PGPASSWORD or a password file. */
  readonly url: string
  /**
   * `full` waits for the database's disk; the others survive the end of this process, but not a crash of the database.
   * @default 'full'
   */
  readonly durability?: Durability
  /** `notified` when neither this nor the URL has one. */
  readonly freshness?: Freshness
  /** Directory for the cache of this machine; nothing is cached between processes when absent. */
  readonly cacheDirectory?: string
  /**
   * Records the URL below which large content goes, for all who open the home. EINVAL if it has another place already,
   * the error of that place if it cannot be used.
   */
  readonly objects?: string
  /**
   * True to use `objects` from now on, which nothing else uses and which has all objects of the home, such as after a
   * restore.
   */
  readonly claimObjects?: boolean
  /**
   * Opens the place that the home has recorded. Without it, a home that has one is ENOTSUP.
   * @param readOnlyReason as in `SegmentStore`.
   */
  readonly openObjects?: (objects: string, readOnlyReason?: string) => SegmentStore
  /** True to throw ENOENT instead of creating a missing home. */
  readonly mustExist?: boolean
  /** Once it aborts, nothing waits longer than some seconds for a server that does not answer. */
  readonly interruption?: AbortSignal
}

/** A home in PostgreSQL, for any number of machines. Needs the package `pg`, and PostgreSQL 15 or later. */
export class PostgresEngine implements Engine {
  readonly name = 'postgres'
  readonly isReadOnly: boolean
  readonly sessionRegistry: PostgresSessionRegistry
  readonly localCache?: LocalCache
  readonly segments?: SegmentStore
  readonly #connection: PostgresConnection
  readonly #statements: PostgresStatements
  readonly #outcomes: PostgresOutcomes
  readonly #incarnations: PostgresIncarnations
  readonly #commits: PostgresCommits
  readonly #turns: PostgresTurns
  readonly #changes: PostgresChanges
  readonly #hints: PostgresHints
  readonly #isFullyDurable: boolean

  private constructor(
    connection: PostgresConnection,
    home: PostgresHome,
    { durability = 'full', freshness, cacheDirectory, openObjects }: PostgresEngineOptions,
  ) {
    if (cacheDirectory !== undefined) this.localCache = openCache(cacheDirectory, home)
    if (home.objects !== undefined) {
      if (openObjects === undefined) throw createObjectsError(connection.address.label, home.objects)
      const { label } = connection.address
      this.segments = openObjects(home.objects, home.isCopy ? describeCopy(label, home.objects) : undefined)
    }
    this.#connection = connection
    this.isReadOnly = home.isReadOnly
    this.#isFullyDurable = durability === 'full'
    const statements = createStatements(connection.address.schema)
    this.#statements = statements
    this.#outcomes = new PostgresOutcomes(connection)
    this.#hints = new PostgresHints(connection)
    this.#incarnations = new PostgresIncarnations(connection, home.incarnation)
    this.sessionRegistry = new PostgresSessionRegistry(connection, home.isReadOnly)
    this.#commits = new PostgresCommits({
      connection,
      statement: statements.commit,
      outcomes: this.#outcomes,
      incarnations: this.#incarnations,
      registry: this.sessionRegistry,
      isFullyDurable: this.#isFullyDurable,
    })
    this.#turns = new PostgresTurns(connection)
    this.#changes = new PostgresChanges(
      this.#readRows,
      freshness ?? connection.address.freshness ?? 'notified',
    )
  }

  /**
   * Opens a home, and creates it if it is missing. ENOTSUP if the package `pg` is missing, the server is too old, the
   * schema is another program's or the home has a later format. EINVAL for the URL, or another place of large content.
   * EACCES, ENOENT or EUNAVAILABLE if the database refuses, is missing or cannot be reached.
   */
  static async open(options: PostgresEngineOptions): Promise<PostgresEngine> {
    const connection = await PostgresConnection.create(parsePostgresUrl(options.url), options.interruption)
    try {
      const home = await setUpHome(connection, options.mustExist === true)
      return new PostgresEngine(connection, await setUpObjects(connection, home, options), options)
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  async readPage(id: number): Promise<Uint8Array | undefined> {
    return (await this.readBatch({ ...EMPTY_READ, pages: [id] })).pages[0]
  }

  async readBlob(id: number): Promise<Uint8Array | undefined> {
    return (await this.readBatch({ ...EMPTY_READ, blobs: [id] })).blobs[0]
  }

  async findBlob(hash: Uint8Array): Promise<number | undefined> {
    return (await this.readBatch({ ...EMPTY_READ, hashes: [hash] })).hashes[0]
  }

  async readRecord(key: string): Promise<Uint8Array | undefined> {
    return (await this.readBatch({ ...EMPTY_READ, records: [key] })).records[0]
  }

  async readBatch(batch: ReadBatch): Promise<ReadBatchResult> {
    for (const { vault } of batch.journals) {
      const noted = this.#incarnations.note(vault)
      if (noted !== undefined) await noted
    }
    return readBatch(this.#readRows, this.#statements.readBatch, batch)
  }

  async listRecords(prefix: string): Promise<RecordRow[]> {
    const rows = await this.#readRows(this.#statements.listRecords, [prefix, `${prefix}\u{10ffff}`])
    return rows.map(([key, bytes]) => ({ key: String(key), bytes: toBytes(bytes) }))
  }

  async readJournal(vault: number, after: number, limit: number): Promise<readonly JournalRow[]> {
    return (await this.readBatch({ ...EMPTY_READ, journals: [{ vault, after, limit }] })).journals[0] ?? []
  }

  async listPages(after: number, limit: number): Promise<number[]> {
    return toIds(await this.#readRows(this.#statements.listPages, [after, limit]))
  }

  async listBlobs(after: number, limit: number): Promise<number[]> {
    return toIds(await this.#readRows(this.#statements.listBlobs, [after, limit]))
  }

  async listBlobSizes(after: number, limit: number): Promise<BlobSize[]> {
    const rows = await this.#readRows(this.#statements.listBlobSizes, [after, limit])
    return rows.map(([id, bytes]) => ({ id: Number(id), bytes: Number(bytes) }))
  }

  async usage(): Promise<EngineUsage> {
    const [row = []] = await this.#readRows(this.#statements.usage)
    const [pages = 0, pageBytes = 0, blobs = 0, blobBytes = 0, rows = 0, rowBytes = 0, total = 0] =
      row.map(Number)
    return {
      pages: { count: pages, bytes: pageBytes },
      blobs: { count: blobs, bytes: blobBytes },
      journal: { count: rows, bytes: rowBytes },
      totalBytes: total,
    }
  }

  changeCount(vault?: number): MaybePromise<number> {
    const listener = {
      onHint: (vaults: readonly number[]) => this.#changes.add(vaults),
      onLoss: () => this.#changes.expire(),
    }
    return this.#changes.read(vault, () => this.#hints.listen(listener))
  }

  expireChangeCount(): void {
    this.#changes.expire()
  }

  takeTurn(vault: number): Promise<AsyncDisposable | undefined> {
    return this.#turns.take(vault)
  }

  async commit(batch: Batch): Promise<boolean> {
    if (this.isReadOnly) throw createReadOnlyError(this.#connection.address.label)
    const isAccepted = await this.#commits.commit(batch, this.#turns.find(batch))
    // What has no row in a journal is seen by others after a second.
    if (isAccepted) this.#hints.announce(batch.journal?.map(({ vault }) => vault) ?? [])
    return isAccepted
  }

  async sync(): Promise<void> {
    if (this.#isFullyDurable || this.isReadOnly) return
    if (!this.#outcomes.areSettled) await this.#outcomes.settleAll()
    // Not in a turn: it is a transaction of its own.
    await this.#connection.read(this.#statements.sync)
  }

  async close(): Promise<void> {
    this.localCache?.[Symbol.dispose]()
    await this.segments?.close()
    await this.#hints.close()
    await this.#turns.close()
    await this.#connection.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Reads after the outcome of every lost commit is decided. */
  readonly #readRows: ReadRows = async (statement, values) => {
    if (!this.#outcomes.areSettled) await this.#outcomes.settleAll()
    return (await this.#turns.read(statement, values)) ?? this.#connection.read(statement, values)
  }
}

/** Records the place of large content, if it is new, after a check that it can be used. Errors as `open`. */
async function setUpObjects(
  connection: PostgresConnection,
  home: PostgresHome,
  { objects: wanted, claimObjects = false, openObjects }: PostgresEngineOptions,
): Promise<PostgresHome> {
  if (home.objects !== undefined && !home.hasOwner && !home.isReadOnly) await recordOwner(connection)
  if (wanted === undefined) return home
  const { label } = connection.address
  const chosen = chooseObjects({ recorded: home.objects, wanted, isClaimed: claimObjects })
  if (chosen !== undefined && openObjects !== undefined) await assertUsable(openObjects(chosen))
  const objects = chosen === undefined ? home.objects : await recordObjects(connection, chosen, claimObjects)
  if (objects !== undefined) assertSameObjects(label, objects, wanted)
  return { ...home, objects, isCopy: chosen === undefined && home.isCopy }
}

/** Stores, lists and deletes a segment. Throws the error of the first that fails. */
async function assertUsable(store: SegmentStore): Promise<void> {
  const name = createSegmentName()
  try {
    await store.put(name, [new Uint8Array(1)])
    await store.list()
    await store.delete(name)
  } finally {
    await store.close()
  }
}

function createReadOnlyError(label: string): VfsError {
  const detail = `this role may only read the home ${label}, or its server is a standby`
  return new VfsError('EROFS', label, { op: 'commit', detail })
}

function createObjectsError(label: string, objects: string): VfsError {
  const detail = `the home ${label} has its large content in ${objects}, which this program cannot open`
  return new VfsError('ENOTSUP', label, { op: 'open', detail })
}

function toIds(rows: readonly SqlRow[]): number[] {
  return rows.map(([id]) => Number(id))
}

/** Opens the cache of a home, and removes those of its earlier states, which nobody reads any more. */
function openCache(directory: string, { id, state }: PostgresHome): LocalCache {
  const file = join(directory, `cache-${id}-${state}.db`)
  for (const other of globSync(`cache-${id}-*.db`, { cwd: directory }).map((name) => join(directory, name)))
    if (other !== file) LocalCache.remove(other)
  return new LocalCache({ file })
}
