/**
 * One of several clients of the same files: reads, compare-and-swap writes and appends at random, and tells what it did
 * and when. It waits for a line on stdin before each round, so that all clients are in the same files at once.
 */
import { hash as digest } from 'node:crypto'
import { createInterface } from 'node:readline'
import { append, type FileSystem, isVfsError, readText } from '../../src/vfs/index.ts'
import { openPlace, type Place } from './engines.ts'
import type { Action, Deed } from './linearizability.ts'

export interface ClientOrder {
  readonly place: Place
  readonly client: number
  /** The files of each round. */
  readonly rounds: readonly (readonly string[])[]
  readonly deedsPerFile: number
  /** A mistake made on purpose: believing what was read before, or comparing first and writing afterwards. */
  readonly flaw?: 'stale reads' | 'blind writes'
}

export type ToldDeed = Deed & { readonly path: string }

class Client {
  readonly #fs: FileSystem
  readonly #order: ClientOrder
  readonly #known = new Map<string, string>()
  readonly deeds: ToldDeed[] = []

  constructor(fs: FileSystem, order: ClientOrder) {
    this.#fs = fs
    this.#order = order
  }

  async round(paths: readonly string[]): Promise<void> {
    for (let number = 0; number < paths.length * this.#order.deedsPerFile; number++) {
      const path = paths[Math.floor(Math.random() * paths.length)] ?? '/'
      const start = now()
      const action = await this.#act(path, `${this.#order.client}.${this.deeds.length};`)
      this.deeds.push({ path, start, end: now(), action })
    }
  }

  async #act(path: string, text: string): Promise<Action> {
    const dice = Math.random()
    const known = this.#known.get(path)
    if (dice < 0.3 || known === undefined) return this.#read(path)
    if (dice < 0.8) return this.#swap(path, known, text)
    await append(this.#fs, path, text)
    return { op: 'append', text }
  }

  async #read(path: string): Promise<Action> {
    const known = this.#known.get(path)
    const isStale = this.#order.flaw === 'stale reads' && known !== undefined && Math.random() < 0.5
    const found = isStale ? known : await readText(this.#fs, path)
    this.#known.set(path, found)
    return { op: 'read', found }
  }

  async #swap(path: string, expected: string, content: string): Promise<Action> {
    const hasWon =
      this.#order.flaw === 'blind writes'
        ? await this.#writeBlindly(path, expected, content)
        : await this.#write(path, expected, content)
    if (hasWon) this.#known.set(path, content)
    else this.#known.set(path, await readText(this.#fs, path))
    return { op: 'swap', expected, content, hasWon }
  }

  async #write(path: string, expected: string, content: string): Promise<boolean> {
    try {
      await this.#fs.write(path, content, { ifMatch: digest('sha256', expected) })
      return true
    } catch (error) {
      if (isVfsError(error, 'ECONFLICT')) return false
      throw error
    }
  }

  async #writeBlindly(path: string, expected: string, content: string): Promise<boolean> {
    if ((await readText(this.#fs, path)) !== expected) return false
    await this.#fs.write(path, content)
    return true
  }
}

/** One clock for all processes of the machine. */
function now(): number {
  return Number(process.hrtime.bigint())
}

const order: ClientOrder = JSON.parse(process.argv[2] ?? '')
const { home, engine } = await openPlace(order.place)
const client = new Client(await home.vault('base'), order)
const starts = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
for (const paths of order.rounds) {
  process.stdout.write('"ready"\n')
  await starts.next()
  await client.round(paths)
}
for (const deed of client.deeds) process.stdout.write(`${JSON.stringify(deed)}\n`)
await engine.close()
process.stdin.destroy()
