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

/** The path of a vault's history inside it. */
export const HISTORY_ROOT = '/.coppice'

const READ_ONLY_MODE = 0o555

/** Throws EROFS for an operation that links lead into the history. Direct history paths are rejected earlier. */
export function assertOutsideHistory(files: VaultFiles, operation: FileOperation): void {
  if (files.getCounters().symlinks === 0) return
  const { op, path } = operation
  const isFollowed = op === 'write' || op === 'extend' || op === 'revert'
  for (const target of 'to' in operation ? [path, operation.to] : [path]) {
    if (isWithin(files.resolveLinks(target, isFollowed, op), HISTORY_ROOT))
      throw new VfsError('EROFS', target, { op, detail: 'the history of a vault cannot be changed' })
  }
}

/** The data that `HistoryFs` shows. */
export interface HistorySource {
  checkpoints(): Promise<readonly { readonly name: string; readonly time: Date }[]>
  at(checkpoint: string): Promise<FileSystem>
  /** Yields the changes since the fork, or since the last checkpoint of a vault that is no fork. */
  changes(): AsyncIterable<PathChange>
  journal(): AsyncIterable<JournalRecord>
}

/**
 * The history of a vault as files: `/at/<checkpoint>/…`, `/diff` and `/log`. A program that can read files can read
 * history.
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
      const node = await this.#find(checked, 'readlink')
      if (node.kind === 'snapshot') return node.fs.readlink(checked)
      throw new VfsError('EINVAL', checked, { op: 'readlink', detail: 'not a symbolic link' })
    })
  }

  realpath(path: string, options: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    return this.call('realpath', path, ctx, async (checked) => {
      const node = await this.#find(checked, 'realpath')
      return node.kind === 'snapshot' ? node.fs.realpath(checked, options) : checked
    })
  }

  protected async doStat(path: string): Promise<Stat> {
    const node = await this.#find(path, 'stat')
    if (node.kind === 'snapshot') return node.fs.stat(path)
    if (node.kind === 'directory')
      return { type: 'directory', size: 0, mtime: node.time, mode: READ_ONLY_MODE }
    const size = Buffer.byteLength(await node.text())
    return { type: 'file', size, mtime: new Date(), mode: 0o444 }
  }

  protected async *doReaddir(path: string): AsyncGenerator<DirEntry> {
    const node = await this.#find(path, 'readdir')
    if (node.kind === 'text') throw new VfsError('ENOTDIR', path, { op: 'readdir' })
    if (node.kind === 'snapshot') yield* node.fs.readdir(path)
    else yield* node.entries
  }

  protected async *doRead(path: string, options: ReadOptions): AsyncGenerator<Uint8Array> {
    const node = await this.#find(path, 'read')
    if (node.kind === 'directory') throw new VfsError('EISDIR', path, { op: 'read' })
    if (node.kind === 'snapshot') yield* node.fs.read(path, options)
    else yield* byteStream(Buffer.from(await node.text()), path, options)
  }

  async #find(path: string, op: string): Promise<HistoryNode> {
    const [, top = '', checkpoint] = path.split('/')
    if (top === '') return createDirectoryNode(['at', 'directory'], ['diff', 'file'], ['log', 'file'])
    if (top === 'diff' && checkpoint === undefined)
      return { kind: 'text', text: () => formatDiff(this.#source.changes()) }
    if (top === 'log' && checkpoint === undefined)
      return { kind: 'text', text: () => formatLog(this.#source.journal()) }
    const checkpoints = top === 'at' ? await this.#source.checkpoints() : []
    if (top === 'at' && checkpoint === undefined) {
      const names = checkpoints.map(({ name }) => name).sort()
      return createDirectoryNode(...names.map((name) => [name, 'directory'] as const))
    }
    const found = checkpoints.find(({ name }) => name === checkpoint)
    if (found === undefined) throw new VfsError('ENOENT', path, { op })
    // Mounted at its path, so that errors have the requested path.
    return {
      kind: 'snapshot',
      fs: new MountTable({ [`/at/${found.name}`]: await this.#source.at(found.name) }),
    }
  }
}

type HistoryNode =
  | { readonly kind: 'directory'; readonly entries: readonly DirEntry[]; readonly time: Date }
  | { readonly kind: 'text'; readonly text: () => Promise<string> }
  | { readonly kind: 'snapshot'; readonly fs: MountTable }

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
    const author = caller === undefined ? '-' : 'context' in caller ? caller.context : caller.kind
    lines.push(`${seq}\t${time.toISOString()}\t${author}\t${op}\t${formatMove(path, to ?? path)}\n`)
  }
  return lines.join('')
}

/** Formats a path and its rename target on one line, whatever characters they contain. */
function formatMove(from: string, to: string): string {
  return from === to ? formatPath(to) : `${formatPath(from)} -> ${formatPath(to)}`
}

function formatPath(path: string): string {
  return /[\p{Cc}"\\]/u.test(path) ? JSON.stringify(path) : path
}
