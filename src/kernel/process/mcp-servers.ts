import { getMountPoint } from '../device/index.ts'
import type { Process } from './process.ts'
import type { AgentSpec, MountManager } from './spawn-options.ts'

/** Mounts an agent's MCP servers in parallel. After a failure, the caller unmounts the others. */
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

/** Unmounts all servers, even if one fails. */
export async function unmountServers(process: Process, mounts: MountManager | undefined): Promise<void> {
  await Promise.allSettled(process.mcpMounts.map(async (path) => mounts?.unmount(path)))
  process.mcpMounts.length = 0
}
