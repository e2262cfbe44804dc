import { shown } from '../server/text/index.ts'
import { isWithin } from '../vfs/index.ts'
import type { Call } from './call.ts'
import { withDaemon } from './daemon-access.ts'
import { vaultPath } from './vault-path.ts'

/** What the daemon has, and no vault. */
export const DEVICE_ROOTS: readonly string[] = ['/dev', '/proc', '/mnt/mcp']

/** The path of a device or a process; undefined if one in a vault is meant, as it is where a vault is named. */
export function devicePath(call: Call, given: string | undefined): string | undefined {
  if (given === undefined || call.has('vault')) return undefined
  const path = vaultPath(given)
  return DEVICE_ROOTS.some((root) => isWithin(path, root)) ? path : undefined
}

/** Lists devices or processes. */
export function listDevices(call: Call, path: string): Promise<void> {
  return withDaemon(call, async (client) => {
    const entries = await client.call('ls', { path }, call.terminal.signal)
    await call.output.list(entries, ({ name, type }) => `${shown(name)}${type === 'directory' ? '/' : ''}`)
  })
}

/** Prints what a process or a device has to be read. */
export function printDevice(call: Call, path: string): Promise<void> {
  return withDaemon(call, async (client) => {
    const content = await client.call('read', { path }, call.terminal.signal)
    await call.output.value({ path, content }, content.replace(/\n$/, ''))
  })
}
