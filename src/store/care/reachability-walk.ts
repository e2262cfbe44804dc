import { isVfsError } from '../../vfs/index.ts'
import { toReadError } from '../engines/engine-errors.ts'
import { listMergePoints } from '../files/attachments.ts'
import { listOperationBlobs } from '../files/operation-blobs.ts'
import { decodeDelta, isDeltaBlob } from '../segments/delta-row.ts'
import type { StoreHome } from '../store-home.ts'
import { isBranch, type TreeNode } from '../tree/tree-node.ts'
import { type BlobRef, listBlobRefs, type TreeValue } from '../tree/tree-values.ts'
import type { DamageReporter } from './damage.ts'
import { type GcRoots, readOperations } from './gc-roots.ts'

/** Number of pages between two yields to other work. */
const PAGES_PER_TURN = 200

/** Receives every object in use, each once. */
export interface ReachabilityVisitor {
  /** Returns the node of a page, or undefined if it cannot be read. */
  page(id: number): TreeNode<TreeValue> | undefined | Promise<TreeNode<TreeValue> | undefined>
  blob(ref: BlobRef): void | Promise<void>
  /** Receives journal rows that cannot be decoded; without it they end the walk. */
  damage?: DamageReporter
  /** Receives the root of each tree before it is read, to hold it. */
  hold?(root: number): void
  /** Called after each batch. */
  pause?(): void
}

/** Visits everything reachable from roots. Further roots continue the walk; it visits nothing twice. */
export class ReachabilityWalk {
  readonly pages: Set<number> = new Set()
  readonly blobs: Set<number> = new Set()
  /** Blobs that are the base of others. Visited only if something else refers to them, too. */
  readonly #bases = new Set<number>()
  readonly #home: StoreHome
  readonly #visitor: ReachabilityVisitor

  constructor(home: StoreHome, visitor: ReachabilityVisitor) {
    this.#home = home
    this.#visitor = visitor
  }

  /** Visits everything that is reachable from these roots and was not visited yet. */
  async follow({ heads, vaults, pages, trees, journals }: GcRoots): Promise<void> {
    this.#holdRoots(pages)
    const { restored, merged } = await this.#followJournals(heads, vaults, journals)
    const pending = [...pages, ...restored, ...merged]
    this.#holdRoots(pending)
    for (const tree of [...trees, ...restored]) {
      const roots = await this.#listMergedRoots(tree, vaults)
      this.#holdRoots(roots)
      pending.push(...roots)
    }
    for (let id = pending.pop(), count = 1; id !== undefined; id = pending.pop(), count++) {
      if (count % PAGES_PER_TURN === 0) await this.#yieldTurn()
      if (this.pages.has(id)) continue
      this.pages.add(id)
      const node = await this.#visitor.page(id)
      if (node === undefined) continue
      if (isBranch(node)) for (const child of node.children) pending.push(Number(child))
      else for (const ref of node.values.flatMap(listBlobRefs)) await this.#followBlob(ref)
    }
  }

  /** Reports whether a blob is in use. */
  hasBlob(id: number): boolean {
    return this.blobs.has(id) || this.#bases.has(id)
  }

  /** Adds blobs without visiting them. */
  async addBlobs(ids: readonly number[]): Promise<void> {
    for (const id of ids) await this.#addBlob(id)
  }

  #holdRoots(roots: readonly number[]): void {
    for (const root of roots) this.#visitor.hold?.(root)
  }

  /**
   * Visits the blobs of journal rows. Returns the roots of trees that rows depend on: restored trees, and merged trees
   * that no stored tree records yet.
   */
  async #followJournals(
    heads: GcRoots['heads'],
    vaults: GcRoots['vaults'],
    journals: GcRoots['journals'],
  ): Promise<{ restored: number[]; merged: number[] }> {
    const flushed = new Map(heads.map(({ id, seq }) => [id, seq]))
    const [restored, merged]: [number[], number[]] = [[], []]
    for (const span of journals) {
      for await (const entries of readOperations(this.#home, span, this.#visitor.damage)) {
        for (const { seq, operation } of entries) {
          if (operation.op === 'restore') restored.push(operation.root)
          const isUnflushed = seq > (flushed.get(span.vault) ?? seq)
          if (operation.op === 'merge' && isUnflushed && vaults.has(operation.source))
            merged.push(operation.root)
          for (const ref of listOperationBlobs(operation)) await this.#followBlob(ref)
        }
        await this.#yieldTurn()
      }
    }
    // A flushed restore no longer needs its tree, and the checkpoint may be gone: only present trees count.
    const present = await Promise.all(
      restored.map(async (id) => (await this.#home.engine.readPage(id)) !== undefined),
    )
    return { restored: restored.filter((_, index) => present[index]), merged }
  }

  /** Lists the trees merged into a vault's tree, but not those merged into them in turn. */
  async #listMergedRoots(tree: number, vaults: GcRoots['vaults']): Promise<number[]> {
    const { reader } = this.#home
    try {
      const points = await reader.run(() => listMergePoints(this.#home.trees.getFilesAt(tree)))
      return points.filter(({ vault }) => vaults.has(vault)).map(({ root }) => root)
    } catch (error) {
      // A page of it is damaged: the visit reports that.
      if (isVfsError(error, 'EIO')) return []
      throw error
    }
  }

  async #followBlob(ref: BlobRef): Promise<void> {
    if (this.blobs.has(ref.blob)) return
    const added = this.#addBlob(ref.blob)
    if (added !== undefined) await added
    const visited = this.#visitor.blob(ref)
    if (visited instanceof Promise) await visited
  }

  /** Adds a blob, and the one on which it is based. */
  #addBlob(id: number): Promise<void> | undefined {
    this.blobs.add(id)
    return isDeltaBlob(id) ? this.#addBase(id) : undefined
  }

  async #addBase(id: number): Promise<void> {
    try {
      const row = await this.#home.engine.readBlob(id)
      if (row !== undefined) this.#bases.add(decodeDelta(id, row).base.blob)
    } catch (error) {
      // A damaged row needs no base. One that cannot be read may need it at the next try: a collection must not go on.
      if (!isVfsError(error, 'EIO') && this.#visitor.damage === undefined) throw toReadError(error)
    }
  }

  async #yieldTurn(): Promise<void> {
    this.#visitor.pause?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
}
