import { VfsError } from '../../vfs/index.ts'
import type { Engine } from '../engine.ts'
import { settled } from './settled.ts'

const KEY = 'ids'
const BLOCK = 65_536
const MAX_TRIES = 1000

/** Numbers for pages, blobs and vaults that no other process gets: taken from the home in blocks. */
export class Ids {
  readonly #engine: Engine
  #next = 0
  #end = 0

  constructor(engine: Engine) {
    this.#engine = engine
  }

  readonly next = (): number => {
    if (this.#next === this.#end) this.#reserve()
    return this.#next++
  }

  #reserve(): void {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const found = settled(this.#engine.readRecord(KEY))
      const start = found === undefined ? 1 : Number(Buffer.from(found).toString())
      const records = [{ key: KEY, bytes: Buffer.from(String(start + BLOCK)) }]
      if (!settled(this.#engine.commit({ expect: [{ key: KEY, bytes: found ?? null }], records }))) continue
      this.#next = start
      this.#end = start + BLOCK
      return
    }
    throw new VfsError('EUNAVAILABLE', '/', { detail: 'other processes keep taking ids; try again' })
  }
}
