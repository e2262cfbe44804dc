import { appendFileSync, type BigIntStats, chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno, PRIVATE_FILE_MODE, readFileIfPresent } from '../../../machine/index.ts'
import { findEntryStats } from './entry-stats.ts'

const OWNER_READS = 0o400
const OWNER_ENTERS = 0o500
const PERMISSION_BITS = 0o7777

/** An upper tree whose entries are unlocked, and a file beside it. */
export interface UnlockedTree {
  readonly root: string
  /** Has the permissions that entries had, until they have them again: a kill may come before. */
  readonly journal: string
}

/**
 * Entries whose permissions deny access to their owner. They are unlocked while changes are read, and locked again
 * before the next command.
 */
export class LockedEntries {
  readonly #tree: UnlockedTree | undefined
  readonly #unlocked = new Map<string, BigIntStats>()

  /** @param tree the tree, if another process goes on after a kill of this one. */
  constructor(tree?: UnlockedTree) {
    this.#tree = tree
  }

  /** As the constructor, for a tree that a killed process may have left with unlocked entries. */
  static recover(tree: UnlockedTree): LockedEntries {
    // Inner entries come last, and are locked first, while their directories are open.
    for (const { path, mode } of readJournal(tree.journal).reverse()) tryLock(join(tree.root, path), mode)
    rmSync(tree.journal, { force: true })
    return new LockedEntries(tree)
  }

  /** Makes a path readable for this process. Returns its stats with the permissions that commands see. */
  unlockStats(path: string): BigIntStats | undefined {
    const known = this.#unlocked.get(path)
    if (known !== undefined) return known
    const stats = findEntryStats(path)
    if (stats !== undefined && isLocked(stats)) {
      const mode = Number(stats.mode) & PERMISSION_BITS
      if (this.#tree !== undefined) record(this.#tree, path, mode)
      chmodSync(path, mode | getNeededBits(stats))
      this.#unlocked.set(path, stats)
    }
    return stats
  }

  /** Restores all permissions; inner entries first, while their directories are open. */
  relockAll(): void {
    if (this.#unlocked.size === 0) return
    for (const [path, { mode }] of [...this.#unlocked].reverse())
      chmodSync(path, Number(mode) & PERMISSION_BITS)
    this.#unlocked.clear()
    if (this.#tree !== undefined) rmSync(this.#tree.journal, { force: true })
  }
}

/** An unlocked entry, with its path in the tree: another process renames the directory of the tree. */
interface JournalLine {
  readonly path: string
  readonly mode: number
}

function record({ root, journal }: UnlockedTree, path: string, mode: number): void {
  const line: JournalLine = { path: path.slice(root.length), mode }
  appendFileSync(journal, `${JSON.stringify(line)}\n`, { mode: PRIVATE_FILE_MODE })
}

/** Reads the complete lines. An entry whose line was cut off was not unlocked. */
function readJournal(journal: string): JournalLine[] {
  const lines = readFileIfPresent(journal)?.split('\n').slice(0, -1) ?? []
  return lines.map((line) => JSON.parse(line))
}

function tryLock(path: string, mode: number): void {
  try {
    chmodSync(path, mode)
  } catch (error) {
    // An earlier attempt, which was killed too, has locked its directory after it.
    if (!isErrno(error, 'EACCES', 'ENOENT')) throw error
  }
}

function isLocked(stats: BigIntStats): boolean {
  if (process.getuid?.() === 0 || !(stats.isFile() || stats.isDirectory())) return false
  const needed = getNeededBits(stats)
  return (Number(stats.mode) & needed) !== needed
}

function getNeededBits(stats: BigIntStats): number {
  return stats.isDirectory() ? OWNER_ENTERS : OWNER_READS
}
