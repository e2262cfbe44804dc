import type { DaemonClient, DaemonHandle } from '../../daemon/client/index.ts'
import { escapeName } from '../../text/index.ts'
import {
  type CallContext,
  collect,
  type FileHandle,
  type FileSystem,
  type FileType,
  isWithin,
  VfsError,
} from '../../vfs/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { formatHomeCommand } from '../framework/hint.ts'
import { formatBytes } from '../render/format-values.ts'
import { formatTable } from '../render/table.ts'
import { withDaemon } from './daemon-access.ts'
import { parseVaultPath } from './parse-vault-path.ts'

/** Roots that the daemon serves. */
export const DEVICE_ROOTS: readonly string[] = ['/dev', '/proc', '/mnt/mcp']

/** Directories of the kernel in every namespace, which no vault stores. */
const KERNEL_ROOTS: readonly string[] = [...DEVICE_ROOTS, '/sys']

const READ_CHUNK_BYTES = 64 * 1024

/** Returns the path of a device or a process; undefined for a path in a vault, as after `--vault`. */
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

/** Prints the content of a device or a file of a process, byte for byte. */
export function printDevice(call: CommandInvocation, path: string): Promise<void> {
  return withDaemon(call, async (client) => {
    const { type } = await client.call('stat', { path }, call.terminal.signal)
    if (type === 'directory')
      throw new VfsError('EISDIR', path, {
        op: 'cat',
        detail: `${path} is a directory; ${formatHomeCommand(call, 'ls', path)} lists it`,
      })
    await using handle = await openHandle(call, client, path, false)
    if (call.isJson) {
      const content = Buffer.from(await collect(readAnswer(handle))).toString('utf8')
      await call.output.writeValue({ path, content })
    } else await call.output.writeBytes(readAnswer(handle))
  })
}

/** Describes a device or a file of a process. */
export function describeDevice(call: CommandInvocation, path: string): Promise<void> {
  return withDaemon(call, async (client) => {
    const { type, size, mtime, mode } = await client.call('stat', { path }, call.terminal.signal)
    const kind = nameType(type)
    const rows = [
      ['path', escapeName(path)],
      ['type', kind],
      ...(type === 'file' ? [['size', `${formatBytes(size)} (${size})`]] : []),
    ]
    await call.output.writeValue({ path, type: kind, size, mtime, mode }, formatTable(rows).join('\n'))
  })
}

/** Returns the word for a type of file: what is no file, directory or link is a device. */
export function nameType(type: FileType): string {
  return type === 'other' ? 'device' : type
}

/** Runs work on the devices and processes as a file system. */
export function withDeviceFiles<Result>(
  call: CommandInvocation,
  work: (files: FileSystem, ctx: CallContext) => Promise<Result>,
): Promise<Result> {
  return withDaemon(call, async (client) => {
    // Loaded on use: commands without a daemon do not need it.
    const { DaemonFiles } = await import('../../daemon/client/index.ts')
    return work(new DaemonFiles('', async () => client), { signal: call.terminal.signal })
  })
}

/** Writes a request to a device and prints its response. */
export function writeDevice(
  call: CommandInvocation,
  path: string,
  content: string | AsyncIterable<Uint8Array>,
): Promise<void> {
  return withDaemon(call, async (client) => {
    const bytes = await collect(content)
    await using handle = await openHandle(call, client, path, true)
    await handle.write(0, bytes)
    const answer = Buffer.from(await collect(readAnswer(handle))).toString('utf8')
    await call.output.writeValue({ path, answer }, answer.replace(/\n$/, ''))
  })
}

async function openHandle(
  call: CommandInvocation,
  client: DaemonClient,
  path: string,
  write: boolean,
): Promise<DaemonHandle> {
  // Loaded on use: commands without a daemon do not need it.
  const { DaemonHandle } = await import('../../daemon/client/index.ts')
  return new DaemonHandle(client, await client.call('open', { path, write }, call.terminal.signal), path)
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
 * Parses the path of a vault file that a command changes. EPERM for a kernel directory, which no vault stores,
 * unless `--vault` is given.
 */
export function parseWritablePath(call: CommandInvocation, given: string): string {
  const path = parseVaultPath(given)
  const root = call.has('vault') ? undefined : KERNEL_ROOTS.find((root) => isWithin(path, root))
  if (root === undefined) return path
  const detail = `${root} belongs to the daemon; for a directory of this name in a vault, use --vault`
  throw new VfsError('EPERM', path, { detail })
}
