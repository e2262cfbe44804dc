/** What to take back if something cannot be finished: the last first, and all of it even if a part fails. */
export class Rollback {
  readonly #steps: (() => unknown)[] = []

  add(step: () => unknown): void {
    this.#steps.push(step)
  }

  async run(): Promise<void> {
    for (const step of this.#steps.reverse()) {
      try {
        await step()
      } catch {
        // Why it had to be taken back is what is told.
      }
    }
  }
}
