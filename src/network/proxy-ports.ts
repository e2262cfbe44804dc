/** The usual port of a proxy, and those for further commands in the network of one fork. */
const [FIRST_PORT, LAST_PORT] = [3128, 3191]

/** True for a port on the loopback of a command that is kept for proxies. */
export function isProxyPort(port: number): boolean {
  return port >= FIRST_PORT && port <= LAST_PORT
}

/** Returns the first port for a proxy that is not taken. */
export function findProxyPort(taken: ReadonlySet<number>): number {
  let port = FIRST_PORT
  while (taken.has(port)) port++
  return port
}
