import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isOver, makePrivateDirectory, makePrivateFile, makerOf, ownMark } from '../../machine/index.ts'

/** The marks of this thread, which go with it however it ends, unless a signal ends it. */
const own = new Set<string>()
let isListening = false

/**
 * A file that stands beside a store while a process has it open. Whoever finds the mark of a process that is over knows
 * that it did not close the store: it was killed, or a damaged page ended it.
 */
export class OpenMark implements Disposable {
  readonly #file: string

  private constructor(file: string) {
    this.#file = file
  }

  /** Makes the mark of this opener. Where nothing can be written, it stays without one. */
  static make(directory: string): OpenMark {
    const file = join(directory, ownMark())
    try {
      makePrivateDirectory(directory)
      makePrivateFile(file)
      own.add(file)
      if (!isListening) process.once('exit', removeOwn)
      isListening = true
    } catch {
      // The disk is full: the next open checks no more than it always does.
    }
    return new OpenMark(file)
  }

  /**
   * The marks of openers that are over. One of another machine or container counts as well, since nobody here can know:
   * it costs one check, as the finder removes it.
   */
  static findLeftovers(directory: string): string[] {
    try {
      const marks = readdirSync(directory).filter((mark) => {
        const maker = makerOf(mark)
        return maker === undefined || isOver(maker) !== false
      })
      return marks.map((mark) => join(directory, mark))
    } catch {
      return []
    }
  }

  [Symbol.dispose](): void {
    own.delete(this.#file)
    removeQuietly(this.#file)
  }
}

/** Removes marks that were looked into. */
export function removeMarks(files: readonly string[]): void {
  for (const file of files) removeQuietly(file)
}

function removeOwn(): void {
  removeMarks([...own])
}

function removeQuietly(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // It costs the next one to open the store a check.
  }
}
