import type { FuseMount } from '../../../fuse/index.ts'
import { type OpenHome, withHome } from '../../access/home-access.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError } from '../../framework/errors.ts'
import type { MountPlan } from './unprivileged-mount.ts'

type SharedMountInvocation = CommandInvocation<never, 'what'>

/** A plan whose device may be open already. */
interface PreparedMount extends MountPlan {
  readonly device?: number
  readonly withoutXattrs: boolean
}

/**
 * Mounts a vault of a shared home: this machine leases it, and gives it back after the unmount. Read-only, it mounts a
 * copy of the current state, which needs no lease.
 */
export function runSharedMount(
  call: SharedMountInvocation,
  plan: PreparedMount,
  serve: (mounted: FuseMount) => Promise<void>,
): Promise<void> {
  return withHome(call, (open) =>
    plan.isReadOnly ? mountCopy(call, open, plan, serve) : mountLease(call, open, plan, serve),
  )
}

async function mountCopy(
  call: SharedMountInvocation,
  { home }: OpenHome,
  plan: PreparedMount,
  serve: (mounted: FuseMount) => Promise<void>,
): Promise<void> {
  const name = call.argument('what')
  await using copy = await home.openMachineCopy(name)
  await using mounted = await mountOnMachine(home, copy?.vault ?? name, plan)
  await serve(mounted)
}

async function mountLease(
  call: SharedMountInvocation,
  { home, ctx }: OpenHome,
  plan: PreparedMount,
  serve: (mounted: FuseMount) => Promise<void>,
): Promise<void> {
  const name = call.argument('what')
  const caller = ctx.caller === undefined ? {} : { caller: ctx.caller }
  await using lease = await home.lease(name, caller)
  const flush = () => lease.flush()
  const leaseLost = lease.lost.then((error) => {
    throw error
  })
  // The lease may be lost before the race below.
  leaseLost.catch(() => {})
  await using mounted = await mountOnMachine(home, name, { ...plan, ...caller, flush })
  // Without the lease the mount ends: nothing that is written from then on would reach the home.
  await Promise.race([serve(mounted), leaseLost])
}

async function mountOnMachine(
  { place }: OpenHome['home'],
  vault: string,
  options: MountPlan & Partial<Parameters<typeof import('../../../fuse/index.ts').mountVault>[0]>,
): Promise<FuseMount> {
  if (place === undefined) throw new CommandError('this home has no directory on this machine to mount from')
  const { mountVault } = await import('../../../fuse/index.ts')
  return mountVault({ ...options, home: place, vault })
}
