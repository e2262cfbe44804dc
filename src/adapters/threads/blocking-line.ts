import { receiveMessageOnPort } from 'node:worker_threads'
import { type CallContext, VfsError } from '../../vfs/index.ts'
import { type Answer, BEAT, type CallName, type Calls, CLOSED, type ThreadLine, WAKE } from './line.ts'

/** How often a blocked caller looks whether anybody is still there. */
const LOOK_MS = 500

/** The end of a line that asks and blocks until there is an answer. One call at a time, as the thread can do no other. */
export class BlockingLine {
  readonly #line: ThreadLine
  readonly #patienceMs: number
  #last = 0

  constructor(line: ThreadLine, patienceMs: number) {
    this.#line = line
    this.#patienceMs = patienceMs
  }

  /** EIO if nobody answers any more; an AbortError if the call is cancelled. */
  call<Name extends CallName>(
    name: Name,
    args: Parameters<Calls[Name]>,
    ctx?: CallContext,
  ): ReturnType<Calls[Name]> {
    ctx?.signal?.throwIfAborted()
    // A file is closed also by those who were cancelled: what they wrote would never be stored.
    if (name !== 'closeOpen') this.#assertGoesOn(name)
    this.#last += 1
    const request = { id: this.#last, name, args, ...(ctx?.links !== undefined && { links: ctx.links }) }
    this.#line.port.postMessage(request)
    return this.#answer(name)
  }

  close(): void {
    this.#line.port.close()
  }

  #answer<Name extends CallName>(name: Name): ReturnType<Calls[Name]> {
    const { cells } = this.#line
    let [beat, quietSince] = [Atomics.load(cells, BEAT), performance.now()]
    for (;;) {
      const seen = Atomics.load(cells, WAKE)
      const answer = this.#received<Name>()
      if (answer !== undefined) return given(answer)
      this.#assertGoesOn(name, this.#last)
      const outcome = Atomics.wait(cells, WAKE, seen, Math.min(LOOK_MS, this.#patienceMs))
      if (outcome !== 'timed-out') continue
      const lastBeat = Atomics.load(cells, BEAT)
      if (lastBeat !== beat) [beat, quietSince] = [lastBeat, performance.now()]
      else if (performance.now() - quietSince >= this.#patienceMs) throw gone(name, 'gives no sign of life')
    }
  }

  /** The answer to the call in progress. Those to calls that were given up are passed over. */
  #received<Name extends CallName>(): Answer<Name> | undefined {
    for (;;) {
      const answer: Answer<Name> | undefined = receiveMessageOnPort(this.#line.port)?.message
      if (answer === undefined || answer.id === this.#last) return answer
    }
  }

  /** @param asked the call that is given up if it does not. */
  #assertGoesOn(name: CallName, asked?: number): void {
    const { cells, cancelled, port } = this.#line
    if (Atomics.load(cells, CLOSED) !== 0) throw gone(name, 'was closed')
    if (Atomics.load(cancelled, 0) === 0) return
    if (asked !== undefined) port.postMessage({ cancel: asked })
    throw new DOMException('the call was cancelled', 'AbortError')
  }
}

function given<Name extends CallName>(answer: Answer<Name>): ReturnType<Calls[Name]> {
  if ('error' in answer) throw VfsError.fromJSON(answer.error)
  return answer.value
}

function gone(op: string, what: string): VfsError {
  return new VfsError('EIO', '/', { op, detail: `the thread with the file system ${what}` })
}
