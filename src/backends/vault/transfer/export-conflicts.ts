import { lstatSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { HostFault } from './host-fault.ts'
import { checkedName, type HostPlace } from './host-place.ts'
import { type SourceEntry, TreeWalk, type VaultSource } from './vault-source.ts'

const ENTRIES_A_TURN = 1000

/**
 * EEXIST if an export would meet something it may not replace. A look ahead, so that nothing is written for nothing;
 * whatever comes into the way after it is refused where it is met.
 */
export async function assertNothingInTheWay(
  source: VaultSource,
  root: SourceEntry,
  place: HostPlace,
  overwrite: boolean,
): Promise<void> {
  const walk = new TreeWalk(source, root)
  for (let seen = 1; ; seen++) {
    if (seen % ENTRIES_A_TURN === 0) await nextTurn()
    const next = walk.next()
    const step = next instanceof Promise ? await next : next
    if (step === undefined) return
    if ('entry' in step) {
      const { entry } = step
      if (entry.inode.type !== 'directory') assertReplaceable(place, entry, overwrite)
      else if (place.enter(entry.name)) walk.enter(entry)
    } else if (step.left !== root) place.leave()
  }
}

export function assertReplaceable(place: HostPlace, { name, inode }: SourceEntry, overwrite: boolean): void {
  place.during(name, () => {
    const there = lstatSync(place.here.at(checkedName(name)), { throwIfNoEntry: false })
    if (there === undefined || (overwrite && there.isFile())) return
    if (there.isSymbolicLink()) {
      if (overwrite && inode.type === 'symlink') return
      throw new HostFault('EEXIST', 'there is a symbolic link already; remove it first')
    }
    if (there.isFile())
      throw new HostFault('EEXIST', 'there is a file already; overwrite (--force) replaces it')
    throw new HostFault(
      'EEXIST',
      there.isDirectory() ? 'there is a directory already' : 'there is a pipe, socket or device already',
    )
  })
}
