import { createProcessTag } from '../../../machine/index.ts'
import { isVfsError, VfsError } from '../../../vfs/index.ts'
import { type Exchanged, fetchTracking, type TrackedState, toTrackingName } from '../exchange/index.ts'
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

/**
 * Copies a vault to this machine, in proportion to what changed since it was last copied. Throws ENOENT if there is no
 * such vault.
 */
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

/** Copies the whole vault: to copy later what changed, the home would have to note the state in the database. */
async function createReadOnlyCopy({ shared, machine, vault }: CopiedVault): Promise<MachineCopy> {
  const copy = createSessionName()
  await receiveVault(machine.store, sendVault(shared.store, vault), { as: copy })
  const refuse = async () => {
    throw new VfsError('EROFS', vault, { detail: `this role may only read the home of '${vault}'` })
  }
  return {
    vault: copy,
    publishFork: refuse,
    merge: refuse,
    [Symbol.asyncDispose]: () => machine.home.deleteVault(copy),
  }
}

async function createCopy(copied: CopiedVault): Promise<MachineCopy> {
  const { shared, machine, vault } = copied
  if (shared.home.isReadOnly) return createReadOnlyCopy(copied)
  const { tracking, common } = await fetchLatest(copied)
  // The session works in the copy. The base keeps the common state in the database, also without its checkpoint.
  const copy = createSessionName()
  const base = `${copy}-base`
  await machine.home.fork(tracking, copy, { at: common })
  try {
    await shared.home.fork(vault, base, { at: common })
  } catch (error) {
    await machine.home.deleteVault(copy)
    throw error
  }
  // The new fork begins at the common state, so only the changes since then are sent.
  const sendAsFork = async (source: string, fork: string) => {
    await shared.home.fork(vault, fork, { baseOf: base })
    const stream = sendVault(machine.store, source, { sinceFork: common })
    await receiveVault(shared.store, stream, { as: fork, sinceFork: common })
  }
  return {
    vault: copy,
    publishFork: async (fork) => {
      await sendAsFork(fork, fork)
      await machine.home.deleteVault(fork)
    },
    merge: async (by = {}) => {
      const sent = createSessionName()
      await sendAsFork(copy, sent)
      // Theirs are the versions of the source: in a conflict the session wins.
      await shared.home.merge(sent, vault, { ...by, onConflict: 'theirs' })
      await shared.home.deleteVault(sent)
    },
    [Symbol.asyncDispose]: async () => {
      await machine.home.deleteVault(copy)
      await shared.home.deleteVault(base)
    },
  }
}

/** Creates a new name for a fork of a session. A sweep deletes the forks of dead processes. */
function createSessionName(): string {
  return `session-${createProcessTag()}`
}

/**
 * Brings the tracking fork of a vault on this machine up to date. Creates it again if the vault was deleted and created
 * again under its name.
 */
export async function fetchLatest({ shared, machine, vault }: CopiedVault): Promise<TrackedState> {
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
