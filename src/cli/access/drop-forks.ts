import { isMirrorName } from '../../backends/vault/index.ts'
import { RunningForks } from '../../boundary/index.ts'
import { listCompanionNames, removeForkFiles } from '../../workspace/index.ts'
import { CommandError } from '../framework/errors.ts'
import { quoteShellWord } from '../render/shell-word.ts'
import { deleteVault } from './delete-vault.ts'
import type { OpenHome } from './home-access.ts'
import { getMountDirectory, isMountCommand } from './mounted-forks.ts'

/** A deleted fork. */
export interface DroppedFork {
  readonly name: string
  /** The vault that it was forked from; undefined for a fork of a directory. */
  readonly from: string | undefined
  /** The current vault of the home afterwards. */
  readonly current: string | undefined
}

/** Deletes a fork and everything stored for it. CommandError if it is no fork, or if a command runs in it; ENOENT. */
export async function dropFork(open: OpenHome, fork: string): Promise<DroppedFork> {
  assertIdle(open, fork)
  const { name, from } = await open.home.info(fork)
  if (from === undefined)
    throw new CommandError(`'${name}' is not a fork; delete it with: coppice vault delete ${name}`)
  const current = await deleteVault(open, name)
  const isLinked = isMirrorName(from.vault)
  if (isLinked) await deleteMirror(open, from.vault)
  await removeForkFiles(open.home.path, name)
  return { name, from: isLinked ? undefined : from.vault, current }
}

/** Refuses a fork in which a command runs: its changes would come back at its end. */
export function assertIdle({ path }: OpenHome, fork: string): void {
  const running = RunningForks.of(path).find(fork)
  if (running === undefined) return
  const { command } = running
  const next = isMountCommand(command)
    ? `unmount it first with: coppice unmount ${quoteShellWord(getMountDirectory(fork, command))}`
    : `end that command first, or join it with: coppice enter ${fork}`
  throw new CommandError(`${fork} is in use by '${command}'; ${next}`)
}

/** Deletes the vault that mirrors the directory of a fork, and the vaults beside it. */
async function deleteMirror({ home }: OpenHome, mirror: string): Promise<void> {
  const names = await home.vaults()
  for (const vault of [...listCompanionNames(mirror), mirror])
    if (names.includes(vault)) await home.deleteVault(vault)
}
