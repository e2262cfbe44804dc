import { randomBytes } from 'node:crypto'
import { deviceWhitelist } from '../../access/index.ts'
import type { Home } from '../../backends/vault/index.ts'
import {
  DeviceFs,
  type DeviceRegistry,
  mountPointOf,
  type SpawnOptions,
  type Surroundings,
} from '../../kernel/index.ts'
import type { Workspace } from '../../tools/index.ts'
import type { Caller } from '../../vfs/index.ts'
import { type CommandSettings, type Namespace, openNamespace } from '../index.ts'
import { NAMELESS } from './agent-choice.ts'

/** Where a process works. */
export interface ProcessPlace {
  readonly namespace: Namespace
  readonly agent: string | null
  /** The vault with its work; null if it has none. */
  readonly fork: string | null
  readonly vault: string | null
}

export interface PlaceOptions {
  readonly home: Home
  readonly commands: CommandSettings
  readonly devices: DeviceRegistry
  /** Aborted when a process ends; undefined for one that is not there. */
  signalOf(pid: number): AbortSignal | undefined
  /** What else was made of a fork is to be removed. */
  leave(fork: string): Promise<void>
}

const DEVICE_PLACES = ['/dev', '/proc', '/mnt/mcp']

/** Gives each process what it sees as `/`, with a fork of its vault as `/workspace`. */
export class ProcessPlaces {
  readonly #options: PlaceOptions
  readonly #places = new Map<number, ProcessPlace>()

  constructor(options: PlaceOptions) {
    this.#options = options
  }

  find(pid: number): ProcessPlace | undefined {
    return this.#places.get(pid)
  }

  workspaceOf(pid: number): Workspace | undefined {
    return this.#places.get(pid)?.namespace.workspace
  }

  /** A process by its agent's name, so that what an agent keeps in its home is there for its next process. */
  async open(pid: number, { agent, parent, vault: named }: SpawnOptions): Promise<Surroundings> {
    const context = agent?.name ?? NAMELESS
    const caller: Caller = { kind: 'process', pid, context }
    // A child goes on with what its parent has done so far.
    const vault = named ?? (parent === undefined ? undefined : this.#places.get(parent)?.fork) ?? undefined
    const fork = vault === undefined ? undefined : `agent-${randomBytes(4).toString('hex')}`
    const allowed = agent?.allowedDevices ?? null
    const namespace: Namespace = await this.#open({
      pid,
      caller,
      context,
      ...(vault !== undefined && { vault, fork }),
      ...(allowed !== null && { policies: [deviceWhitelist([...allowed, ...mountsOf(pid, agent)])] }),
    })
    this.#places.set(pid, { namespace, agent: agent?.name ?? null, fork: fork ?? null, vault: vault ?? null })
    return { fs: namespace.fs, caller, close: () => this.#close(pid) }
  }

  /** What the person at the terminal sees: the same devices, and no workspace. */
  forPerson(context: string): Promise<Namespace> {
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
    const { home, commands, devices, signalOf } = this.#options
    const never = new AbortController().signal
    const contextOf = () => ({ pid, caller, fs: namespace.fs, signal: signalOf(pid) ?? never })
    const mounted = DEVICE_PLACES.map((place) => [place, new DeviceFs(devices, place, contextOf)] as const)
    const namespace: Namespace = await openNamespace({
      home,
      commands,
      closed: commands.hidden,
      devices: Object.fromEntries(mounted),
      ...choices,
    })
    return namespace
  }

  /** Its fork stays, unless the process never began. */
  async #close(pid: number): Promise<void> {
    const { home, signalOf, leave } = this.#options
    const place = this.#places.get(pid)
    if (place === undefined) return
    this.#places.delete(pid)
    await place.namespace.close()
    if (place.fork !== null) await leave(place.fork)
    if (signalOf(pid) === undefined && place.fork !== null) await home.deleteVault(place.fork)
  }
}

/** Where the servers of an agent are mounted for a process. */
function mountsOf(pid: number, agent: SpawnOptions['agent']): string[] {
  return Object.keys(agent?.mcp ?? {}).map((name) => mountPointOf(pid, name))
}
