import {
  assertContextName,
  guard,
  type Policy,
  type ProtectedPlace,
  protectedNames,
  readOnlyPolicy,
  zonePolicy,
} from '../../access/index.ts'
import type { Vault } from '../../backends/vault/index.ts'
import { type HostFiles, type HostHooks, OutputCache, TOOL_CACHE } from '../../tools/index.ts'
import { type FileSystem, MountTable, VfsError } from '../../vfs/index.ts'
import type { OpenedFs } from '../backends.ts'
import { Belongings } from './belongings.ts'
import { HomeDoor } from './home-door.ts'
import { hostOpener } from './host-opener.ts'
import { Namespace } from './namespace.ts'
import { openWorkspace } from './open-workspace.ts'
import { cacheOptions, type HomeSettings, protectedIn, settingsOf } from './settings.ts'
import { openToolCache } from './tool-cache.ts'
import { assertMountable, configuredMounts, givenMounts, type UserMount } from './user-mounts.ts'
import { VaultWorkspace } from './vault-workspace.ts'
import type { CommandSettings } from './workspace-commands.ts'
import { makeContext, zonesOf } from './zones.ts'

const WORKSPACE = '/workspace'

export interface NamespaceOptions extends HomeSettings {
  /** Who works here: letters, digits, - and _. It gets a home of its own. */
  readonly context: string
  /** The vault to be `/workspace`; none when absent. */
  readonly vault?: string | undefined
  /** Work in a fork of the vault by this name, made if there is none. */
  readonly fork?: string | undefined
  /** File systems by their place, beside those of the configuration. They stay the caller's to close. */
  readonly mounts?: Readonly<Record<string, OpenedFs>>
  /** Directories of this machine that tools may use, beside those of the configuration. */
  readonly allow?: readonly string[]
  /** Directories of this machine that are closed to the context and its commands, as the home is: other homes. */
  readonly closed?: readonly string[] | undefined
  /** Asked before tools touch a file of this machine. */
  readonly hooks?: HostHooks
  /** Nothing of it can be changed by the context. */
  readonly isReadOnly?: boolean
  /** Commands may be run in the workspace, through the execution boundary of the home, which needs a place on disk. */
  readonly commands?: CommandSettings | undefined
  /** Devices and the like by their place (`/dev`, `/proc`, `/mnt/mcp`), where nothing else can be mounted. */
  readonly devices?: Readonly<Record<string, FileSystem>>
  /** What the guard asks besides. */
  readonly policies?: readonly Policy[]
}

/**
 * Opens what a context sees as `/`: zones, `/workspace` and mounts behind one guard. Zones, fork and the context's
 * home are made if they are missing. ConfigError, ENOENT, EINVAL; then nothing stays open.
 */
export async function openNamespace(options: NamespaceOptions): Promise<Namespace> {
  const context = assertContextName(options.context)
  const { config, source } = await settingsOf(options)
  const door = new HomeDoor(options.home, config, options.closed)
  const belongings = new Belongings()
  belongings.onClose(() => door.close())
  try {
    const zones = belongings.keep(await zonesOf(config, door))
    await makeContext(zones, context)
    const vault = await workspaceVault(options, door, belongings)
    const mounts = [
      ...(await configuredMounts(config, source, door, belongings)),
      ...givenMounts(options.mounts ?? {}),
    ]
    await assertMountable(mounts, door.closed)
    const table = tableOf(zones, vault, mounts)
    for (const [path, devices] of Object.entries(options.devices ?? {})) table.mount(path, devices)
    table.mount(TOOL_CACHE, belongings.keep(await openToolCache(door)))
    const protect = protectedIn(config.host)
    const fs = guard(table, [
      zonePolicy([...ownZones(context, vault, mounts), ...deviceZones(context, options.devices)]),
      protectedNames(protect, directoriesOf(mounts)),
      ...(options.policies ?? []),
      ...(options.isReadOnly === true ? [readOnlyPolicy(['/'])] : []),
    ])
    const openHost = hostOpener({ protect, hooks: options.hooks, door })
    const host = hostFor([...(config.host?.allow ?? []), ...(options.allow ?? [])], openHost, belongings)
    const commands = options.commands && { hidden: options.closed, ...options.commands }
    const cache = new OutputCache(fs, cacheOptions(config.tools))
    const workspace = vault && new VaultWorkspace(await door.home(), vault, WORKSPACE, commands)
    return new Namespace({ context, table, fs, cache, host, openHost, workspace, belongings })
  } catch (error) {
    await belongings.close()
    throw error
  }
}

function hostFor(
  allowed: readonly string[],
  open: (directories: readonly string[]) => HostFiles,
  belongings: Belongings,
): HostFiles | undefined {
  return allowed.length === 0 ? undefined : belongings.keep(open(allowed))
}

async function workspaceVault(
  { vault, fork }: NamespaceOptions,
  door: HomeDoor,
  belongings: Belongings,
): Promise<Vault | undefined> {
  if (vault !== undefined) return belongings.keep(await openWorkspace(await door.home(), { vault, fork }))
  if (fork === undefined) return undefined
  throw new VfsError('EINVAL', WORKSPACE, {
    op: 'fork',
    detail: `name the vault that '${fork}' is a fork of`,
  })
}

function tableOf(zones: OpenedFs, vault: Vault | undefined, mounts: readonly UserMount[]): MountTable {
  const table = new MountTable({ '/': zones })
  if (vault !== undefined) table.mount(WORKSPACE, vault)
  for (const { path, fs } of mounts) table.mount(path, fs)
  return table
}

/** Mounts of directories of this machine, which have their protected names wherever they are mounted. */
function directoriesOf(mounts: readonly UserMount[]): ProtectedPlace[] {
  return mounts.flatMap(({ path, directory }) =>
    directory === undefined ? [] : [{ root: path, original: directory }],
  )
}

/** What the context may write beside the zones everybody has. */
function ownZones(
  context: string,
  vault: Vault | undefined,
  mounts: readonly UserMount[],
): { readonly root: string; readonly writers: string[] }[] {
  const roots = mounts.filter(({ isWritable }) => isWritable).map(({ path }) => path)
  const all = vault === undefined ? roots : [WORKSPACE, ...roots]
  return all.map((root) => ({ root, writers: [context] }))
}

/** Where a device is there to be written to; what it takes is its own business. */
function deviceZones(
  context: string,
  devices: NamespaceOptions['devices'] = {},
): { readonly root: string; readonly writers: string[] }[] {
  const writable = Object.entries(devices).filter(([, fs]) => fs.capabilities.has('write'))
  return writable.map(([root]) => ({ root, writers: [context] }))
}
