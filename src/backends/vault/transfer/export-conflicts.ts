import { lstatSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { checkName, type HostCursor } from './host-cursor.ts'
import { HostFault } from './host-fault.ts'
import { type SourceEntry, type VaultSource, VaultTreeWalk } from './vault-source.ts'

const ENTRIES_PER_YIELD = 1000

/**
 * Throws EEXIST if an export would overwrite something it may not replace. Checked before anything is written; a
 * conflict that appears later fails when it is reached.
 */
export async function assertNoConflicts(
  source: VaultSource,
  root: SourceEntry,
  cursor: HostCursor,
  overwrite: boolean,
): Promise<void> {
  const walk = new VaultTreeWalk(source, root)
  for (let steps = 1; ; steps++) {
    if (steps % ENTRIES_PER_YIELD === 0) await nextTurn()
    const next = walk.next()
    const step = next instanceof Promise ? await next : next
    if (step === undefined) return
    if ('entry' in step) {
      const { entry } = step
      if (entry.inode.type !== 'directory') assertReplaceable(cursor, entry, overwrite)
      else if (cursor.enter(entry.name)) walk.enter(entry)
    } else if (step.left !== root) cursor.leave()
  }
}

/** Throws EEXIST if an entry may not be written at its name. */
export function assertReplaceable(
  cursor: HostCursor,
  { name, inode }: SourceEntry,
  overwrite: boolean,
): void {
  cursor.run(name, () => {
    const existing = lstatSync(cursor.current.at(checkName(name)), { throwIfNoEntry: false })
    if (existing === undefined || (overwrite && existing.isFile())) return
    if (existing.isSymbolicLink()) {
      if (overwrite && inode.type === 'symlink') return
      throw new HostFault('EEXIST', 'a symbolic link exists already; remove it first')
    }
    if (existing.isFile())
      throw new HostFault('EEXIST', 'a file exists already; overwrite (--force) replaces it')
    throw new HostFault(
      'EEXIST',
      existing.isDirectory()
        ? 'a directory exists already; remove it first'
        : 'a pipe, socket or device exists already; remove it first',
    )
  })
}
