import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Enough to know where to look. */
const MOST = 5

/** Who has something below a directory open, works in it or runs from it, as far as this user may know: `bash (4711)`. */
export function usersOf(directory: string): string[] {
  const found: string[] = []
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (found.length < MOST && usesAny(`/proc/${pid}`, directory)) found.push(`${nameOf(pid)} (${pid})`)
  }
  return found
}

function usesAny(process: string, directory: string): boolean {
  const files = quietly(() => readdirSync(join(process, 'fd')))?.map((fd) => join('fd', fd)) ?? []
  return ['cwd', 'root', 'exe', ...files].some((link) => {
    // The kernel tells where a link of these leads without asking whoever serves that place.
    const target = quietly(() => readlinkSync(join(process, link)))
    return target === directory || target?.startsWith(`${directory}/`)
  })
}

function nameOf(pid: string): string {
  return quietly(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim()) ?? 'a process'
}

/** Processes end while they are looked at, and those of others may not be. */
function quietly<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
