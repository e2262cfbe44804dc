import type { ProcessTable } from '../process/process-table.ts'
import type { Message } from './message-queue.ts'
import { createPipe } from './pipe.ts'

/** The two ends of a pipe. */
export interface PipeDescriptors {
  readonly writeFd: number
  readonly readFd: number
}

/** Messages and pipes between processes. */
export interface IpcManager {
  /** Sends a copy of data to a process. ENOENT if that has ended. */
  send(from: number, to: number, data: Uint8Array): void
  /** Waits for a message. Rejects with the reason of the signal, or if the process ends. */
  recv(pid: number, signal?: AbortSignal): Promise<Message>
  /** Opens a pipe from one process to another. ENOENT if one of them has ended. */
  pipe(writer: number, reader: number): Promise<PipeDescriptors>
}

export class Ipc implements IpcManager {
  readonly #table: ProcessTable
  #messageCount = 0
  #pipeCount = 0

  constructor(table: ProcessTable) {
    this.#table = table
  }

  send(from: number, to: number, data: Uint8Array): void {
    // A copy, because the sender may reuse its buffer.
    this.#table.getAlive(to).messages.enqueue({ seq: ++this.#messageCount, from, data: data.slice() })
  }

  async recv(pid: number, signal?: AbortSignal): Promise<Message> {
    const process = this.#table.getAlive(pid)
    const eitherSignal = signal === undefined ? process.signal : AbortSignal.any([process.signal, signal])
    return process.messages.dequeue(eitherSignal)
  }

  async pipe(writer: number, reader: number): Promise<PipeDescriptors> {
    const [from, to] = [this.#table.getAlive(writer), this.#table.getAlive(reader)]
    const path = `pipe:${++this.#pipeCount}`
    const pipe = createPipe(path, to.signal)
    const writeFd = await from.descriptors.add(path, pipe.writer)
    try {
      return { writeFd, readFd: await to.descriptors.add(path, pipe.reader) }
    } catch (error) {
      await from.descriptors.close(writeFd)
      throw error
    }
  }
}
