const ROOT = '/mnt/mcp'
const OWN_MOUNT = /^\/mnt\/mcp\/(\d+)-/

/** Where a server is mounted for one process. */
export function mountPointOf(pid: number, server: string): string {
  return `${ROOT}/${pid}-${server}`
}

/** Whether a process finds what is at a path: not if it is mounted for another. */
export function isSeenBy(pid: number, path: string): boolean {
  if (pid === 0 || !path.startsWith(ROOT)) return true
  const [, owner] = path.match(OWN_MOUNT) ?? []
  return owner === undefined || Number(owner) === pid
}
