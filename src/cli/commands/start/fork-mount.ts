import { setTimeout } from 'node:timers/promises'
import { RunningForks } from '../../../boundary/index.ts'
import { escapeName } from '../../../text/index.ts'
import { type ForkMountChanges, mountFork } from '../../../workspace/index.ts'
import { assertIdle } from '../../access/drop-forks.ts'
import type { OpenHome } from '../../access/home-access.ts'
import { getMountsDirectory } from '../../access/home-path.ts'
import type { OpenLinkedFork } from '../../access/linked-access.ts'
import { formatMountCommand } from '../../access/mounted-forks.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError } from '../../framework/errors.ts'
import { formatCount } from '../../render/format-values.ts'
import type { MountPlan } from './unprivileged-mount.ts'

type ForkMountInvocation = CommandInvocation<never, never>

const POLL_MS = 100

/** Mounts a fork of a directory until it is unmounted or interrupted, and prints what the fork then has. */
export async function serveForkMount(
  call: ForkMountInvocation,
  open: OpenHome,
  { link, fork }: OpenLinkedFork,
  plan: MountPlan & { readonly device?: number },
): Promise<void> {
  const { path, ctx } = open
  const { output, terminal } = call
  const { directory, source, isReadOnly } = plan
  const command = formatMountCommand(fork.name, directory)
  using claim = RunningForks.of(path).claim({ fork: fork.name, directory: link.path, command })
  if (claim === undefined) {
    assertIdle(open, fork.name)
    throw new CommandError(`${fork.name} is in use by another command; try again`)
  }
  const { signal: _signal, ...provenance } = ctx
  const options = {
    link,
    fork,
    by: provenance,
    mounts: getMountsDirectory(path),
    mountpoint: directory,
    source,
    isReadOnly,
  }
  const kept = await mountFork(options, async ({ overlay, answerRequests }) => {
    await using served = overlay.isOnMachine ? undefined : await serveOverlay(overlay.path, plan)
    const text = `${fork.name} is mounted on ${directory}; Ctrl-C unmounts it`
    await output.writeValue({ fork: fork.name, directory }, text)
    await output.flush()
    const ended = AbortSignal.any([terminal.signal, ...(served === undefined ? [] : [served.ended])])
    await serveUntilUnmounted(directory, ended, answerRequests)
    // The namespace of the overlay has a copy of the served mount, which would keep it from ending.
    await overlay.unmount()
  })
  terminal.err.write(formatKept(fork.name, kept))
}

/** Serves the overlay of an ordinary user, which only this process sees, to all their programs. */
async function serveOverlay(
  path: string,
  plan: MountPlan & { readonly device?: number },
): Promise<AsyncDisposable & { readonly ended: AbortSignal }> {
  const [{ HostFs }, { mountFileSystem }] = await Promise.all([
    import('../../../backends/host/index.ts'),
    import('../../../fuse/index.ts'),
  ])
  const fs = new HostFs(path)
  const mount = await mountFileSystem(fs, plan)
  const end = new AbortController()
  mount.ended.then(
    () => end.abort(),
    () => end.abort(),
  )
  return {
    ended: end.signal,
    [Symbol.asyncDispose]: async () => {
      await mount[Symbol.asyncDispose]()
      await fs.close()
    },
  }
}

/**
 * Answers the requests of other processes until a directory is unmounted, or the signal is aborted. The kernel sends
 * Node no event.
 */
async function serveUntilUnmounted(
  directory: string,
  signal: AbortSignal,
  answerRequests: () => Promise<void>,
): Promise<void> {
  const { listCoppiceMounts } = await import('../../../fuse/index.ts')
  while (!signal.aborted && listCoppiceMounts().some((mount) => mount.directory === directory)) {
    await answerRequests()
    await setTimeout(POLL_MS, undefined, { signal }).catch(() => {})
  }
}

function formatKept(name: string, { changed, leftOut }: ForkMountChanges): string {
  const { added, modified, deleted } = changed
  const count = added.length + modified.length + deleted.length
  const lost = leftOut.length === 0 ? '' : `coppice: not kept: ${leftOut.map(escapeName).join(', ')}\n`
  if (count === 0) return lost
  const next = `coppice diff ${name} · coppice apply ${name}`
  return `${lost}coppice: ${name} has ${formatCount(count, 'more change')}: ${next}\n`
}
