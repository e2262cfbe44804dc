import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isLeftover, ownMark } from '../../machine/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { notWritten } from './write-failure.ts'

const PREFIX = '.coppice-turn-'
const MOST_TRIES = 200
const LONGEST_PAUSE_MS = 100

/**
 * The right to write changes into a directory, which one at a time has, whatever fork and home they are from. It is a
 * name in the directory: whoever makes one and sees that of another who lives steps back, and comes again.
 */
export class WriteTurn implements Disposable {
  readonly #place: string

  private constructor(place: string) {
    this.#place = place
  }

  /** EUNAVAILABLE if others do not come to an end; EROFS, EACCES and ENOSPC where nothing can be made. */
  static async take(directory: string): Promise<WriteTurn> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const name = PREFIX + ownMark()
      const turn = WriteTurn.#begin(directory, join(directory, name))
      if (othersIn(directory).every((other) => other === name)) return turn
      turn[Symbol.dispose]()
      // By chance, so that two do not step back for each other for ever.
      await delay(Math.random() * LONGEST_PAUSE_MS)
    }
    const next = `try again, or remove ${join(directory, othersIn(directory)[0] ?? '')} if nobody is`
    const detail = `nothing was written to ${directory}: somebody else is writing to it; ${next}`
    throw new VfsError('EUNAVAILABLE', directory, { op: 'apply', detail })
  }

  [Symbol.dispose](): void {
    remove(this.#place)
  }

  static #begin(directory: string, place: string): WriteTurn {
    try {
      mkdirSync(place)
      return new WriteTurn(place)
    } catch (error) {
      throw notWritten(directory, place, error)
    }
  }
}

/** Those of the living; what the dead left goes. */
function othersIn(directory: string): string[] {
  const names = readdirSync(directory).filter((name) => name.startsWith(PREFIX))
  const isLeft = (name: string) => isLeftover(name.slice(PREFIX.length))
  for (const name of names.filter(isLeft)) remove(join(directory, name))
  return names.filter((name) => !isLeft(name))
}

function remove(place: string): void {
  rmSync(place, { recursive: true, force: true })
}
