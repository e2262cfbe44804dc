import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Enough to know where to look. */
const MAX_USERS = 5

/** Who has something below a directory open, works in it or runs from it, as far as this user may know: `bash (4711)`. */
export function listMountUsers(directory: string): string[] {
  const found: string[] = []
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (found.length < MAX_USERS && isUsing(`/proc/${pid}`, directory))
      found.push(`${readProcessName(pid)} (${pid})`)
  }
  return found
}

function isUsing(process: string, directory: string): boolean {
  const files = tryRead(() => readdirSync(join(process, 'fd')))?.map((fd) => join('fd', fd)) ?? []
  return ['cwd', 'root', 'exe', ...files].some((link) => {
    // The kernel tells where a link of these leads without asking whoever serves that place.
    const target = tryRead(() => readlinkSync(join(process, link)))
    return target === directory || target?.startsWith(`${directory}/`)
  })
}

function readProcessName(pid: string): string {
  return tryRead(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim()) ?? 'a process'
}

/** Processes end while they are looked at, and those of others may not be. */
function tryRead<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
