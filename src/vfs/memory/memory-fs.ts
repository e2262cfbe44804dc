import { hash as digest } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { assertSameVersion, Backend } from '../backend.ts'
import { VfsError } from '../error.ts'
import { noteCache } from '../events.ts'
import type {
  CallContext,
  Capability,
  Content,
  DirEntry,
  FileSystem,
  MkdirOptions,
  ReadOptions,
  RemoveOptions,
  Stat,
  WalkEntry,
  WalkOptions,
  WriteOptions,
} from '../file-system.ts'
import { assertLinkFree, assertLinkTarget } from '../links.ts'
import { ancestors, checkPath, isWithin } from '../path.ts'
import type {
  Appendable,
  Change,
  ContentAddressed,
  Diffable,
  Forkable,
  Linkable,
  Match,
  RealpathOptions,
  Renamable,
  RenameOptions,
  Searchable,
  SearchQuery,
} from '../protocols.ts'
import { compileQuery, mayMatch, searchSteps } from '../search.ts'
import { byteStream, collect, ownBytes, ReadyStream } from '../streams.ts'
import {
  type DirectoryNode,
  extendContent,
  type FileNode,
  fileNode,
  type LinkNode,
  type Node,
  statOf,
} from './nodes.ts'
import { listTree, MemoryTree, TreeCursor, walkTree } from './tree.ts'
import { diffNodes } from './tree-diff.ts'

const FILE_MODE = 0o644
const LINK_MODE = 0o777
/** How much a search reads before it lets other work of the process run. */
const SEARCH_TURN_BYTES = 4 * 1024 * 1024
/** What a file counts for besides its content: a million empty ones are work too. */
const SEARCH_FILE_BYTES = 512

const CAPABILITIES: ReadonlySet<Capability> = new Set([
  'read',
  'write',
  'mkdir',
  'native-walk',
  'native-read',
  'fork',
  'rename',
  'link',
  'append',
  'search',
  'hash',
  'diff',
])

export interface MemoryFsOptions {
  /** The clock for modification times, in milliseconds. */
  readonly now?: () => number
}

/** Files in memory. Forks in constant time; listings and walks show one moment, whatever is written meanwhile. */
export class MemoryFs
  extends Backend
  implements Forkable, Renamable, Linkable, Appendable, Searchable, ContentAddressed, Diffable
{
  readonly capabilities: ReadonlySet<Capability> = CAPABILITIES
  readonly #now: () => number
  #tree: MemoryTree

  /** @param seed content by path. EINVAL for the root, or a file below another file. */
  constructor(
    seed: Readonly<Record<string, string | Uint8Array>> = {},
    { now = Date.now }: MemoryFsOptions = {},
  ) {
    super()
    this.#now = now
    this.#tree = new MemoryTree(now())
    for (const [path, content] of checkedSeed(seed)) this.#store(path, content, {})
  }

  fork(): MemoryFs {
    const fork = new MemoryFs({}, { now: this.#now })
    fork.#tree = this.#tree.fork()
    return fork
  }

  rename(from: string, to: string, options: RenameOptions = {}, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'rename', path: from, to, ctx }, (asked) =>
      this.#rename(asked.path, asked.to, options, asked.ctx),
    )
  }

  symlink(target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, ({ path: checked, ctx: inner }) => {
      assertLinkTarget(target)
      const at = this.#resolve(checked, false, 'symlink', inner)
      if (this.#tree.get(at)) throw new VfsError('EEXIST', checked, { op: 'symlink' })
      const now = this.#now()
      const link: LinkNode = { type: 'symlink', target, mtime: now, mode: LINK_MODE }
      this.#tree.putLink(at, link, { parents: true, op: 'symlink', now })
    })
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, (checked, inner) => {
      const node = this.#node(checked, 'readlink', false, inner)
      if (node.type === 'symlink') return node.target
      throw new VfsError('EINVAL', checked, { op: 'readlink', detail: 'not a symbolic link' })
    })
  }

  realpath(path: string, { followLast = false }: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    return this.call('realpath', path, ctx, (checked, inner) =>
      this.#resolve(checked, followLast, 'realpath', inner),
    )
  }

  append(path: string, content: Content, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'append', path, content, ctx }, (asked) => {
      const more = collect(asked.content)
      return more instanceof Promise
        ? more.then((bytes) => this.#append(asked.path, bytes, asked.ctx))
        : this.#append(asked.path, more, asked.ctx)
    })
  }

  search(root: string, query: SearchQuery, ctx?: CallContext): AsyncIterable<Match> {
    return this.stream('search', root, ctx, (checked, inner) => this.#search(checked, query, inner))
  }

  diffFrom(before: FileSystem): AsyncIterable<Change> | null {
    if (!(before instanceof MemoryFs)) return null
    const changes = diffNodes(before.#tree.snapshot(), this.#tree.snapshot()).values()
    return new ReadyStream(() => changes.next().value)
  }

  hash(path: string, ctx?: CallContext): Promise<string> {
    return this.call('hash', path, ctx, (checked, inner) =>
      this.#hash(checked, this.#file(checked, 'hash', inner)),
    )
  }

  protected override async doExists(path: string, ctx?: CallContext): Promise<boolean> {
    return this.#tree.get(this.#resolve(path, false, 'exists', ctx)) !== undefined
  }

  protected doStat(path: string, ctx?: CallContext): Stat {
    return statOf(this.#node(path, 'stat', false, ctx))
  }

  protected doReaddir(path: string, ctx?: CallContext): AsyncIterable<DirEntry> {
    return listTree(this.#directory(path, 'readdir', ctx))
  }

  protected doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array> {
    return byteStream(this.#file(path, 'read', ctx).content.bytes, path, options)
  }

  protected override doWalk(root: string, options: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry> {
    this.#tree.snapshot()
    const node = this.#tree.get(this.#resolve(root, true, 'walk', ctx))
    return node?.type === 'directory'
      ? walkTree(node, root, options)
      : new ReadyStream<WalkEntry>(() => undefined)
  }

  /** Decided as the content is stored: a stream may take its time, and a link may lead to a file that is written too. */
  protected override async assertMatch(): Promise<void> {}

  protected override doWrite(
    path: string,
    content: Content,
    options: WriteOptions,
    ctx?: CallContext,
  ): void | Promise<void> {
    const bytes = collect(content)
    return bytes instanceof Promise
      ? bytes.then((whole) => this.#store(path, whole, options, ctx))
      : this.#store(path, bytes, options, ctx)
  }

  protected override doMkdir(path: string, { parents = false, mode }: MkdirOptions, ctx?: CallContext): void {
    const at = this.#resolve(path, false, 'mkdir', ctx)
    if (this.#tree.get(at)) {
      const target = this.#tree.get(this.#resolve(at, true, 'mkdir', ctx))
      if (parents && target?.type === 'directory') return
      throw new VfsError('EEXIST', path, { op: 'mkdir' })
    }
    this.#tree.makeDirectory(at, mode, { parents, op: 'mkdir', now: this.#now() })
  }

  protected override doRemove(path: string, { recursive = false }: RemoveOptions, ctx?: CallContext): void {
    const node = this.#node(path, 'remove', false, ctx)
    if (node.type === 'directory' && !recursive) throw new VfsError('EISDIR', path, { op: 'remove' })
    this.#tree.delete(this.#tree.resolve(path, false, 'remove'), 'remove', this.#now())
  }

  #store(
    path: string,
    bytes: Uint8Array,
    { parents = true, ifMatch, mode }: WriteOptions,
    ctx?: CallContext,
  ): void {
    const at = this.#target(path, 'write', ctx)
    if (ifMatch !== undefined) assertSameVersion(path, this.#versionAt(at), ifMatch)
    const now = this.#now()
    this.#tree.update(at, { parents, op: 'write', now }, (old) => {
      if (old?.type === 'directory') throw new VfsError('EISDIR', path, { op: 'write' })
      return fileNode({ bytes, spare: null }, now, mode ?? old?.mode ?? FILE_MODE)
    })
  }

  #append(path: string, more: Uint8Array, ctx: CallContext | undefined): void {
    const at = this.#target(path, 'append', ctx)
    const now = this.#now()
    this.#tree.update(at, { parents: true, op: 'append', now }, (old) => {
      if (old?.type === 'directory') throw new VfsError('EISDIR', path, { op: 'append' })
      if (old?.type === 'file') return fileNode(extendContent(old.content, more), now, old.mode)
      return fileNode({ bytes: more, spare: null }, now, FILE_MODE)
    })
  }

  #rename(from: string, to: string, { overwrite = false }: RenameOptions, ctx?: CallContext): void {
    const source = this.#resolve(from, false, 'rename', ctx)
    const target = this.#resolve(to, false, 'rename', ctx)
    const node = this.#node(from, 'rename', false)
    if (source === target) return
    if (isWithin(target, source)) {
      throw new VfsError('EINVAL', from, { op: 'rename', detail: `'${to}' lies inside it` })
    }
    const replaced = this.#tree.get(target)
    if (replaced) assertReplaceable(node, replaced, to, overwrite)
    const now = this.#now()
    this.#tree.put(target, node, { parents: true, op: 'rename', now })
    this.#tree.delete(source, 'rename', now)
  }

  async *#search(root: string, query: SearchQuery, ctx?: CallContext): AsyncGenerator<Match> {
    const compiled = compileQuery(query)
    this.#tree.snapshot()
    const start = this.#node(root, 'search', true, ctx)
    if (start.type === 'file') {
      for (const step of searchSteps(root, start.content.bytes, compiled)) {
        if (step === null) await compiled.pace.turn(ctx?.signal)
        else yield step
      }
    }
    if (start.type !== 'directory') return
    let bytesThisTurn = 0
    const cursor = new TreeCursor(start, root)
    for (let node = cursor.next(); node !== undefined; node = cursor.next()) {
      if (node.type !== 'file') continue
      // Asked first, and not by `yield*`: in an async generator that would wait for every file that has no match.
      if (mayMatch(node.content.bytes, compiled)) {
        for (const step of searchSteps(cursor.path, node.content.bytes, compiled)) {
          if (step === null) await compiled.pace.turn(ctx?.signal)
          else yield step
        }
      }
      bytesThisTurn += node.size + SEARCH_FILE_BYTES
      if (bytesThisTurn < SEARCH_TURN_BYTES) continue
      bytesThisTurn = 0
      await nextTurn()
      ctx?.signal?.throwIfAborted()
    }
  }

  /** The path with its links followed, unless the call follows none: ELOOP. */
  #resolve(path: string, followLast: boolean, op: string, ctx?: CallContext): string {
    const resolved = this.#tree.resolve(path, followLast, op)
    assertLinkFree(path, resolved, op, ctx)
    return resolved
  }

  #node(path: string, op: string, followLast: boolean, ctx?: CallContext): Node {
    const node = this.#tree.get(this.#resolve(path, followLast, op, ctx))
    if (node === undefined) throw new VfsError('ENOENT', path, { op })
    return node
  }

  #file(path: string, op: string, ctx?: CallContext): FileNode {
    const node = this.#node(path, op, true, ctx)
    if (node.type === 'directory') throw new VfsError('EISDIR', path, { op })
    if (node.type === 'symlink') throw new VfsError('ELOOP', path, { op })
    return node
  }

  #directory(path: string, op: string, ctx?: CallContext): DirectoryNode {
    this.#tree.snapshot()
    const node = this.#node(path, op, true, ctx)
    if (node.type !== 'directory') throw new VfsError('ENOTDIR', path, { op })
    return node
  }

  /** Where a write to the path lands. A link may lead to the root, which nothing is stored at. */
  #target(path: string, op: string, ctx: CallContext | undefined): string {
    const at = this.#resolve(path, true, op, ctx)
    if (at === '/') throw new VfsError('EISDIR', path, { op })
    return at
  }

  #versionAt(path: string): string | null {
    const node = this.#tree.get(path)
    return node?.type === 'file' ? this.#hash(path, node) : null
  }

  #hash(path: string, { content }: FileNode): string {
    noteCache('memory-hash', path, content.hash === undefined ? 'miss' : 'hit')
    content.hash ??= digest('sha256', content.bytes)
    return content.hash
  }
}

function assertReplaceable(node: Node, replaced: Node, path: string, overwrite: boolean): void {
  if (!overwrite) throw new VfsError('EEXIST', path, { op: 'rename' })
  if (replaced.type !== 'directory') {
    if (node.type === 'directory') throw new VfsError('ENOTDIR', path, { op: 'rename' })
    return
  }
  if (node.type !== 'directory') throw new VfsError('EISDIR', path, { op: 'rename' })
  if (replaced.entries.size > 0) throw new VfsError('ENOTEMPTY', path, { op: 'rename' })
}

function checkedSeed(seed: Readonly<Record<string, string | Uint8Array>>): [string, Uint8Array][] {
  const files = new Map(Object.entries(seed).map(([path, content]) => [checkPath(path, 'seed'), content]))
  const refuse = (path: string, detail: string) => new VfsError('EINVAL', path, { op: 'seed', detail })
  if (files.size < Object.keys(seed).length) throw refuse('/', 'two seed paths name the same file')
  if (files.has('/')) throw refuse('/', 'the root is a directory')
  for (const path of files.keys()) {
    const blocking = ancestors(path).find((above) => files.has(above))
    if (blocking) throw refuse(path, `'${blocking}' is seeded as a file`)
  }
  return [...files].map(([path, content]) => [path, ownBytes(content)])
}
