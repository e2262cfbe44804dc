import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { FuseMount, HomeLocation } from '../../../fuse/index.ts'
import type { Caller } from '../../../vfs/index.ts'
import { connectDaemon } from '../../access/daemon-access.ts'
import { DEVICE_ROOTS } from '../../access/device-paths.ts'
import { type OpenHome, resolveHomePath, withHome } from '../../access/home-access.ts'
import { findLinkedFork } from '../../access/linked-access.ts'
import { resolveWorkspaceVault, withNamespace } from '../../access/namespace-access.ts'
import { assertForkOrVault } from '../../access/running-command.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError } from '../../framework/errors.ts'
import { formatHomeCommand } from '../../framework/hint.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { context, fork } from '../shared-options.ts'
import { type MountPlan, prepareMount } from './unprivileged-mount.ts'

/** Argument that mounts the whole namespace of a context. */
const NAMESPACE = '/'
const namespaceOptions = ['context', 'vault', 'fork'] as const

type MountInvocation = CommandInvocation<
  'background' | 'read-only' | 'allow-other' | 'no-xattr' | 'context' | 'fork',
  'what' | 'directory'
>

export const mount: Command = defineCommand(
  {
    name: 'mount',
    summary: 'Mount a vault, fork or namespace as a directory',
    details: `Serves the directory until Ctrl-C or coppice unmount, with --background in another process.
Every change reaches the vault at once.
A fork of this directory shows the directory with the changes of the fork, and gets the changes you make there.
With / in place of a vault it mounts what agents see, with the rights of a context: /workspace, /shared, the homes of
contexts and the mounts of config.toml. /proc, /dev and /mnt/mcp come from the daemon, which starts on first use.
A device reads its request and returns its response on one open file: exec 3<>dev/tasks/task_list; echo '{}' >&3; cat <&3
Needs /dev/fuse, and one of: root; fusermount3 and python3; a user namespace (unshare -Urm coppice mount …).`,
    scope: 'vault',
    arguments: {
      what: {
        summary: 'A vault, a fork of this directory, or / for all that a context sees',
        offers: 'fork',
      },
      directory: { summary: 'An existing directory; its content is hidden while mounted', offers: 'file' },
    },
    options: {
      background: { summary: 'Return once it is mounted; coppice unmount ends it' },
      'read-only': { summary: 'Mount read-only' },
      'allow-other': { summary: 'Let other users in, within permissions (always on for root)' },
      'no-xattr': { summary: 'Refuse extended attributes of a vault, which makes unpacking faster' },
      context,
      fork,
    },
    examples: [
      'coppice mount base /mnt/base',
      'coppice mount fix-1 /tmp/fix-1 --background',
      'coppice mount base ./view --read-only',
      'coppice mount / /mnt/all --context alice --vault base',
    ],
  },
  (call) => {
    if (call.has('background')) return runInBackground(call)
    return call.argument('what') === NAMESPACE ? runNamespaceMount(call) : runVaultMount(call)
  },
)

/** Mounts in another process, which goes on until it is unmounted. */
async function runInBackground(call: MountInvocation): Promise<void> {
  const { startBackgroundMount } = await import('../../access/background-mount.ts')
  const [what, directory] = [call.argument('what'), resolve(call.argument('directory'))]
  const flags = (['read-only', 'allow-other', 'no-xattr'] as const).filter((name) => call.has(name))
  const values = (['home', ...namespaceOptions] as const).flatMap((name) => {
    const value = call.option(name)
    return value === undefined ? [] : [`--${name}`, value]
  })
  const words = [what, directory, ...flags.map((name) => `--${name}`), ...values]
  await startBackgroundMount({ home: await resolveHomePath(call), cwd: process.cwd(), words })
  const text = `${what} is mounted on ${directory}; coppice unmount ${directory} ends it`
  await call.output.writeValue({ mounted: what, directory }, text)
}

async function runVaultMount(call: MountInvocation): Promise<void> {
  const name = call.argument('what')
  const withoutXattrs = call.has('no-xattr')
  if (name.includes('/'))
    throw new UsageError(
      `'${name}' is no vault or fork; the directory comes last: coppice mount <name> ${name}`,
    )
  const namespaceOption = namespaceOptions.find((option) => call.has(option))
  if (namespaceOption !== undefined)
    throw new UsageError(
      `--${namespaceOption} needs a namespace: coppice mount / <directory> --${namespaceOption} …`,
    )
  const location = await withHome(call, async (open) => {
    const linked = await findLinkedFork(open.home, name)
    if (linked === undefined) {
      await assertForkOrVault(open, name)
      return locateHome(open, name)
    }
    if (withoutXattrs)
      throw new UsageError('--no-xattr is for vaults; a fork of a directory has those of its disk')
    assertOutside(linked.link.path, resolve(call.argument('directory')))
    return undefined
  })
  const plan = await prepareMount(createMountPlan(call, `coppice:${name}`))
  if (location === undefined) return withHome(call, (open) => runForkMount(call, open, plan))
  if (location.isShared) {
    const { runSharedMount } = await import('./shared-mount.ts')
    return runSharedMount(call, { ...plan, withoutXattrs }, (mounted) =>
      serveUntilStopped(call, mounted, { name, fields: { vault: name } }),
    )
  }
  const { home, caller } = location
  const { mountVault } = await import('../../../fuse/index.ts')
  const provenance = caller === undefined ? {} : { caller }
  await using mounted = await mountVault({ ...plan, ...provenance, home, vault: name, withoutXattrs })
  await serveUntilStopped(call, mounted, { name, fields: { vault: name } })
}

/** Throws CommandError for a mount point in the directory of a fork: an overlay cannot show its own mount point. */
function assertOutside(project: string, directory: string): void {
  if (directory !== project && !directory.startsWith(`${project}/`)) return
  throw new CommandError(`cannot mount on ${directory}, inside ${project}; choose a directory outside of it`)
}

async function runForkMount(
  call: MountInvocation,
  open: OpenHome,
  plan: Awaited<ReturnType<typeof prepareMount>>,
): Promise<void> {
  const name = call.argument('what')
  const linked = await findLinkedFork(open.home, name)
  if (linked === undefined)
    throw new CommandError(`there is no fork '${name}' any more; see ${formatHomeCommand(call, 'forks')}`)
  const { serveForkMount } = await import('./fork-mount.ts')
  // With a device, the directory is a mount that is not served yet: realpath would block. Its path is canonical.
  const directory = plan.device === undefined ? realpathSync(plan.directory) : plan.directory
  await serveForkMount(call, open, linked, { ...plan, directory })
}

async function runNamespaceMount(call: MountInvocation): Promise<void> {
  if (call.has('no-xattr'))
    throw new UsageError('--no-xattr is for vaults; a namespace has no extended attributes')
  const isReadOnly = call.has('read-only')
  const choices = { vault: await resolveWorkspaceVault(call), fork: call.option('fork'), isReadOnly }
  const plan = await prepareMount(createMountPlan(call, 'coppice:/'))
  const { DaemonFiles, ReconnectingClient } = await import('../../../daemon/client/index.ts')
  await using daemon = new ReconnectingClient(async () => connectDaemon(await resolveHomePath(call)))
  const devices = DEVICE_ROOTS.map((root) => [root, new DaemonFiles(root, () => daemon.get())] as const)
  await withNamespace(call, { ...choices, devices: Object.fromEntries(devices) }, async (namespace) => {
    const { mountFileSystem } = await import('../../../fuse/index.ts')
    const contextName = namespace.context
    await using mounted = await mountFileSystem(namespace.fs, {
      ...plan,
      ctx: { caller: { kind: 'context', context: contextName } },
      watch: (ctx) => namespace.watch('/', ctx),
      disk: await resolveHomePath(call),
    })
    await serveUntilStopped(call, mounted, {
      name: `all that ${contextName} sees`,
      fields: { context: contextName },
    })
  })
}

function createMountPlan(call: MountInvocation, source: string): MountPlan {
  return {
    source,
    directory: resolve(call.argument('directory')),
    isReadOnly: call.has('read-only'),
    ...(call.has('allow-other') && { allowsOthers: true }),
  }
}

/** Returns the location of the home, for the serving thread, and the caller. ENOENT for no such vault. */
async function locateHome(
  { home, path, ctx }: OpenHome,
  vault: string,
): Promise<{ readonly home: HomeLocation; readonly caller: Caller | undefined; readonly isShared: boolean }> {
  await home.info(vault)
  return { home: home.place ?? { path }, caller: ctx.caller, isShared: home.isShared }
}

/** Prints the mount point, and waits until it is unmounted or the command is interrupted. */
async function serveUntilStopped(
  { output, terminal }: MountInvocation,
  { directory, ended }: FuseMount,
  { name, fields }: { readonly name: string; readonly fields: Readonly<Record<string, string>> },
): Promise<void> {
  await output.writeValue({ ...fields, directory }, `${name} is mounted on ${directory}; Ctrl-C unmounts it`)
  await output.flush()
  const { signal } = terminal
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
  if (signal.aborted) stop()
  signal.addEventListener('abort', () => stop(), { once: true })
  await Promise.race([ended, stopped])
}
