import { type BigIntStats, chmodSync } from 'node:fs'
import { findEntryStats } from './entry-stats.ts'

const OWNER_READS = 0o400
const OWNER_ENTERS = 0o500
const PERMISSION_BITS = 0o7777

/**
 * Entries whose permissions deny access to their owner. They are unlocked while changes are read, and locked again
 * before the next command.
 */
export class LockedEntries {
  readonly #unlocked = new Map<string, BigIntStats>()

  /** Returns the stats of a path, as the commands see it, and makes it readable. */
  unlockStats(path: string): BigIntStats | undefined {
    const known = this.#unlocked.get(path)
    if (known !== undefined) return known
    const facts = findEntryStats(path)
    if (facts !== undefined && isLocked(facts)) {
      chmodSync(path, (Number(facts.mode) & PERMISSION_BITS) | getNeededBits(facts))
      this.#unlocked.set(path, facts)
    }
    return facts
  }

  /** Restores all permissions; inner entries first, while their directories are open. */
  relockAll(): void {
    for (const [path, { mode }] of [...this.#unlocked].reverse())
      chmodSync(path, Number(mode) & PERMISSION_BITS)
    this.#unlocked.clear()
  }
}

function isLocked(facts: BigIntStats): boolean {
  if (process.getuid?.() === 0 || !(facts.isFile() || facts.isDirectory())) return false
  const needed = getNeededBits(facts)
  return (Number(facts.mode) & needed) !== needed
}

function getNeededBits(facts: BigIntStats): number {
  return facts.isDirectory() ? OWNER_ENTERS : OWNER_READS
}
