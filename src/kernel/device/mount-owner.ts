const MCP_ROOT = '/mnt/mcp'
const PROCESS_MOUNT = /^\/mnt\/mcp\/(\d+)-/

/** Where a server is mounted for one process. */
export function getMountPoint(pid: number, server: string): string {
  return `${MCP_ROOT}/${pid}-${server}`
}

/** Whether a process finds what is at a path: not if it is mounted for another. */
export function isVisibleTo(pid: number, path: string): boolean {
  if (pid === 0 || !path.startsWith(MCP_ROOT)) return true
  const [, owner] = path.match(PROCESS_MOUNT) ?? []
  return owner === undefined || Number(owner) === pid
}
