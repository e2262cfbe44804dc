import { createProcessTag } from '../../../machine/index.ts'
import { isVfsError } from '../../../vfs/index.ts'
import { type Exchanged, fetchTracking, toTrackingName } from '../exchange/index.ts'
import type { MachineCopy } from '../machine-copy.ts'
import { receiveVault, sendVault } from '../transfer/index.ts'
import type { OpenStore } from './machine-home.ts'

/** Attempts to copy a vault while other processes of this machine copy it, too. */
const MAX_ATTEMPTS = 20

/** A vault of a home in a database, and the home of this machine that gets a copy. */
export interface CopiedVault {
  readonly vault: string
  readonly shared: OpenStore
  readonly machine: OpenStore
}

/** Copies a vault to this machine, in proportion to what changed since it was last copied. ENOENT. */
export async function openMachineCopy(copied: CopiedVault): Promise<MachineCopy> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await createCopy(copied)
    } catch (error) {
      // Another process of this machine has copied the vault meanwhile.
      const isRetried = (['ENOENT', 'EEXIST', 'ECONFLICT'] as const).some((code) => isVfsError(error, code))
      if (!isRetried || attempt === MAX_ATTEMPTS || !(await copied.shared.home.hasVault(copied.vault)))
        throw error
    }
  }
}

async function createCopy(copied: CopiedVault): Promise<MachineCopy> {
  const { shared, machine, vault } = copied
  const { tracking, common } = await fetchLatest(copied)
  const tag = createProcessTag()
  // A fork in both homes has the same state, whatever others copy from now on. A sweep deletes those of dead processes.
  const [copy, pin] = [`session-${tag}`, `session-${tag}-base`]
  await machine.home.fork(tracking, copy, { at: common })
  try {
    await shared.home.fork(vault, pin, { at: common })
  } catch (error) {
    await machine.home.deleteVault(copy)
    throw error
  }
  const send = async (from: string, to: string) => {
    await shared.home.fork(vault, to, { baseOf: pin })
    const stream = sendVault(machine.store, from, { sinceFork: common })
    await receiveVault(shared.store, stream, { as: to, sinceFork: common })
  }
  return {
    vault: copy,
    publishFork: async (fork) => {
      await send(fork, fork)
      await machine.home.deleteVault(fork)
    },
    merge: async (by = {}) => {
      const sent = `session-${createProcessTag()}`
      await send(copy, sent)
      await shared.home.merge(sent, vault, { ...by, onConflict: 'theirs' })
      await shared.home.deleteVault(sent)
    },
    [Symbol.asyncDispose]: async () => {
      await machine.home.deleteVault(copy)
      await shared.home.deleteVault(pin)
    },
  }
}

/** Brings this machine's copy of a vault up to date. Begins anew if the vault is not the one that was copied. */
export async function fetchLatest({
  shared,
  machine,
  vault,
}: CopiedVault): Promise<{ readonly tracking: string; readonly common: string }> {
  const exchanged: Exchanged = {
    home: machine.home,
    vault,
    other: shared.home,
    otherVault: vault,
    location: 'database',
  }
  try {
    return await fetchTracking(exchanged)
  } catch (error) {
    const tracking = toTrackingName(exchanged)
    if (!isVfsError(error, 'EEXIST') || !(await machine.home.hasVault(tracking))) throw error
    await machine.home.deleteVault(tracking)
    return fetchTracking(exchanged)
  }
}
