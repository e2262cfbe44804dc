/**
 * Servers that devices start and speak to over their standard input and output.
 * Not for commands of agents: those go through the workspace boundary. What is started here was configured by a person.
 * Invariant: a server that is ended takes along everything it started.
 */
export { ChildServer, type ChildServerSpec } from './child-server.ts'
