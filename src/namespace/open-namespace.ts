import {
  assertContextName,
  guard,
  type Policy,
  type ProtectedRoot,
  protectedNamesPolicy,
  readOnlyPolicy,
  zonePolicy,
} from '../access/index.ts'
import { HostFs } from '../backends/host/index.ts'
import type { Home, Vault } from '../backends/vault/index.ts'
import { CleanupStack } from '../machine/index.ts'
import { SecretMask } from '../secrets/index.ts'
import { type HostFiles, type HostHooks, TOOL_CACHE } from '../tools/index.ts'
import { type FileSystem, MountTable, VfsError } from '../vfs/index.ts'
import type { MaskChoice } from '../workspace/index.ts'
import type { OpenedFs } from './backends.ts'
import { ForkWorkspace } from './fork-workspace.ts'
import { type HomeSettings, listProtectedNames, resolveSettings } from './home-settings.ts'
import { createHostOpener } from './host-opener.ts'
import { LazyHome } from './lazy-home.ts'
import { MaskedFs } from './masked-fs.ts'
import { Namespace } from './namespace.ts'
import { NamespaceWorkspace } from './namespace-workspace.ts'
import type { DirectoryWorkspace, OpenedFork } from './open-fork.ts'
import { openWorkspace } from './open-workspace.ts'
import { createOutputCache, openToolCache } from './tool-cache.ts'
import { assertMountable, openConfiguredMounts, toUserMounts, type UserMount } from './user-mounts.ts'
import type { CommandSettings } from './workspace-commands.ts'
import { WorkspaceSecrets } from './workspace-secrets.ts'
import { createContext, openZoneFiles } from './zone-files.ts'

const WORKSPACE = '/workspace'

/** Options of `openNamespace`. */
export interface NamespaceOptions extends HomeSettings {
  /** Name of the context. Its home directory is `/home/<context>`. */
  readonly context: string
  /** The vault for `/workspace`; none when absent. */
  readonly vault?: string | undefined
  /** Works in this fork of the vault, which is created if missing. */
  readonly fork?: string | undefined
  /** In place of a vault: a fork of this directory, of which nothing is imported. */
  readonly directory?: DirectoryWorkspace | undefined
  /** File systems by path, in addition to those of the configuration. The caller closes them. */
  readonly mounts?: Readonly<Record<string, OpenedFs>>
  /** Directories of this machine that tools may use, in addition to those of the configuration. */
  readonly allow?: readonly string[]
  /** Directories of this machine, such as other homes, that are closed to the context and its commands as the home is. */
  readonly closed?: readonly string[] | undefined
  /** Hooks that run before tools use a file of this machine. */
  readonly hooks?: HostHooks
  /** True if the context may change nothing. */
  readonly isReadOnly?: boolean
  /** Settings for commands in the workspace, which run through the execution boundary. They need a home on disk. */
  readonly commands?: CommandSettings | undefined
  /** Files of the workspace whose values the context does not see; those of its commands when absent. */
  readonly mask?: MaskChoice | undefined
  /** Devices by path (`/dev`, `/proc`, `/mnt/mcp`), at which nothing else can be mounted. */
  readonly devices?: Readonly<Record<string, FileSystem>>
  /** More policies of the guard. */
  readonly policies?: readonly Policy[]
}

/**
 * Opens the namespace of a context: zones, `/workspace` and mounts behind one guard. Creates missing zones, the fork
 * and the context's home. ConfigError for an invalid configuration, ENOENT if a vault or directory does not exist, EINVAL
 * for options that do not fit, EEXIST if a name is taken. A failure leaves nothing open.
 */
export async function openNamespace(options: NamespaceOptions): Promise<Namespace> {
  const context = assertContextName(options.context)
  const { config, source } = await resolveSettings(options)
  const lazyHome = new LazyHome(options.home, config, options.closed)
  const cleanup = new CleanupStack()
  cleanup.defer(() => lazyHome.close())
  try {
    const zones = cleanup.use(await openZoneFiles(config, lazyHome))
    await createContext(zones, context)
    const vault = await openWorkspaceVault(options, lazyHome, cleanup)
    const linked = await openLinkedFork(options, lazyHome, cleanup)
    const mounts = [
      ...(await openConfiguredMounts(config, source, lazyHome, cleanup)),
      ...toUserMounts(options.mounts ?? {}),
    ]
    await assertMountable(mounts, lazyHome.closedDirectories)
    const secrets = vault && createSecrets(options, await lazyHome.open(), vault)
    const files = vault === undefined || secrets === undefined ? vault : new MaskedFs(vault, secrets)
    const workspaceFs = linked?.fs ?? files
    const table = createMountTable(zones, workspaceFs, mounts)
    for (const [path, devices] of Object.entries(options.devices ?? {})) table.mount(path, devices)
    table.mount(TOOL_CACHE, cleanup.use(await openToolCache(lazyHome)))
    const protect = listProtectedNames(config.host)
    const fs = guard(table, [
      zonePolicy([
        ...createWritableZones(context, workspaceFs !== undefined, mounts),
        ...createDeviceZones(context, options.devices),
      ]),
      ...protectHostDirectories(protect, mounts),
      ...(options.policies ?? []),
      ...(options.isReadOnly === true ? [readOnlyPolicy(['/'])] : []),
    ])
    const openHost = createHostOpener({ protect, hooks: options.hooks, home: lazyHome })
    const host = openHostFiles([...(config.host?.allow ?? []), ...(options.allow ?? [])], openHost, cleanup)
    const commands = options.commands && { hidden: options.closed, ...options.commands }
    const cache = createOutputCache(fs, config, lazyHome)
    const workspace =
      linked === undefined
        ? vault && new NamespaceWorkspace(await lazyHome.open(), vault, WORKSPACE, { commands, secrets })
        : new ForkWorkspace(await lazyHome.open(), linked, WORKSPACE, commands)
    const fork = linked?.fork
    return new Namespace({ context, table, fs, cache, host, openHost, workspace, fork, cleanup })
  } catch (error) {
    await cleanup.close()
    throw error
  }
}

function openHostFiles(
  allowed: readonly string[],
  open: (directories: readonly string[]) => HostFiles,
  cleanup: CleanupStack,
): HostFiles | undefined {
  return allowed.length === 0 ? undefined : cleanup.use(open(allowed))
}

async function openWorkspaceVault(
  { vault, fork }: NamespaceOptions,
  lazyHome: LazyHome,
  cleanup: CleanupStack,
): Promise<Vault | undefined> {
  if (vault !== undefined) return cleanup.use(await openWorkspace(await lazyHome.open(), { vault, fork }))
  if (fork === undefined) return undefined
  throw new VfsError('EINVAL', WORKSPACE, {
    op: 'fork',
    detail: `the fork '${fork}' needs a vault; name the vault too`,
  })
}

async function openLinkedFork(
  { directory, vault, mask, commands }: NamespaceOptions,
  lazyHome: LazyHome,
  cleanup: CleanupStack,
): Promise<OpenedFork | undefined> {
  if (directory === undefined) return undefined
  if (vault !== undefined)
    throw new VfsError('EINVAL', WORKSPACE, {
      op: 'open',
      detail: 'a workspace is a vault or a directory, not both',
    })
  const { openFork } = await import('./open-fork.ts')
  const { closedDirectories, hostOptions } = lazyHome
  const opened = await openFork(await lazyHome.open(), directory, {
    mask: mask ?? commands?.mask,
    closed: closedDirectories,
    openDirectory: (path) => new HostFs(path, hostOptions),
  })
  cleanup.defer(opened.close)
  return opened
}

/** Creates the mask of a workspace; none in memory, where no key can be kept. */
function createSecrets(
  { mask, commands }: NamespaceOptions,
  { path: home }: Home,
  vault: Vault,
): WorkspaceSecrets | undefined {
  const files = (mask ?? commands?.mask)?.files
  if (files === undefined || home === undefined) return undefined
  return new WorkspaceSecrets(vault, files, async () => {
    // Loaded with the first masked file.
    const { ensureSecretKey, formatVaultScope } = await import('../workspace/index.ts')
    return new SecretMask(ensureSecretKey(home), formatVaultScope(vault.name))
  })
}

function createMountTable(
  zones: OpenedFs,
  workspace: FileSystem | undefined,
  mounts: readonly UserMount[],
): MountTable {
  const table = new MountTable({ '/': zones })
  if (workspace !== undefined) table.mount(WORKSPACE, workspace)
  for (const { path, fs } of mounts) table.mount(path, fs)
  return table
}

/** Protects names in mounted directories of this machine, at every mount point. */
function protectHostDirectories(protect: readonly string[], mounts: readonly UserMount[]): Policy[] {
  const roots: ProtectedRoot[] = mounts.flatMap(({ path, directory }) =>
    directory === undefined ? [] : [{ root: path, original: directory }],
  )
  return roots.length === 0 ? [] : [protectedNamesPolicy(protect, roots)]
}

/** Lists paths that the context may write, in addition to the common zones. */
function createWritableZones(
  context: string,
  hasWorkspace: boolean,
  mounts: readonly UserMount[],
): { readonly root: string; readonly writers: string[] }[] {
  const roots = mounts.filter(({ isWritable }) => isWritable).map(({ path }) => path)
  const all = hasWorkspace ? [WORKSPACE, ...roots] : roots
  return all.map((root) => ({ root, writers: [context] }))
}

/** Lists paths of writable devices, which validate their own input. */
function createDeviceZones(
  context: string,
  devices: NamespaceOptions['devices'] = {},
): { readonly root: string; readonly writers: string[] }[] {
  const writable = Object.entries(devices).filter(([, fs]) => fs.capabilities.has('write'))
  return writable.map(([root]) => ({ root, writers: [context] }))
}
