import { getMountPoint } from '../device/index.ts'
import type { Process } from './process.ts'
import type { AgentSpec, MountManager } from './spawn-options.ts'

/** Mounts the MCP servers of an agent for a process, all at once. If one fails, the others are for who unmounts them. */
export async function mountServers(
  process: Process,
  mounts: MountManager | undefined,
  agent: AgentSpec | undefined,
): Promise<void> {
  const servers = Object.entries(agent?.mcp ?? {})
  if (mounts === undefined || servers.length === 0) return
  const results = await Promise.allSettled(
    servers.map(async ([name, config]) => {
      const path = getMountPoint(process.pid, name)
      await mounts.mount(path, config, process.signal)
      process.mcpMounts.push(path)
      process.grantedDevices.push(path)
    }),
  )
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

/** One that cannot be unmounted does not hold the others up. */
export async function unmountServers(process: Process, mounts: MountManager | undefined): Promise<void> {
  await Promise.allSettled(process.mcpMounts.map(async (path) => mounts?.unmount(path)))
  process.mcpMounts.length = 0
}
