/** How often each inode is open. Inside a batch, counts can be taken back to where they were. */
export class OpenCounts {
  readonly #counts = new Map<number, number>()
  #undoLog: { readonly ino: number; readonly more: number }[] | undefined

  has(ino: number): boolean {
    return this.#counts.has(ino)
  }

  /** Counts some more, or fewer; returns how many there are now. */
  add(ino: number, more: number): number {
    const count = Math.max(0, (this.#counts.get(ino) ?? 0) + more)
    this.#undoLog?.push({ ino, more: count - (this.#counts.get(ino) ?? 0) })
    if (count === 0) this.#counts.delete(ino)
    else this.#counts.set(ino, count)
    return count
  }

  /** From here on `rollback` can undo. */
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
