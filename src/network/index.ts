/**
 * Network by host: rules for names and addresses, and a proxy that lets a command reach what the rules name. It opens
 * no network to a command by itself; isolation takes the network away, and this is all that is left.
 * Ports: addresses on this machine for the servers of a fork.
 * Invariant: a connection goes to an address that was checked, and each one is recorded.
 */
export type { CommandNetwork } from './command-network.ts'
export type { NetworkUse } from './connection-log.ts'
export { isLocalName } from './host-name.ts'
export { coversHostRule, formatHostRule, type HostRule, parseHostRule } from './host-rule.ts'
export type { BoundSecret } from './inject/bound-secrets.ts'
export { type CommandNetworkOptions, openCommandNetwork } from './open-command-network.ts'
export { ForkPorts, type PublishedPort } from './ports/fork-ports.ts'
export { isOwnProgram } from './ports/is-own-program.ts'
export { listListeningPorts } from './ports/listening-ports.ts'
export { createConnectorArgs, PortConnector } from './ports/port-connector.ts'
export { offlineEnvironment } from './proxy-environment.ts'
export { isPublicAddress } from './public-address.ts'
export type { ResolveAddresses } from './resolve-host.ts'
