import {
  assertLinkFree,
  Backend,
  byteStream,
  type CallContext,
  type Capability,
  child,
  type DirEntry,
  type Linkable,
  type ReadOptions,
  type RealpathOptions,
  resolveLinksSync,
  type Stat,
  VfsError,
} from '../../vfs/index.ts'
import type { ArchiveNode, ArchiveTree } from './archive-tree.ts'

const CAPABILITIES: ReadonlySet<Capability> = new Set(['read', 'native-read', 'link'])

/** A read-only archive. Links are followed inside the archive, whose root is the top. */
export class ArchiveFs extends Backend implements Linkable {
  readonly capabilities: ReadonlySet<Capability> = CAPABILITIES
  readonly #tree: ArchiveTree

  constructor(tree: ArchiveTree) {
    super()
    this.#tree = tree
  }

  symlink(_target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, () => {})
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, (checked, inner) => {
      const { target } = this.#node(checked, 'readlink', false, inner)
      if (target !== undefined) return target
      throw new VfsError('EINVAL', checked, { op: 'readlink', detail: 'not a symbolic link' })
    })
  }

  realpath(path: string, { followLast = false }: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    return this.call('realpath', path, ctx, (checked, inner) =>
      this.#resolve(checked, 'realpath', followLast, inner),
    )
  }

  protected doStat(path: string, ctx?: CallContext): Stat {
    return this.#node(path, 'stat', false, ctx).stat
  }

  protected async *doReaddir(path: string, ctx?: CallContext): AsyncGenerator<DirEntry> {
    const resolved = this.#resolve(path, 'readdir', true, ctx)
    const { type } = this.#node(resolved, 'readdir', false).stat
    if (type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'readdir' })
    for (const name of this.#tree.namesIn(resolved)) {
      const entry = this.#tree.get(child(resolved, name))
      if (entry !== undefined) yield { name, type: entry.stat.type }
    }
  }

  protected doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array> {
    const { stat, read } = this.#node(path, 'read', true, ctx)
    if (stat.type === 'directory') throw new VfsError('EISDIR', path, { op: 'read' })
    if (read === undefined)
      throw new VfsError('EINVAL', path, {
        op: 'read',
        detail: 'devices, pipes and sockets of an archive have no content',
      })
    return byteStream(read, path, options)
  }

  #node(path: string, op: string, followLast: boolean, ctx?: CallContext): ArchiveNode {
    const node = this.#tree.get(this.#resolve(path, op, followLast, ctx))
    if (node === undefined) throw new VfsError('ENOENT', path, { op })
    return node
  }

  #resolve(path: string, op: string, followLast: boolean, ctx?: CallContext): string {
    const findTarget = (linkPath: string) => this.#tree.get(linkPath)?.target ?? null
    const resolved = resolveLinksSync(path, followLast, op, findTarget)
    assertLinkFree(path, resolved, op, ctx)
    return resolved
  }
}
