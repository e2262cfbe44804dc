import { createServer } from 'node:net'

/**
 * Program that runs in the network of a command before it begins. It listens on the given ports of the loopback and
 * hands the listening sockets to the process that started it, by Node's IPC channel. A socket stays in the network in
 * which it was made, so that process then accepts connections from there, and this one ends.
 */
const ports = process.argv.slice(2).map(Number)
let takenCount = 0
for (const port of ports) {
  const server = createServer()
  server.once('error', ({ message }) => {
    process.stderr.write(`cannot listen on the loopback of the command: ${message}\n`)
    process.exit(1)
  })
  server.listen(port, '127.0.0.1', () => process.send?.({ port }, server))
}
process.on('message', () => {
  takenCount++
  if (takenCount === ports.length) process.exit(0)
})
process.on('disconnect', () => process.exit(1))
