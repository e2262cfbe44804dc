import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  createProcessTag,
  hasExited,
  makePrivateDirectory,
  makePrivateFile,
  parseProcessTag,
} from '../../machine/index.ts'

/** Markers of this thread; it removes them at exit, unless a signal ends it. */
const ownMarkers = new Set<string>()
let hasExitListener = false

/**
 * A file beside a store while a process has it open. A marker of an ended process shows that it did not close the
 * store: it was killed, or a damaged page ended it.
 */
export class OpenMarker implements Disposable {
  readonly #file: string

  private constructor(file: string) {
    this.#file = file
  }

  /** Creates a marker; there is none if it cannot be written. */
  static create(directory: string): OpenMarker {
    const file = join(directory, createProcessTag())
    try {
      makePrivateDirectory(directory)
      makePrivateFile(file)
      ownMarkers.add(file)
      if (!hasExitListener) process.once('exit', removeOwnMarkers)
      hasExitListener = true
    } catch {
      // The disk is full, or the store is read-only: the next open runs only its usual check.
    }
    return new OpenMarker(file)
  }

  /**
   * Lists markers of ended processes. A marker of another machine or container counts as well, as its process is
   * unknown here; it costs one check, and the caller removes it.
   */
  static findLeftovers(directory: string): string[] {
    try {
      const names = readdirSync(directory).filter((name) => {
        const owner = parseProcessTag(name)
        return owner === undefined || hasExited(owner) !== false
      })
      return names.map((name) => join(directory, name))
    } catch {
      return []
    }
  }

  [Symbol.dispose](): void {
    ownMarkers.delete(this.#file)
    tryRemove(this.#file)
  }
}

/** Removes markers after their check. */
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
    // A leftover marker costs the next open one check.
  }
}
