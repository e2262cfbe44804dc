import type { FileOperation, VaultFiles } from '../../store/index.ts'
import {
  Backend,
  byteStream,
  type CallContext,
  type Capability,
  type DirEntry,
  type FileSystem,
  isWithin,
  type Linkable,
  MountTable,
  type PathChange,
  type ReadOptions,
  type RealpathOptions,
  type Stat,
  VfsError,
} from '../../vfs/index.ts'
import type { JournalRecord } from './feed.ts'

/** Where a vault's past can be found inside it. */
export const HISTORY_ROOT = '/.coppice'

const READ_ONLY_MODE = 0o555

/** EROFS for an operation that links lead into the past: paths that lie there themselves are refused before. */
export function assertOutsideHistory(files: VaultFiles, operation: FileOperation): void {
  if (files.getCounters().symlinks === 0) return
  const { op, path } = operation
  const isFollowed = op === 'write' || op === 'extend' || op === 'revert'
  for (const place of 'to' in operation ? [path, operation.to] : [path]) {
    if (isWithin(files.resolveLinks(place, isFollowed, op), HISTORY_ROOT))
      throw new VfsError('EROFS', place, { op, detail: 'the past cannot be changed' })
  }
}

/** What the past is made of. */
export interface HistorySource {
  checkpoints(): Promise<readonly { readonly name: string; readonly time: Date }[]>
  at(checkpoint: string): Promise<FileSystem>
  /** What changed since the vault was forked, or since its last checkpoint. */
  changes(): AsyncIterable<PathChange>
  journal(): AsyncIterable<JournalRecord>
}

/**
 * The past of a vault as files: `/at/<checkpoint>/…`, `/diff` and `/log`. Whoever can read a file can read history.
 */
export class HistoryFs extends Backend implements Linkable {
  readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'link'])
  readonly #source: HistorySource

  constructor(source: HistorySource) {
    super()
    this.#source = source
  }

  symlink(_target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, () => {})
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, async (checked) => {
      const place = await this.#find(checked, 'readlink')
      if (place.kind === 'past') return place.fs.readlink(checked)
      throw new VfsError('EINVAL', checked, { op: 'readlink', detail: 'not a symbolic link' })
    })
  }

  realpath(path: string, options: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    return this.call('realpath', path, ctx, async (checked) => {
      const place = await this.#find(checked, 'realpath')
      return place.kind === 'past' ? place.fs.realpath(checked, options) : checked
    })
  }

  protected async doStat(path: string): Promise<Stat> {
    const place = await this.#find(path, 'stat')
    if (place.kind === 'past') return place.fs.stat(path)
    if (place.kind === 'directory')
      return { type: 'directory', size: 0, mtime: place.time, mode: READ_ONLY_MODE }
    const size = Buffer.byteLength(await place.text())
    return { type: 'file', size, mtime: new Date(), mode: 0o444 }
  }

  protected async *doReaddir(path: string): AsyncGenerator<DirEntry> {
    const place = await this.#find(path, 'readdir')
    if (place.kind === 'text') throw new VfsError('ENOTDIR', path, { op: 'readdir' })
    if (place.kind === 'past') yield* place.fs.readdir(path)
    else yield* place.entries
  }

  protected async *doRead(path: string, options: ReadOptions): AsyncGenerator<Uint8Array> {
    const place = await this.#find(path, 'read')
    if (place.kind === 'directory') throw new VfsError('EISDIR', path, { op: 'read' })
    if (place.kind === 'past') yield* place.fs.read(path, options)
    else yield* byteStream(Buffer.from(await place.text()), path, options)
  }

  async #find(path: string, op: string): Promise<HistoryNode> {
    const [, top = '', checkpoint] = path.split('/')
    if (top === '') return createDirectoryNode(['at', 'directory'], ['diff', 'file'], ['log', 'file'])
    if (top === 'diff' && checkpoint === undefined)
      return { kind: 'text', text: () => formatDiff(this.#source.changes()) }
    if (top === 'log' && checkpoint === undefined)
      return { kind: 'text', text: () => formatLog(this.#source.journal()) }
    const known = top === 'at' ? await this.#source.checkpoints() : []
    if (top === 'at' && checkpoint === undefined) {
      const names = known.map(({ name }) => name).sort()
      return createDirectoryNode(...names.map((name) => [name, 'directory'] as const))
    }
    const kept = known.find(({ name }) => name === checkpoint)
    if (kept === undefined) throw new VfsError('ENOENT', path, { op })
    // Mounted where it is, so that whatever it says is in terms of the path that was asked for.
    return { kind: 'past', fs: new MountTable({ [`/at/${kept.name}`]: await this.#source.at(kept.name) }) }
  }
}

type HistoryNode =
  | { readonly kind: 'directory'; readonly entries: readonly DirEntry[]; readonly time: Date }
  | { readonly kind: 'text'; readonly text: () => Promise<string> }
  | { readonly kind: 'past'; readonly fs: MountTable }

function createDirectoryNode(...names: readonly (readonly [string, DirEntry['type']])[]): HistoryNode {
  return { kind: 'directory', entries: names.map(([name, type]) => ({ name, type })), time: new Date(0) }
}

async function formatDiff(changes: AsyncIterable<PathChange>): Promise<string> {
  const lines: string[] = []
  for await (const { kind, path, from } of changes) lines.push(`${kind}\t${formatMove(from ?? path, path)}\n`)
  return lines.join('')
}

async function formatLog(journal: AsyncIterable<JournalRecord>): Promise<string> {
  const lines: string[] = []
  for await (const { seq, time, op, path, to, caller } of journal) {
    const who = caller === undefined ? '-' : 'context' in caller ? caller.context : caller.kind
    lines.push(`${seq}\t${time.toISOString()}\t${who}\t${op}\t${formatMove(path, to ?? path)}\n`)
  }
  return lines.join('')
}

/** A path with where it went, on one line whatever is in its name. */
function formatMove(from: string, to: string): string {
  return from === to ? formatPath(to) : `${formatPath(from)} -> ${formatPath(to)}`
}

function formatPath(path: string): string {
  return /[\p{Cc}"\\]/u.test(path) ? JSON.stringify(path) : path
}
