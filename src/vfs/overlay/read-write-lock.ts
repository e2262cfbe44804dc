/** A read–write lock. An exclusive task waits for running shared tasks; later shared tasks wait for it. */
export class ReadWriteLock {
  #exclusive: Promise<unknown> = Promise.resolve()
  #isExclusive = false
  readonly #shared = new Set<Promise<unknown>>()

  async runShared<T>(task: () => T | Promise<T>): Promise<T> {
    while (this.#isExclusive) await this.#exclusive
    const running = Promise.resolve(task())
    const settled = running.then(ignore, ignore)
    this.#shared.add(settled)
    settled.then(() => this.#shared.delete(settled))
    return running
  }

  runExclusive<T>(task: () => Promise<T>): Promise<T> {
    const previous = this.#exclusive
    this.#isExclusive = true
    const running = previous.then(() => Promise.all(this.#shared)).then(task)
    const settled = running.then(ignore, ignore).then(() => {
      if (this.#exclusive === settled) this.#isExclusive = false
    })
    this.#exclusive = settled
    return running
  }
}

function ignore(): void {}
