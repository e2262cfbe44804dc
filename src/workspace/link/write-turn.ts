import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isLeftover } from '../../machine/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { isErrno } from './host-stats.ts'
import { newTurnName, turnMark } from './own-names.ts'
import { notWritten } from './write-failure.ts'

/** Nobody writes for so long: whoever has the turn hangs, or died on another machine. */
const PATIENCE_MS = 5 * 60_000
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

  /** EUNAVAILABLE if others do not come to an end in minutes; EROFS, EACCES and ENOSPC where nothing can be made. */
  static async take(directory: string): Promise<WriteTurn> {
    const deadline = performance.now() + PATIENCE_MS
    for (;;) {
      const name = newTurnName()
      const turn = WriteTurn.#begin(directory, join(directory, name))
      if (turnsIn(directory).every((other) => other === name)) return turn
      turn[Symbol.dispose]()
      do {
        if (performance.now() > deadline) throw stillTaken(directory)
        // By chance, so that two do not step back for each other for ever.
        await delay(Math.random() * LONGEST_PAUSE_MS)
      } while (turnsIn(directory).length > 0)
    }
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

/** Removes what the dead left of their turns, where it can be removed. */
export function sweepTurns(directory: string): void {
  try {
    turnsIn(directory)
  } catch (error) {
    if (!isErrno(error, 'EACCES', 'EPERM', 'EROFS')) throw error
  }
}

/** Those of the living; what the dead left goes. */
function turnsIn(directory: string): string[] {
  const names = readdirSync(directory).filter((name) => turnMark(name) !== undefined)
  const isLeft = (name: string) => isLeftover(turnMark(name) ?? '')
  for (const name of names.filter(isLeft)) remove(join(directory, name))
  return names.filter((name) => !isLeft(name))
}

function stillTaken(directory: string): VfsError {
  const [other] = turnsIn(directory)
  const next =
    other === undefined ? 'try again' : `try again, or remove ${join(directory, other)} if nobody is`
  const detail = `nothing was written to ${directory}: somebody else is writing to it; ${next}`
  return new VfsError('EUNAVAILABLE', directory, { op: 'apply', detail })
}

function remove(place: string): void {
  rmSync(place, { recursive: true, force: true })
}
