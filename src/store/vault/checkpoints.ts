import { VfsError } from '../../vfs/index.ts'
import type { Engine } from '../engine.ts'
import { settled } from './settled.ts'

/** A named, immutable root of a vault. */
export interface Checkpoint {
  readonly name: string
  readonly root: number
  /** The journal row it includes. */
  readonly seq: number
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly description?: string
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** The checkpoints of one vault, each a record of the home. */
export class Checkpoints {
  readonly #engine: Engine
  readonly #prefix: string

  constructor(engine: Engine, vault: number) {
    this.#engine = engine
    this.#prefix = `checkpoint/${vault}/`
  }

  /** Records one. EINVAL, EEXIST. */
  add(checkpoint: Checkpoint): void {
    const { name } = checkpoint
    if (!NAME.test(name)) {
      const detail = 'a checkpoint name is letters, digits, dots, - or _, and starts with a letter or digit'
      throw new VfsError('EINVAL', name, { op: 'checkpoint', detail })
    }
    const key = this.#prefix + name
    const records = [{ key, bytes: Buffer.from(JSON.stringify(checkpoint)) }]
    const isNew = settled(this.#engine.commit({ expect: [{ key, bytes: null }], records, durable: true }))
    if (!isNew)
      throw new VfsError('EEXIST', name, {
        op: 'checkpoint',
        detail: `there is a checkpoint '${name}' already`,
      })
  }

  /** ENOENT. */
  get(name: string): Checkpoint {
    const bytes = settled(this.#engine.readRecord(this.#prefix + name))
    if (bytes !== undefined) return JSON.parse(Buffer.from(bytes).toString())
    throw new VfsError('ENOENT', name, { op: 'checkpoint', detail: `there is no checkpoint '${name}'` })
  }

  /** All of them, the oldest first. */
  list(): Checkpoint[] {
    const rows = settled(this.#engine.listRecords(this.#prefix))
    const found = rows.flatMap(({ bytes }): Checkpoint[] =>
      bytes === null ? [] : [JSON.parse(Buffer.from(bytes).toString())],
    )
    return found.sort((a, b) => a.time - b.time || a.seq - b.seq)
  }

  /** ENOENT. */
  remove(name: string): void {
    this.get(name)
    settled(this.#engine.commit({ records: [{ key: this.#prefix + name, bytes: null }] }))
  }

  /** `checkpoint-YYYYMMDD-HHMMSS`, with a number behind it if that second has one already. */
  defaultName(time: number): string {
    const [date = '', clock = ''] = new Date(time).toISOString().replaceAll(/[-:]/g, '').split(/[T.]/)
    const base = `checkpoint-${date}-${clock}`
    const taken = new Set(this.list().map(({ name }) => name))
    for (let number = 2; ; number++) {
      const name = number === 2 && !taken.has(base) ? base : `${base}-${number}`
      if (!taken.has(name)) return name
    }
  }
}
