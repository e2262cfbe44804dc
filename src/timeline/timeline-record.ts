import {
  type FileContents,
  findRefMoves,
  listRefFiles,
  MAX_PACKED_BYTES,
  type RefMove,
} from '../git-files/index.ts'
import {
  findEntry,
  type LinkEntry,
  linkEntry,
  listNames,
  putEntry,
  readEntry,
  removeEntry,
  type TreeFiles,
} from '../workspace/link/index.ts'
import type { TimelineCall } from './events/index.ts'

const LATEST = '/now'
const RECORDS = '/records'
const RECORD_FILE = 'record.json'
const NUMBER_DIGITS = 8
const PRIVATE_ATTRIBUTES = { mode: 0o600, uid: 0, gid: 0, mtime: { seconds: 0, nanos: 0 } }

/** A path that a record changed, and how. */
export interface RecordedPath {
  readonly path: string
  readonly kind: 'added' | 'modified' | 'deleted'
  /** For a ref of git, or the file with the packed ones: the refs whose commits changed. */
  readonly refs?: readonly RefMove[]
}

/** One record: the changes of one author between two events. */
export interface TimelineRecord {
  readonly number: number
  /** In milliseconds since the epoch. */
  readonly time: number
  readonly by: 'agent' | 'unclear' | 'person' | 'undo' | 'redo'
  readonly call?: TimelineCall
  readonly changes: readonly RecordedPath[]
  /** Paths that changed and were not recorded. */
  readonly skipped?: readonly string[]
  /** For an undo: the first undone record of each path. */
  readonly undoes?: Readonly<Record<string, number>>
  /** For a redo: the number of the undo that it takes back. */
  readonly redoes?: number
  /** The stage of an undo or redo, by which an interrupted one is recognised. */
  readonly stage?: string
}

/** A change to record, with the new state of the path. */
export interface NewState {
  readonly path: string
  readonly after: LinkEntry | undefined
}

/**
 * The vault of a timeline. `/now` has the latest recorded states: first those of the baseline, which is the whole
 * directory before the first record. `/records/<number>` has the states of the changed paths before and after a record.
 * Unchanged content is shared: all of them are links to one file.
 */
export class TimelineVault {
  readonly #tree: TreeFiles

  constructor(tree: TreeFiles) {
    this.#tree = tree
  }

  /** True once the whole directory is stored. */
  get hasBaseline(): boolean {
    return findEntry(this.#tree, RECORDS) !== undefined
  }

  /** Records that the whole directory is stored. From then on changes get records. */
  finishBaseline(): void {
    putEntry(this.#tree, RECORDS, {
      ...PRIVATE_ATTRIBUTES,
      mode: 0o700,
      type: 'directory',
      size: 0,
      target: '',
      content: () => [],
    })
  }

  /** Returns the latest recorded state of a path; undefined if there was nothing. */
  findLatest(path: string): LinkEntry | undefined {
    return findEntry(this.#tree, LATEST + path)
  }

  findBefore({ number }: TimelineRecord, { path, kind }: RecordedPath): LinkEntry | undefined {
    return kind === 'added' ? undefined : findEntry(this.#tree, `${getRecordPath(number)}/before${path}`)
  }

  findAfter({ number }: TimelineRecord, { path, kind }: RecordedPath): LinkEntry | undefined {
    return kind === 'deleted' ? undefined : findEntry(this.#tree, `${getRecordPath(number)}/after${path}`)
  }

  /** Lists all records, the oldest first. */
  listRecords(): TimelineRecord[] {
    return listNames(this.#tree, RECORDS).flatMap((name) => {
      const entry = findEntry(this.#tree, `${RECORDS}/${name}/${RECORD_FILE}`)
      if (entry === undefined) return []
      const record: TimelineRecord = JSON.parse(Buffer.concat([...entry.content()]).toString())
      return [record]
    })
  }

  /** Sets the latest state of paths without a record. */
  setLatest(states: readonly NewState[]): void {
    this.#tree.batch(() => {
      for (const { path, after } of states) this.#put(path, after)
    })
  }

  /** Adds a record and updates `/now`, in one commit. Returns the record. */
  addRecord(
    record: Omit<TimelineRecord, 'number' | 'changes' | 'time'>,
    states: readonly NewState[],
  ): TimelineRecord {
    const number = Number(listNames(this.#tree, RECORDS).at(-1) ?? 0) + 1
    const moves = this.#findRefMoves(states)
    const changes = states.map(({ path, after }): RecordedPath => {
      const refs = moves.get(path)
      return { path, kind: getKind(this.findLatest(path), after), ...(refs !== undefined && { refs }) }
    })
    const added = { number, time: Date.now(), ...record, changes }
    const [before, afterwards] = [`${getRecordPath(number)}/before`, `${getRecordPath(number)}/after`]
    this.#tree.batch(() => {
      const bytes = Buffer.from(JSON.stringify(added))
      const file = {
        ...PRIVATE_ATTRIBUTES,
        type: 'file',
        size: bytes.length,
        target: '',
        content: () => [bytes],
      } as const
      putEntry(this.#tree, `${getRecordPath(number)}/${RECORD_FILE}`, file)
      for (const { path, kind } of changes) if (kind !== 'added') this.#share(path, before)
      for (const { path, after } of states) this.#put(path, after)
      for (const { path, kind } of changes) if (kind !== 'deleted') this.#share(path, afterwards)
    })
    return added
  }

  /** Removes records, in one commit. */
  removeRecords(numbers: readonly number[]): void {
    this.#tree.batch(() => {
      for (const number of numbers) removeEntry(this.#tree, getRecordPath(number))
    })
  }

  #findRefMoves(states: readonly NewState[]): ReadonlyMap<string, readonly RefMove[]> {
    const afters = new Map(states.map(({ path, after }) => [path, after]))
    const isFile = ({ path, after }: NewState) => (after ?? this.findLatest(path))?.type === 'file'
    const paths = states.filter(isFile).map(({ path }) => path)
    const contents = listRefFiles(paths).map((path): [string, FileContents] => {
      const before = this.findLatest(path)
      return [
        path,
        { before: readFile(before), after: readFile(afters.has(path) ? afters.get(path) : before) },
      ]
    })
    return findRefMoves(paths, new Map(contents))
  }

  #put(path: string, after: LinkEntry | undefined): void {
    if (after === undefined) removeEntry(this.#tree, LATEST + path)
    else putEntry(this.#tree, LATEST + path, after)
  }

  /** Gives the current state of a path a second name below `root`. A directory is copied without its entries. */
  #share(path: string, root: string): void {
    const entry = this.findLatest(path)
    if (entry?.type === 'directory') putEntry(this.#tree, root + path, entry)
    else if (entry !== undefined) linkEntry(this.#tree, LATEST + path, root + path)
  }
}

function readFile(entry: LinkEntry | undefined): Uint8Array | undefined {
  return entry?.type === 'file' && entry.size <= MAX_PACKED_BYTES ? readEntry(entry) : undefined
}

function getRecordPath(number: number): string {
  return `${RECORDS}/${String(number).padStart(NUMBER_DIGITS, '0')}`
}

function getKind(before: LinkEntry | undefined, after: LinkEntry | undefined): RecordedPath['kind'] {
  if (before === undefined) return 'added'
  return after === undefined ? 'deleted' : 'modified'
}
