import { homedir, tmpdir } from 'node:os'
import { readConfig } from '../../config/index.ts'
import type { DaemonClient } from '../../daemon/client/index.ts'
import type { DaemonOptions } from '../../daemon/index.ts'
import { makePrivateDirectory } from '../../machine/index.ts'
import { isVfsError } from '../../vfs/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { CommandError, formatErrorLine } from '../framework/errors.ts'
import { formatHomeCommand } from '../framework/hint.ts'
import { UsageError } from '../framework/usage-error.ts'
import { currentBuild, packageRoot, readVersion } from '../package-root.ts'
import { formatCount } from '../render/format-values.ts'
import { createAgentEnvironment, createAgentMask } from './command-environment.ts'
import { createMissingHomeError, isWritable } from './hidden-home.ts'
import { isHomeMissing, listKnownHomes, resolveHomePath } from './home-access.ts'
import { type LaunchOptions, launchDaemon } from './launch-daemon.ts'
import { resolveContextName } from './namespace-access.ts'

export interface DaemonAccess {
  /** Creates the home if it is missing. */
  readonly create?: boolean
}

/**
 * Connects to the daemon of the command's home, and starts it if none runs. CommandError if there is no home, unless
 * `create` is set.
 */
export async function withDaemon<Result>(
  call: CommandInvocation,
  work: (client: DaemonClient) => Promise<Result>,
  { create = false }: DaemonAccess = {},
): Promise<Result> {
  const home = await resolveHomePath(call)
  if (!create && isHomeMissing(home)) {
    throw createMissingHomeError(call, home, 'create one with: coppice vault create <name>')
  }
  await createHomeDirectory(home)
  await using client = await openDaemon(call, home)
  return await work(client)
}

/**
 * Connects to the daemon of a home, and starts it if none runs. One of another build is replaced, because its modules may
 * be gone. If it has processes, it is kept, and a message says so.
 */
export async function openDaemon(
  call: CommandInvocation,
  home: string,
  options: LaunchOptions = {},
): Promise<DaemonClient> {
  const connect = () => findRunningDaemon(home)
  const client = await connect()
  if (client === undefined) return launchDaemon(home, connect, options)
  try {
    const { build, version, processes, idle_ms } = await client.call('status', {}, call.terminal.signal)
    if (build === currentBuild) return client
    if (processes > 0) {
      call.terminal.err.write(formatErrorLine(formatOldDaemon(call, version, processes)))
      return client
    }
    await client.call('stop', {}, call.terminal.signal)
    await client.closed
    return await launchDaemon(home, connect, { stays: options.stays ?? idle_ms === null })
  } catch (error) {
    client.close()
    // Another command has just replaced it.
    if (isVfsError(error, 'EUNAVAILABLE')) return launchDaemon(home, connect, options)
    throw error
  }
}

function formatOldDaemon(call: CommandInvocation, version: string, processes: number): string {
  const stop = formatHomeCommand(call, 'daemon', 'stop')
  const count = formatCount(processes, 'process', 'processes')
  return `the daemon runs another build of Coppice, version ${version}, with ${count}, and may fail; to replace it, end them with: ${stop}, and continue each with: ${formatHomeCommand(call, 'resume')} <pid>`
}

/**
 * Connects to the daemon of a home, and starts it if none runs. Creates the directory of the home if it is missing.
 */
export async function connectDaemon(home: string): Promise<DaemonClient> {
  await createHomeDirectory(home)
  return (await findRunningDaemon(home)) ?? (await launchDaemon(home, () => findRunningDaemon(home)))
}

/** Creates the directory of a home if it is missing. CommandError if it is not writable. */
export async function createHomeDirectory(home: string): Promise<void> {
  makePrivateDirectory(home)
  if (!isWritable(home)) {
    const next = 'make it writable, or name another home with --home'
    throw new CommandError(`the daemon cannot write to the home ${home}; ${next}`)
  }
}

/** Connects to the running daemon of a home; undefined if none runs. */
export async function findRunningDaemon(home: string): Promise<DaemonClient | undefined> {
  // Loaded on use: help and completion do not need it.
  const { DaemonClient } = await import('../../daemon/client/index.ts')
  try {
    return await DaemonClient.connect(await resolveSocketPath(home))
  } catch (error) {
    if (isVfsError(error, 'EUNAVAILABLE')) return undefined
    // No daemon listens where no socket can be created.
    if (!isVfsError(error) && !isWritable(home)) return undefined
    throw error
  }
}

/** Returns the options of a daemon, with the environment of this process. */
export async function createDaemonOptions(home: string, idleMs: number | null): Promise<DaemonOptions> {
  return {
    home,
    idleMs,
    socket: await resolveSocketPath(home),
    version: readVersion(),
    build: currentBuild,
    env: process.env,
    commands: {
      env: createAgentEnvironment(),
      userHome: homedir(),
      hidden: listKnownHomes(home),
      mask: createAgentMask(await readConfig(home)),
    },
    person: resolveContextName(),
    builtIn: packageRoot,
  }
}

/** Parses the number of a process, which is at least 1. UsageError. */
export function parsePid(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new UsageError(`'${text}' is not the number of a process; see coppice ps --all`)
}

async function resolveSocketPath(home: string): Promise<string> {
  const { getSocketPath } = await import('../../daemon/client/index.ts')
  return getSocketPath(home, { runtime: process.env['XDG_RUNTIME_DIR'], temporary: tmpdir() })
}
