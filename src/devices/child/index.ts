/**
 * Servers that devices start and talk to over standard input and output.
 * Not for commands of agents: those go through the workspace boundary. A person configured what is started here.
 * Invariant: ending a server also ends every process it started.
 */
export { ChildServer, type ChildServerSpec } from './child-server.ts'
