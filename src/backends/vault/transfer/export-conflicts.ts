import { lstatSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { checkName, type HostCursor } from './host-cursor.ts'
import { HostFault } from './host-fault.ts'
import { type SourceEntry, type VaultSource, VaultTreeWalk } from './vault-source.ts'

const ENTRIES_PER_YIELD = 1000

/**
 * EEXIST if an export would meet something it may not replace. A look ahead, so that nothing is written for nothing;
 * whatever comes into the way after it is refused where it is met.
 */
export async function assertNoConflicts(
  source: VaultSource,
  root: SourceEntry,
  place: HostCursor,
  overwrite: boolean,
): Promise<void> {
  const walk = new VaultTreeWalk(source, root)
  for (let seen = 1; ; seen++) {
    if (seen % ENTRIES_PER_YIELD === 0) await nextTurn()
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

export function assertReplaceable(place: HostCursor, { name, inode }: SourceEntry, overwrite: boolean): void {
  place.run(name, () => {
    const there = lstatSync(place.current.at(checkName(name)), { throwIfNoEntry: false })
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
