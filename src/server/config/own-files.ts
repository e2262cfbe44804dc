import { isWithin, relativeTo } from '../../vfs/index.ts'

/** What Coppice itself keeps in the directory of a home: settings, stores, zones as plain files. */
const OWN_NAMES = /^(?:config\.toml|store\.|vfs$)/

/**
 * Whether a path of this machine is part of a home, or holds one: whoever may write there could change its settings
 * and everyone's files past all zones. Both are real paths. Spellings some disks take for the same count as the same.
 */
export function isOwnFile(home: string, path: string): boolean {
  const [place, own] = [plain(path), plain(home)]
  if (isWithin(own, place)) return true
  const [name = ''] = relativeTo(place, own)?.split('/') ?? []
  return OWN_NAMES.test(name)
}

function plain(path: string): string {
  return path.normalize('NFKC').toLowerCase()
}
