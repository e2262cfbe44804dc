import { receiveMessageOnPort } from 'node:worker_threads'
import { type CallContext, VfsError } from '../../vfs/index.ts'
import {
  CLOSED,
  HEARTBEAT,
  type RemoteCallName,
  type RemoteCalls,
  type ThreadChannel,
  type ThreadResponse,
  WAKE,
} from './thread-channel.ts'

/** Interval at which a blocked caller checks that the other thread is alive. */
const POLL_MS = 500

/** The calling end of a channel, which blocks until a response arrives. One call at a time. */
export class BlockingChannel {
  readonly #channel: ThreadChannel
  readonly #timeoutMs: number
  #lastId = 0

  constructor(channel: ThreadChannel, timeoutMs: number) {
    this.#channel = channel
    this.#timeoutMs = timeoutMs
  }

  /**
   * Sends a call and blocks until its response. EIO if the other thread has closed the channel or does not respond; an
   * AbortError if the call is cancelled.
   */
  call<Name extends RemoteCallName>(
    name: Name,
    args: Parameters<RemoteCalls[Name]>,
    ctx?: CallContext,
  ): ReturnType<RemoteCalls[Name]> {
    ctx?.signal?.throwIfAborted()
    // A cancelled caller still closes its files: its writes would be lost otherwise.
    if (name !== 'closeOpen') this.#assertRunning(name)
    this.#lastId += 1
    const request = { id: this.#lastId, name, args, ...(ctx?.links !== undefined && { links: ctx.links }) }
    this.#channel.port.postMessage(request)
    return this.#waitForResponse(name)
  }

  close(): void {
    this.#channel.port.close()
  }

  #waitForResponse<Name extends RemoteCallName>(name: Name): ReturnType<RemoteCalls[Name]> {
    const { cells } = this.#channel
    let [beat, quietSince] = [Atomics.load(cells, HEARTBEAT), performance.now()]
    for (;;) {
      const wakeCount = Atomics.load(cells, WAKE)
      const response = this.#receive<Name>()
      if (response !== undefined) return unwrapResponse(response)
      this.#assertRunning(name, this.#lastId)
      const outcome = Atomics.wait(cells, WAKE, wakeCount, Math.min(POLL_MS, this.#timeoutMs))
      if (outcome !== 'timed-out') continue
      const lastBeat = Atomics.load(cells, HEARTBEAT)
      if (lastBeat !== beat) [beat, quietSince] = [lastBeat, performance.now()]
      else if (performance.now() - quietSince >= this.#timeoutMs)
        throw createGoneError(name, 'does not respond')
    }
  }

  /** Receives the response to the current call; skips those to cancelled calls. */
  #receive<Name extends RemoteCallName>(): ThreadResponse<Name> | undefined {
    for (;;) {
      const response: ThreadResponse<Name> | undefined = receiveMessageOnPort(this.#channel.port)?.message
      if (response === undefined || response.id === this.#lastId) return response
    }
  }

  /**
   * Asserts that the channel is open (EIO) and that calls are not cancelled (AbortError).
   * @param id the pending call, which a cancel also ends in the other thread.
   */
  #assertRunning(name: RemoteCallName, id?: number): void {
    const { cells, cancelled, port } = this.#channel
    if (Atomics.load(cells, CLOSED) !== 0) throw createGoneError(name, 'was closed')
    if (Atomics.load(cancelled, 0) === 0) return
    if (id !== undefined) port.postMessage({ cancel: id })
    throw new DOMException('the call was cancelled', 'AbortError')
  }
}

function unwrapResponse<Name extends RemoteCallName>(
  response: ThreadResponse<Name>,
): ReturnType<RemoteCalls[Name]> {
  if ('error' in response) throw VfsError.fromJSON(response.error)
  return response.value
}

function createGoneError(op: string, problem: string): VfsError {
  return new VfsError('EIO', '/', { op, detail: `the thread with the file system ${problem}` })
}
