/** Undo steps of an unfinished operation. They run in reverse order, all of them even if one fails. */
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
        // The caller reports the original error.
      }
    }
  }
}
