import { randomBytes } from 'node:crypto'
import { deviceWhitelistPolicy } from '../access/index.ts'
import type { Home } from '../backends/vault/index.ts'
import {
  DeviceFs,
  type DeviceRegistry,
  getMountPoint,
  type ProcessEnvironment,
  type SpawnOptions,
} from '../kernel/index.ts'
import {
  type CommandSettings,
  deleteFork,
  findForkDirectory,
  type Namespace,
  type NamespaceOptions,
  openNamespace,
} from '../namespace/index.ts'
import type { ToolNamespace, Workspace } from '../tools/index.ts'
import { type Caller, isWithin } from '../vfs/index.ts'
import { type GivenOptions, listGivenOptions } from './process-settings.ts'
import { DEFAULT_AGENT_NAME } from './resolve-agent.ts'
import { createStepSaver } from './step-saver.ts'
import { describeSurroundings } from './surroundings.ts'

/** Namespace of a process. */
export interface ProcessNamespace {
  readonly namespace: Namespace
  readonly agent: string | null
  /** Vault with its work; null if it has none. */
  readonly fork: string | null
  /** Vault or directory that was forked. */
  readonly vault: string | null
  readonly given: GivenOptions
}

export interface ProcessNamespacesOptions {
  readonly home: Home
  readonly commands: CommandSettings
  readonly devices: DeviceRegistry
  /** Returns the signal that aborts when a process ends; undefined if there is no such process. */
  findSignal(pid: number): AbortSignal | undefined
  /** Releases other resources of a fork. */
  leave(fork: string): Promise<void>
}

/** The fork of a new process, and the vault or directory that it is made from. */
interface NewFork {
  readonly vault: string
  readonly fork: string
  readonly directory: string | undefined
  readonly pid: number
}

const DEVICE_ROOTS = ['/dev', '/proc', '/mnt/mcp']

/** Creates the namespace of each process, with a fork of its vault or directory as `/workspace`. */
export class ProcessNamespaces {
  readonly #options: ProcessNamespacesOptions
  readonly #byPid = new Map<number, ProcessNamespace>()

  constructor(options: ProcessNamespacesOptions) {
    this.#options = options
  }

  find(pid: number): ProcessNamespace | undefined {
    return this.#byPid.get(pid)
  }

  /** Returns the files of a process for tools, without files of the host. */
  findFiles(pid: number): ToolNamespace | undefined {
    const found = this.#byPid.get(pid)
    return found === undefined ? undefined : { fs: found.namespace.fs, cache: found.namespace.cache }
  }

  findWorkspace(pid: number): Workspace | undefined {
    return this.#byPid.get(pid)?.namespace.workspace
  }

  /** Opens a namespace under the agent's name, so that its home persists for its next process. */
  async open(pid: number, options: SpawnOptions): Promise<ProcessEnvironment> {
    const { agent, parent, vault: named } = options
    const context = agent?.name ?? DEFAULT_AGENT_NAME
    const caller: Caller = { kind: 'process', pid, context }
    // A child continues with its parent's current work.
    const vault = named ?? (parent === undefined ? undefined : this.#byPid.get(parent)?.fork) ?? undefined
    const fork = vault === undefined ? undefined : `agent-${randomBytes(4).toString('hex')}`
    const directory = vault === undefined ? undefined : await this.#findDirectory(vault)
    const choices =
      vault === undefined || fork === undefined
        ? {}
        : await this.#prepareWorkspace({ vault, fork, directory, pid }, options)
    const allowed = agent?.allowedDevices ?? null
    const namespace: Namespace = await this.#open({
      pid,
      caller,
      context,
      ...choices,
      ...(allowed !== null && {
        policies: [deviceWhitelistPolicy([...allowed, ...listMountPoints(pid, agent)])],
      }),
    })
    const origin = directory ?? vault ?? null
    this.#byPid.set(pid, {
      namespace,
      agent: agent === undefined || agent.isAnonymous ? null : agent.name,
      fork: fork ?? null,
      vault: origin,
      given: listGivenOptions(options),
    })
    return {
      fs: namespace.fs,
      caller,
      boundOutput: async (tool, output) =>
        (await namespace.cache.keep(context, tool, output, { caller })).text,
      ...(namespace.workspace !== undefined && {
        saveFiles: createStepSaver(namespace.workspace, { caller }),
      }),
      describe: (limits) =>
        describeSurroundings({
          ...limits,
          pid,
          parent: parent ?? 0,
          vault: origin,
          namespace,
          caller,
          devices: this.#listDevices(pid, allowed),
        }),
      close: () => this.#close(pid),
    }
  }

  /** Returns the directory that a process works on: the named one, or that of the named fork. */
  async #findDirectory(vault: string): Promise<string | undefined> {
    return vault.startsWith('/') ? vault : findForkDirectory(this.#options.home, vault)
  }

  /** Returns the workspace of a process: a fork of a directory, of which nothing is imported, or of a vault. */
  async #prepareWorkspace(
    { vault, fork, directory, pid }: NewFork,
    options: SpawnOptions,
  ): Promise<Pick<NamespaceOptions, 'vault' | 'fork' | 'directory'>> {
    if (directory === undefined) {
      await this.#prepareFork(vault, fork, options)
      return { vault, fork }
    }
    const { checkpoint: at, merge } = options
    const from = directory === vault ? undefined : { fork: vault, at }
    return {
      directory: { path: directory, fork, from, merge, isKept: true, program: `process ${pid}` },
    }
  }

  /**
   * Makes a fork that does not start as its vault is now: at a checkpoint, or with the changes of others. Throws
   * ECONFLICT if these conflict.
   */
  async #prepareFork(vault: string, fork: string, { checkpoint, merge = [] }: SpawnOptions): Promise<void> {
    const { home } = this.#options
    if (checkpoint === undefined && merge.length === 0) return
    await home.fork(vault, fork, checkpoint === undefined ? {} : { at: checkpoint })
    try {
      for (const source of merge) await home.merge(source, fork)
    } catch (error) {
      await home.deleteVault(fork)
      throw error
    }
  }

  /** Lists the devices of a process, without models. */
  #listDevices(pid: number, allowed: readonly string[] | null): string[] {
    const isAllowed = (path: string) => allowed === null || allowed.some((root) => isWithin(path, root))
    return this.#options.devices
      .listPaths(pid)
      .filter((path) => !isWithin(path, '/dev/llm') && isAllowed(path))
  }

  /** Opens the person's namespace: the same devices, and no workspace. */
  openForPerson(context: string): Promise<Namespace> {
    return this.#open({ pid: 0, caller: { kind: 'context', context }, context })
  }

  async #open({
    pid,
    caller,
    ...choices
  }: { readonly pid: number; readonly caller: Caller } & Omit<
    Parameters<typeof openNamespace>[0],
    'home'
  >): Promise<Namespace> {
    const { home, commands, devices, findSignal } = this.#options
    const never = new AbortController().signal
    const createDeviceContext = () => ({ pid, caller, fs: namespace.fs, signal: findSignal(pid) ?? never })
    const mounted = DEVICE_ROOTS.map(
      (path) => [path, new DeviceFs(devices, path, createDeviceContext)] as const,
    )
    const namespace: Namespace = await openNamespace({
      home,
      commands,
      closed: commands.hidden,
      devices: Object.fromEntries(mounted),
      ...choices,
    })
    return namespace
  }

  /** Closes a namespace; its fork stays, unless the process never started. */
  async #close(pid: number): Promise<void> {
    const { home, findSignal, leave } = this.#options
    const namespace = this.#byPid.get(pid)
    if (namespace === undefined) return
    this.#byPid.delete(pid)
    await namespace.namespace.close()
    if (namespace.fork !== null) await leave(namespace.fork)
    if (findSignal(pid) === undefined && namespace.fork !== null) await deleteFork(home, namespace.fork)
  }
}

/** Lists the mount points of an agent's servers for a process. */
function listMountPoints(pid: number, agent: SpawnOptions['agent']): string[] {
  return Object.keys(agent?.mcp ?? {}).map((name) => getMountPoint(pid, name))
}
