import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  createProcessTag,
  hasExited,
  makePrivateDirectory,
  makePrivateFile,
  parseProcessTag,
} from '../../machine/index.ts'

/** The marks of this thread, which go with it however it ends, unless a signal ends it. */
const ownMarkers = new Set<string>()
let hasExitListener = false

/**
 * A file that stands beside a store while a process has it open. Whoever finds the mark of a process that is over knows
 * that it did not close the store: it was killed, or a damaged page ended it.
 */
export class OpenMarker implements Disposable {
  readonly #file: string

  private constructor(file: string) {
    this.#file = file
  }

  /** Makes the mark of this opener. Where nothing can be written, it stays without one. */
  static create(directory: string): OpenMarker {
    const file = join(directory, createProcessTag())
    try {
      makePrivateDirectory(directory)
      makePrivateFile(file)
      ownMarkers.add(file)
      if (!hasExitListener) process.once('exit', removeOwnMarkers)
      hasExitListener = true
    } catch {
      // The disk is full: the next open checks no more than it always does.
    }
    return new OpenMarker(file)
  }

  /**
   * The marks of openers that are over. One of another machine or container counts as well, since nobody here can know:
   * it costs one check, as the finder removes it.
   */
  static findLeftovers(directory: string): string[] {
    try {
      const marks = readdirSync(directory).filter((mark) => {
        const maker = parseProcessTag(mark)
        return maker === undefined || hasExited(maker) !== false
      })
      return marks.map((mark) => join(directory, mark))
    } catch {
      return []
    }
  }

  [Symbol.dispose](): void {
    ownMarkers.delete(this.#file)
    tryRemove(this.#file)
  }
}

/** Removes marks that were looked into. */
export function removeMarkers(files: readonly string[]): void {
  for (const file of files) tryRemove(file)
}

function removeOwnMarkers(): void {
  removeMarkers([...ownMarkers])
}

function tryRemove(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // It costs the next one to open the store a check.
  }
}
