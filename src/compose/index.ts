/**
 * Several processes that depend on one another, as a YAML file has them.
 * It knows no daemon: how a process is run is handed in.
 * Invariant: a process begins when all it depends on are done, with what they said; if one of them failed, never.
 */

export { compose } from './compose.ts'
export { type ComposedAgent, parseComposition } from './composition.ts'
