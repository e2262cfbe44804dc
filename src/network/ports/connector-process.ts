import { connect } from 'node:net'

/**
 * Program that runs in the network of a fork. For each port that it is sent, it connects to that port of the loopback
 * and hands the connected socket to the process that started it, by Node's IPC channel.
 */
const HOSTS = ['127.0.0.1', '::1'] as const

process.on('message', (message: { readonly id: number; readonly port: number }) => tryHost(message, 0))
process.on('disconnect', () => process.exit(0))
process.send?.('ready')

function tryHost(request: { readonly id: number; readonly port: number }, hostIndex: number): void {
  const { id, port } = request
  const host = HOSTS[hostIndex]
  if (host === undefined) {
    process.send?.({ id })
    return
  }
  const socket = connect({ port, host })
  // The other process reads all of it.
  socket.pause()
  const next = () => tryHost(request, hostIndex + 1)
  socket.once('error', next)
  socket.once('connect', () => {
    socket.off('error', next)
    process.send?.({ id }, socket)
  })
}
