import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isErrno, makePrivateDirectory, makePrivateFile } from '../../machine/index.ts'
import type { UndoSettings } from './undo-rules.ts'

/** A question of a hook to the program that watches directories. */
export interface WatchQuestion {
  /** A real path. */
  readonly directory: string
  readonly settings: UndoSettings
  /** The mark of an earlier answer. */
  readonly mark?: string | undefined
}

export interface WatchAnswer {
  /** Identifies the state of the directory now. Undefined while it is not watched. */
  readonly mark?: string
  /** True if no recorded path changed since the mark of the question. */
  readonly isUnchanged: boolean
}

const getPath = (home: string) => join(home, 'run', 'watches')

/** Lets hooks find the socket of the program that watches directories. Dispose it when the program ends. */
export function announceWatches(home: string, socket: string): Disposable {
  const path = getPath(home)
  makePrivateDirectory(dirname(path))
  makePrivateFile(path)
  writeFileSync(path, socket)
  return { [Symbol.dispose]: () => rmSync(path, { force: true }) }
}

/** Returns the socket of the program that watches directories; undefined if none does. A killed one is still announced. */
export function findWatchSocket(home: string): string | undefined {
  try {
    return readFileSync(getPath(home), 'utf8')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  }
}
