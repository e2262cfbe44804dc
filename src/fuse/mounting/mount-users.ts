import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Limit of listed processes. */
const MAX_USERS = 5

/**
 * Lists processes with open files, working directory or program below a directory, if visible to this user: `bash
 * (4711)`.
 */
export function listMountUsers(directory: string): string[] {
  const found: string[] = []
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (found.length < MAX_USERS && isUsing(`/proc/${pid}`, directory))
      found.push(`${readProcessName(pid)} (${pid})`)
  }
  return found
}

/** @param processDirectory the process, as its directory in `/proc`. */
function isUsing(processDirectory: string, directory: string): boolean {
  const files = tryRead(() => readdirSync(join(processDirectory, 'fd')))?.map((fd) => join('fd', fd)) ?? []
  return ['cwd', 'root', 'exe', ...files].some((link) => {
    // The kernel resolves these links without a request to the server.
    const target = tryRead(() => readlinkSync(join(processDirectory, link)))
    return target === directory || target?.startsWith(`${directory}/`)
  })
}

function readProcessName(pid: string): string {
  return tryRead(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim()) ?? 'a process'
}

/** Returns undefined if the process has ended or belongs to another user. */
function tryRead<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
