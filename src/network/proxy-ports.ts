/** The usual port of a proxy; further commands in the network of one fork have the ports after it. */
const FIRST_PORT = 3128

/** Returns the first port for a proxy that is not taken. */
export function findProxyPort(taken: ReadonlySet<number>): number {
  let port = FIRST_PORT
  while (taken.has(port)) port++
  return port
}
