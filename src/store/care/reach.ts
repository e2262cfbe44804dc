import { isVfsError } from '../../vfs/index.ts'
import { mergePoints } from '../files/attachments.ts'
import { blobsIn } from '../files/operation-blobs.ts'
import type { StoreHome } from '../home.ts'
import { isBranch, type Node } from '../tree/node.ts'
import type { BlobRef, TreeValue } from '../tree/records.ts'
import type { DamageSink } from './damage.ts'
import { operationsIn, type Roots } from './roots.ts'

/** How long the walk may keep everybody else waiting. */
const PAGES_AT_ONCE = 200

/** Told of everything that is in use, each thing once. */
export interface Visitor {
  /** The node of a page, or undefined if there is none that could be read. */
  page(id: number): Node<TreeValue> | undefined | Promise<Node<TreeValue> | undefined>
  blob(ref: BlobRef): void | Promise<void>
  /** Takes rows of journals that cannot be decoded; without it they end the walk. */
  damage?: DamageSink
  /** Takes the root of each tree before it is read, to keep it from collection. */
  hold?(root: number): void
  /** After each piece of work. */
  pause?(): void
}

/** Everything that roots lead to. It can be continued with further roots; what it has seen, it does not visit again. */
export class Reach {
  readonly pages: Set<number> = new Set()
  readonly blobs: Set<number> = new Set()
  readonly #home: StoreHome
  readonly #visitor: Visitor

  constructor(home: StoreHome, visitor: Visitor) {
    this.#home = home
    this.#visitor = visitor
  }

  async follow({ heads, vaults, pages, trees, journals }: Roots): Promise<void> {
    this.#hold(pages)
    const { restored, merged } = await this.#followJournals(heads, vaults, journals)
    const pending = [...pages, ...restored, ...merged]
    this.#hold(pending)
    for (const tree of [...trees, ...restored]) {
      const roots = await this.#mergedInto(tree, vaults)
      this.#hold(roots)
      pending.push(...roots)
    }
    for (let id = pending.pop(), count = 1; id !== undefined; id = pending.pop(), count++) {
      if (count % PAGES_AT_ONCE === 0) await this.#pause()
      if (this.pages.has(id)) continue
      this.pages.add(id)
      const node = await this.#visitor.page(id)
      if (node === undefined) continue
      if (isBranch(node)) for (const child of node.children) pending.push(Number(child))
      else for (const ref of node.values.flatMap(blobsOf)) await this.#followBlob(ref)
    }
  }

  #hold(roots: readonly number[]): void {
    for (const root of roots) this.#visitor.hold?.(root)
  }

  /** The trees that rows depend on: those that were restored, and those merged that are not noted in a stored tree yet. */
  async #followJournals(
    heads: Roots['heads'],
    vaults: Roots['vaults'],
    journals: Roots['journals'],
  ): Promise<{ restored: number[]; merged: number[] }> {
    const folded = new Map(heads.map(({ id, seq }) => [id, seq]))
    const [restored, merged]: [number[], number[]] = [[], []]
    for (const span of journals) {
      for await (const entries of operationsIn(this.#home, span, this.#visitor.damage)) {
        for (const { seq, operation } of entries) {
          if (operation.op === 'restore') restored.push(operation.root)
          const isUnfolded = seq > (folded.get(span.vault) ?? seq)
          if (operation.op === 'merge' && isUnfolded && vaults.has(operation.source))
            merged.push(operation.root)
          for (const ref of blobsIn(operation)) await this.#followBlob(ref)
        }
        await this.#pause()
      }
    }
    // A restore that is folded needs its tree no more, and the checkpoint may be long gone: only what is there counts.
    const present = await Promise.all(
      restored.map(async (id) => (await this.#home.engine.readPage(id)) !== undefined),
    )
    return { restored: restored.filter((_, index) => present[index]), merged }
  }

  /** The trees that a vault's tree names as merged into it. Those named in them in turn are no longer asked for. */
  async #mergedInto(tree: number, vaults: Roots['vaults']): Promise<number[]> {
    const { reader } = this.#home
    try {
      const points = await reader.resolve(() => mergePoints(this.#home.filesAt(tree)))
      return points.filter(({ vault }) => vaults.has(vault)).map(({ root }) => root)
    } catch (error) {
      // A page of it is damaged: that is told when it is visited.
      if (isVfsError(error, 'EIO')) return []
      throw error
    }
  }

  async #followBlob(ref: BlobRef): Promise<void> {
    if (this.blobs.has(ref.blob)) return
    this.blobs.add(ref.blob)
    const visited = this.#visitor.blob(ref)
    if (visited instanceof Promise) await visited
  }

  async #pause(): Promise<void> {
    this.#visitor.pause?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function blobsOf(value: TreeValue): BlobRef[] {
  if (value instanceof Uint8Array) return []
  if ('blob' in value) return [value]
  return 'content' in value && value.content !== 'chunks' && !(value.content instanceof Uint8Array)
    ? [value.content]
    : []
}
