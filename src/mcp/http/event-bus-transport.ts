import type { JSONRPCMessage, ServerEventBus, Transport } from '@modelcontextprotocol/server'

/** Publishes the notifications of a session on the bus that the streams of all clients follow. */
export class EventBusTransport implements Transport {
  onclose: Transport['onclose']
  onerror: Transport['onerror']
  onmessage: Transport['onmessage']
  readonly #bus: ServerEventBus

  constructor(bus: ServerEventBus) {
    this.#bus = bus
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message)) return
    if (message.method === 'notifications/resources/list_changed')
      this.#bus.publish({ kind: 'resources_list_changed' })
    const uri = message.params?.['uri']
    if (message.method === 'notifications/resources/updated' && typeof uri === 'string')
      this.#bus.publish({ kind: 'resource_updated', uri })
  }

  async close(): Promise<void> {
    this.onclose?.()
  }
}
