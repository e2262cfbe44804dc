/** Indexes of two counters: of requests, and of the requests that have been answered. */
const REQUESTED = 0
const ANSWERED = 1

/** Requests to a thread, counted in shared memory: for a caller that serves none of its own events meanwhile. */
export class SharedRequests {
  /** Memory to construct the other side with. */
  readonly counts: Int32Array

  constructor(counts: Int32Array = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))) {
    this.counts = counts
  }

  /** True if every request has been answered. */
  get areAnswered(): boolean {
    return Atomics.load(this.counts, REQUESTED) === Atomics.load(this.counts, ANSWERED)
  }

  add(): void {
    Atomics.add(this.counts, REQUESTED, 1)
    Atomics.notify(this.counts, REQUESTED)
  }

  /** Blocks the thread until there is a new request. Returns its number. */
  waitForNext(): number {
    Atomics.wait(this.counts, REQUESTED, Atomics.load(this.counts, ANSWERED))
    return Atomics.load(this.counts, REQUESTED)
  }

  /** Marks the requests up to this number as answered. */
  answer(request: number): void {
    Atomics.store(this.counts, ANSWERED, request)
    Atomics.notify(this.counts, ANSWERED)
  }

  /** Blocks the thread until every request has been answered, or so many milliseconds. */
  waitForAnswers(ms: number): void {
    const requested = Atomics.load(this.counts, REQUESTED)
    const answered = Atomics.load(this.counts, ANSWERED)
    if (answered !== requested) Atomics.wait(this.counts, ANSWERED, answered, ms)
  }
}
