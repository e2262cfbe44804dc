const MCP_ROOT = '/mnt/mcp'
const PROCESS_MOUNT = /^\/mnt\/mcp\/(\d+)-/

/** Returns the mount point of a server that is private to one process. */
export function getMountPoint(pid: number, server: string): string {
  return `${MCP_ROOT}/${pid}-${server}`
}

/** Reports whether a process can see a path: false if it is mounted for another process. */
export function isVisibleTo(pid: number, path: string): boolean {
  if (pid === 0 || !path.startsWith(MCP_ROOT)) return true
  const [, owner] = path.match(PROCESS_MOUNT) ?? []
  return owner === undefined || Number(owner) === pid
}
