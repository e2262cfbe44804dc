/** Counts how many times each inode is open. `rollback` restores the counts at `begin`. */
export class OpenCounts {
  readonly #counts = new Map<number, number>()
  #undoLog: { readonly ino: number; readonly more: number }[] | undefined

  has(ino: number): boolean {
    return this.#counts.has(ino)
  }

  /** Changes a count by `more`, which may be negative; returns the new count. */
  add(ino: number, more: number): number {
    const count = Math.max(0, (this.#counts.get(ino) ?? 0) + more)
    this.#undoLog?.push({ ino, more: count - (this.#counts.get(ino) ?? 0) })
    if (count === 0) this.#counts.delete(ino)
    else this.#counts.set(ino, count)
    return count
  }

  /** Starts to record changes for `rollback`. */
  begin(): void {
    this.#undoLog = []
  }

  rollback(): void {
    const since = this.#undoLog ?? []
    this.#undoLog = undefined
    for (const { ino, more } of since.toReversed()) this.add(ino, -more)
  }

  commit(): void {
    this.#undoLog = undefined
  }
}
