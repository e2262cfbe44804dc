import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { RunningForks } from '../../../boundary/index.ts'
import type { FuseMount } from '../../../fuse/index.ts'
import { escapeName } from '../../../text/index.ts'
import { type ForkMountChanges, mountFork } from '../../../workspace/index.ts'
import type { OpenHome } from '../../access/home-access.ts'
import type { OpenLinkedFork } from '../../access/linked-access.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError } from '../../framework/errors.ts'
import { formatCount } from '../../render/format-values.ts'
import type { MountPlan } from './unprivileged-mount.ts'

type ForkMountInvocation = CommandInvocation<never, never>

const MOUNT_COMMAND = 'coppice mount'
const POLL_MS = 100

/** Mounts a fork of a directory until it is unmounted or interrupted, and prints what the fork then has. */
export async function serveForkMount(
  call: ForkMountInvocation,
  { path, ctx }: OpenHome,
  { link, fork }: OpenLinkedFork,
  plan: MountPlan & { readonly device?: number },
): Promise<void> {
  const { output, terminal } = call
  const { directory, source, isReadOnly } = plan
  const command = formatMountCommand(fork.name, directory)
  using claim = RunningForks.of(path).claim({ fork: fork.name, directory: link.path, command })
  if (claim === undefined)
    throw new CommandError(`${fork.name} is in use by a command; wait for its end, or use coppice enter`)
  const { signal: _signal, ...provenance } = ctx
  const options = {
    link,
    fork,
    by: provenance,
    sessions: join(path, 'sessions'),
    mountpoint: directory,
    source,
    isReadOnly,
  }
  const kept = await mountFork(options, async (mounted) => {
    await using served = mounted.isOnMachine ? undefined : await serveOverlay(mounted.path, plan)
    const text = `${fork.name} is mounted on ${directory}; Ctrl-C unmounts it`
    await output.writeValue({ fork: fork.name, directory }, text)
    await output.flush()
    await Promise.race([
      waitForUnmount(directory, terminal.signal),
      served?.mount.ended ?? new Promise(() => {}),
    ])
    // The namespace of the overlay has a copy of the served mount, which would keep it from ending.
    await mounted.unmount()
  })
  terminal.err.write(formatKept(fork.name, kept))
}

/** Serves the overlay of an ordinary user, which only this process sees, to all their programs. */
async function serveOverlay(
  path: string,
  plan: MountPlan & { readonly device?: number },
): Promise<AsyncDisposable & { readonly mount: FuseMount }> {
  const [{ HostFs }, { mountFileSystem }] = await Promise.all([
    import('../../../backends/host/index.ts'),
    import('../../../fuse/index.ts'),
  ])
  const fs = new HostFs(path)
  const mount = await mountFileSystem(fs, plan)
  return {
    mount,
    [Symbol.asyncDispose]: async () => {
      await mount[Symbol.asyncDispose]()
      await fs.close()
    },
  }
}

/**
 * Resolves when another process has unmounted a directory, or the signal is aborted. The kernel sends Node no event.
 */
async function waitForUnmount(directory: string, signal: AbortSignal): Promise<void> {
  const { listCoppiceMounts } = await import('../../../fuse/index.ts')
  while (!signal.aborted && listCoppiceMounts().some((mount) => mount.directory === directory))
    await setTimeout(POLL_MS, undefined, { signal }).catch(() => {})
}

/** Waits until the process that mounted a fork on a directory has stored the changes in the fork. */
export async function waitForForkMount(home: string, directory: string): Promise<void> {
  const isStoring = () =>
    RunningForks.of(home)
      .list()
      .some(({ fork, command }) => command === formatMountCommand(fork, directory))
  while (isStoring()) await setTimeout(POLL_MS)
}

function formatMountCommand(fork: string, directory: string): string {
  return `${MOUNT_COMMAND} ${fork} ${directory}`
}

function formatKept(name: string, { changed, leftOut }: ForkMountChanges): string {
  const { added, modified, deleted } = changed
  const count = added.length + modified.length + deleted.length
  const lost = leftOut.length === 0 ? '' : `coppice: not kept: ${leftOut.map(escapeName).join(', ')}\n`
  if (count === 0) return lost
  const next = `coppice diff ${name} · coppice apply ${name}`
  return `${lost}coppice: ${name} has ${formatCount(count, 'more change')}: ${next}\n`
}
