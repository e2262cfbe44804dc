import { join } from 'node:path'
import type { WatchQuestion } from '../events/index.ts'

/** A watcher ends at a request of another version. Raise it when this file or what is recorded changes. */
export const WATCHER_VERSION = 1

/**
 * Requests are files in a directory that exists while a watcher runs, and so are its responses. A hook would take twice
 * as long to load what Node needs for a socket. The system reports a request after all changes before it.
 */
export type WatcherRequest =
  | { readonly v: number; readonly method: 'ask'; readonly question: WatchQuestion }
  | { readonly v: number; readonly method: 'status' | 'stop' }

export interface WatcherStatus {
  readonly pid: number
  readonly started_at: string
  readonly directories: readonly WatchStatus[]
  /** Time without a hook after which it stops. */
  readonly idle_ms: number
}

/** A directory, and whether a hook can rely on its watch. It fails where the system has too few watches for it. */
export interface WatchStatus {
  readonly directory: string
  readonly state: 'starting' | 'watched' | 'failed'
}

/** End of the name of a request that is complete. */
const REQUEST = '.request'

export function isRequestName(name: string): boolean {
  return name.endsWith(REQUEST)
}

/** Returns the files of an exchange, by its own name. */
export function getExchangeFiles(
  directory: string,
  name: string,
): { readonly request: string; readonly response: string } {
  return { request: join(directory, name + REQUEST), response: join(directory, `${name}.response`) }
}

/** Returns the name of an exchange, given that of its request. */
export function getExchangeName(request: string): string {
  return request.slice(0, -REQUEST.length)
}

/** Returns the directory of a home with the requests to its watcher. */
export function getRequestDirectory(home: string): string {
  return join(home, 'run', 'watcher')
}

export function getWatcherLock(home: string): string {
  return join(home, 'run', 'watcher.lock')
}

/** Returns the file that exists while a watcher starts. It stays, with the reason, if that fails. */
export function getStartNote(home: string): string {
  return join(home, 'run', 'watcher-start')
}
