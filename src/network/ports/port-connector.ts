import type { ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

/** Returns the arguments that start the connector, as source or built. */
export function createConnectorArgs(): string[] {
  const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js'
  return [process.execPath, fileURLToPath(new URL(`./connector-process${extension}`, import.meta.url))]
}

/** Opens connections to ports of a fork, by a process in its network that starts with the first one. */
export class PortConnector implements Disposable {
  readonly #start: () => ChildProcess
  readonly #pending = new Map<number, (socket: Socket | undefined) => void>()
  #child: Promise<ChildProcess | undefined> | undefined
  #disconnect: () => unknown = () => undefined
  #lastId = 0

  /** @param start starts the connector in the network of the fork, with an IPC channel. */
  constructor(start: () => ChildProcess) {
    this.#start = start
  }

  /** Connects to a port of the fork's loopback. Undefined if nothing listens there, or the fork's command has ended. */
  async connect(port: number): Promise<Socket | undefined> {
    this.#child ??= this.#startChild()
    const child = await this.#child
    if (child === undefined || !child.connected) return undefined
    this.#lastId++
    const { promise, resolve } = Promise.withResolvers<Socket | undefined>()
    this.#pending.set(this.#lastId, resolve)
    child.send({ id: this.#lastId, port })
    return promise
  }

  [Symbol.dispose](): void {
    this.#disconnect()
  }

  /** Starts the connector, and waits until it is in the network. Undefined if it cannot get there. */
  async #startChild(): Promise<ChildProcess | undefined> {
    const child = this.#start()
    this.#disconnect = () => child.connected && child.disconnect()
    const { promise, resolve } = Promise.withResolvers<ChildProcess | undefined>()
    for (const event of ['exit', 'error'])
      child.once(event, () => {
        resolve(undefined)
        this.#end()
      })
    child.on('message', (message, handle) =>
      message === 'ready' ? resolve(child) : this.#receive(message, handle),
    )
    return promise
  }

  #receive(message: unknown, handle: unknown): void {
    const id = readId(message)
    const resolve = this.#pending.get(id)
    this.#pending.delete(id)
    resolve?.(handle instanceof Socket ? handle : undefined)
  }

  #end(): void {
    this.#child = undefined
    for (const resolve of this.#pending.values()) resolve(undefined)
    this.#pending.clear()
  }
}

function readId(message: unknown): number {
  const isAnswer = typeof message === 'object' && message !== null && 'id' in message
  return isAnswer && typeof message.id === 'number' ? message.id : 0
}
