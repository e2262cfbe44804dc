import { escapeName } from '../../text/index.ts'
import { collect, type FileHandle, isWithin, VfsError } from '../../vfs/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { withDaemon } from './daemon-access.ts'
import { parseVaultPath } from './parse-vault-path.ts'

/** Roots that the daemon serves. */
export const DEVICE_ROOTS: readonly string[] = ['/dev', '/proc', '/mnt/mcp']

/** Directories of the kernel in every namespace, which no vault stores. */
const KERNEL_ROOTS: readonly string[] = [...DEVICE_ROOTS, '/sys']

const READ_CHUNK_BYTES = 64 * 1024

/** The path of a device or a process; undefined if one in a vault is meant, as it is where a vault is named. */
export function findDevicePath(call: CommandInvocation, given: string | undefined): string | undefined {
  if (given === undefined || call.has('vault')) return undefined
  const path = parseVaultPath(given)
  return DEVICE_ROOTS.some((root) => isWithin(path, root)) ? path : undefined
}

/** Lists devices or processes. */
export function listDevices(call: CommandInvocation, path: string): Promise<void> {
  return withDaemon(call, async (client) => {
    const entries = await client.call('ls', { path }, call.terminal.signal)
    await call.output.writeList(
      entries,
      ({ name, type }) => `${escapeName(name)}${type === 'directory' ? '/' : ''}`,
    )
  })
}

/** Prints what a process or a device has to be read. */
export function printDevice(call: CommandInvocation, path: string): Promise<void> {
  return withDaemon(call, async (client) => {
    const content = await client.call('read', { path }, call.terminal.signal)
    await call.output.writeValue({ path, content }, content.replace(/\n$/, ''))
  })
}

/** Writes what a device is to get, and prints what it answers. */
export function writeDevice(
  call: CommandInvocation,
  path: string,
  content: string | AsyncIterable<Uint8Array>,
): Promise<void> {
  return withDaemon(call, async (client) => {
    const bytes = await collect(content)
    // Loaded here and not above: what asks no daemon does without it.
    const { DaemonHandle } = await import('../../daemon/client/index.ts')
    const number = await client.call('open', { path, write: true }, call.terminal.signal)
    await using handle = new DaemonHandle(client, number, path)
    await handle.write(0, bytes)
    const answer = Buffer.from(await collect(readAnswer(handle))).toString('utf8')
    await call.output.writeValue({ path, answer }, answer.replace(/\n$/, ''))
  })
}

async function* readAnswer(handle: FileHandle): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const bytes = await handle.read(position, READ_CHUNK_BYTES)
    if (bytes.length === 0) return
    position += bytes.length
    yield bytes
  }
}

/**
 * A path of a vault that a command changes. EINVAL for one of the kernel's directories, unless a vault is named: what
 * is there belongs to no vault.
 */
export function parseWritablePath(call: CommandInvocation, given: string): string {
  const path = parseVaultPath(given)
  const root = call.has('vault') ? undefined : KERNEL_ROOTS.find((one) => isWithin(path, one))
  if (root === undefined) return path
  const detail = `${root} is the kernel's, and no directory of a vault; to mean one of a vault, name it with --vault`
  throw new VfsError('EINVAL', path, { detail })
}
