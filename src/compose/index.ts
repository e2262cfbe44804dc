/**
 * Processes that depend on one another, described in a YAML file. It knows no daemon: the caller supplies the
 * function that runs a process.
 * Invariant: a process starts after all its dependencies, with their results; if one of them failed, it never starts.
 */

export { type ComposeOutcome, compose, listFinalOutcomes } from './compose.ts'
export {
  type ComposedAgent,
  type ComposedSupervisor,
  type Composition,
  parseComposition,
} from './composition.ts'
