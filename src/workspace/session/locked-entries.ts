import { type BigIntStats, chmodSync } from 'node:fs'
import { factsOf } from './entry-facts.ts'

const OWNER_READS = 0o400
const OWNER_ENTERS = 0o500
const PERMISSIONS = 0o7777

/**
 * What a command made so that even its owner cannot read it. It is opened while changes are read, and closed again
 * before the next command looks.
 */
export class LockedEntries {
  readonly #opened = new Map<string, BigIntStats>()

  /** What is at a path, as the commands see it; from here on we can read it. */
  factsOf(path: string): BigIntStats | undefined {
    const known = this.#opened.get(path)
    if (known !== undefined) return known
    const facts = factsOf(path)
    if (facts !== undefined && isLocked(facts)) {
      chmodSync(path, (Number(facts.mode) & PERMISSIONS) | neededFor(facts))
      this.#opened.set(path, facts)
    }
    return facts
  }

  /** Puts everything back as the command left it; inner entries first, while their directories are open. */
  closeAll(): void {
    for (const [path, { mode }] of [...this.#opened].reverse()) chmodSync(path, Number(mode) & PERMISSIONS)
    this.#opened.clear()
  }
}

function isLocked(facts: BigIntStats): boolean {
  if (process.getuid?.() === 0 || !(facts.isFile() || facts.isDirectory())) return false
  const needed = neededFor(facts)
  return (Number(facts.mode) & needed) !== needed
}

function neededFor(facts: BigIntStats): number {
  return facts.isDirectory() ? OWNER_ENTERS : OWNER_READS
}
