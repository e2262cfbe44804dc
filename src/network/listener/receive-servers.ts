import type { ChildProcess } from 'node:child_process'
import { Server } from 'node:net'
import { fileURLToPath } from 'node:url'

/** Returns the arguments that start the listener for ports, as source or built. */
export function createListenerArgs(ports: readonly number[]): string[] {
  const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js'
  const program = fileURLToPath(new URL(`./listener-process${extension}`, import.meta.url))
  return [process.execPath, program, ...ports.map(String)]
}

/**
 * Receives the listening sockets of a listener, each once. The command begins when all are taken.
 *
 * @param accept starts to accept connections of a port.
 */
export function receiveServers(
  child: ChildProcess,
  ports: readonly number[],
  accept: (port: number, server: Server) => Promise<void>,
): void {
  const missing = new Set(ports)
  child.on('message', async (message, handle) => {
    const port = readPort(message)
    if (port === undefined || !missing.delete(port) || !(handle instanceof Server)) return
    const isLast = missing.size === 0
    await accept(port, handle)
    // The listener ends once it has an answer for each port, or none at all.
    child.send('taken', () => isLast && child.connected && child.disconnect())
  })
}

function readPort(message: unknown): number | undefined {
  const isRecord = typeof message === 'object' && message !== null && 'port' in message
  return isRecord && typeof message.port === 'number' ? message.port : undefined
}
