import type { DaemonClient } from './daemon-client.ts'

/** Connects on first use, and again after its daemon has ended. */
export class ReconnectingClient implements AsyncDisposable {
  readonly #connect: () => Promise<DaemonClient>
  #current: Promise<DaemonClient> | undefined

  constructor(connect: () => Promise<DaemonClient>) {
    this.#connect = connect
  }

  get(): Promise<DaemonClient> {
    this.#current ??= this.#reconnect()
    return this.#current
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const client = await this.#current?.catch(() => undefined)
    client?.close()
  }

  async #reconnect(): Promise<DaemonClient> {
    const forget = () => {
      this.#current = undefined
    }
    try {
      const client = await this.#connect()
      void client.closed.then(forget)
      return client
    } catch (error) {
      forget()
      throw error
    }
  }
}
