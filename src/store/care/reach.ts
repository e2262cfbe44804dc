import { VAULT_INODE } from '../files/files.ts'
import type { StoreHome } from '../home.ts'
import { groupOf, kinds } from '../tree/key.ts'
import { isBranch, type Node } from '../tree/node.ts'
import type { BlobRef, TreeValue } from '../tree/records.ts'
import { blobsIn, operationsIn, type Roots } from './roots.ts'

/** How long the walk may keep everybody else waiting. */
const PAGES_AT_ONCE = 200

/** Told of everything that is in use, each thing once. */
export interface Visitor {
  /** The node of a page, or undefined if there is none that could be read. */
  page(id: number): Node<TreeValue> | undefined | Promise<Node<TreeValue> | undefined>
  blob(ref: BlobRef): void | Promise<void>
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

  async follow({ pages, journals }: Roots): Promise<void> {
    const restored = await this.#followJournals(journals)
    const pending = [...pages, ...restored]
    for (let id = pending.pop(), count = 1; id !== undefined; id = pending.pop(), count++) {
      if (count % PAGES_AT_ONCE === 0) await this.#pause()
      if (this.pages.has(id)) continue
      this.pages.add(id)
      const node = await this.#visitor.page(id)
      if (node === undefined) continue
      if (isBranch(node)) for (const child of node.children) pending.push(Number(child))
      else pending.push(...(await this.#followLeaf(node)))
    }
  }

  async #followJournals(journals: Roots['journals']): Promise<number[]> {
    const restored: number[] = []
    for (const span of journals) {
      for await (const entries of operationsIn(this.#home, span)) {
        for (const { operation } of entries) {
          if (operation.op === 'restore') restored.push(operation.root)
          for (const ref of blobsIn(operation)) await this.#followBlob(ref)
        }
        await this.#pause()
      }
    }
    // A restore that is folded needs its tree no more, and the checkpoint may be long gone: only what is there counts.
    const present = await Promise.all(
      restored.map(async (id) => (await this.#home.engine.readPage(id)) !== undefined),
    )
    return restored.filter((_, index) => present[index])
  }

  /** The trees a leaf names: those that were merged. */
  async #followLeaf({ groups, subs, values }: Extract<Node<TreeValue>, { level: 0 }>): Promise<number[]> {
    const roots: number[] = []
    for (const [index, value] of values.entries()) {
      for (const ref of blobsOf(value)) await this.#followBlob(ref)
      const isVaultMeta = groups[index] === groupOf(VAULT_INODE, kinds.meta)
      if (isVaultMeta && String(subs[index]).startsWith('merged/') && value instanceof Uint8Array) {
        const point: { root: number } = JSON.parse(Buffer.from(value).toString())
        roots.push(point.root)
      }
    }
    return roots
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
