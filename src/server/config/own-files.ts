import { isWithin, relativeTo } from '../../vfs/index.ts'

/** What Coppice itself keeps in the directory of a home: settings, stores, zones as plain files, outputs, locks, and what processes are made of. */
const OWN_NAMES = /^(?:config\.toml|store\.|(?:vfs|tool_cache|locks|data|run|agents|skills|scripts)$)/
const STORE_NAMES = /^store\./

/**
 * Whether a path of this machine is part of a home, or holds one: whoever may write there could change its settings
 * and everyone's files past all zones. Both are real paths. Spellings some disks take for the same count as the same.
 */
export function isOwnFile(home: string, path: string): boolean {
  return isWithin(plain(home), plain(path)) || OWN_NAMES.test(nameIn(home, path))
}

/**
 * Whether a path of this machine is a file of a home's store. Nobody may even read it in the process that has the store
 * open: the system drops the locks a process has on a file as soon as it closes that file anywhere.
 */
export function isStoreFile(home: string, path: string): boolean {
  return STORE_NAMES.test(nameIn(home, path))
}

/** The name below a home that a path leads through; empty if it is elsewhere. */
function nameIn(home: string, path: string): string {
  return relativeTo(plain(path), plain(home))?.split('/')[0] ?? ''
}

function plain(path: string): string {
  return path.normalize('NFKC').toLowerCase()
}
