/** Counts how many times each inode is open. `rollback` restores the counts at `begin`. */
export class OpenCounts {
  readonly #counts = new Map<number, number>()
  #undoLog: { readonly ino: number; readonly delta: number }[] | undefined

  has(ino: number): boolean {
    return this.#counts.has(ino)
  }

  /** Changes a count by `delta`, which may be negative; returns the new count. */
  add(ino: number, delta: number): number {
    const count = Math.max(0, (this.#counts.get(ino) ?? 0) + delta)
    this.#undoLog?.push({ ino, delta: count - (this.#counts.get(ino) ?? 0) })
    if (count === 0) this.#counts.delete(ino)
    else this.#counts.set(ino, count)
    return count
  }

  /** Starts to record changes for `rollback`. */
  begin(): void {
    this.#undoLog = []
  }

  rollback(): void {
    const changes = this.#undoLog ?? []
    this.#undoLog = undefined
    for (const { ino, delta } of changes.toReversed()) this.add(ino, -delta)
  }

  commit(): void {
    this.#undoLog = undefined
  }
}
