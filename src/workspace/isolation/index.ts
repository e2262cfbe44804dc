/**
 * Keeping a command away from the machine: namespaces, a read-only host, hidden secrets, no network, limits. Knows
 * nothing of sessions or policies; a plan and a workspace go in, the words that start a command come out.
 * Invariant: no program that confines sees the environment, the PATH or a file of the command it confines.
 */
export { findHiddenPlaces } from './confinement.ts'
export { tryControlGroup } from './control-group.ts'
export {
  apart,
  enclosed,
  entering,
  findEnclosure,
  likelyPrivilege,
  rememberEnclosure,
} from './enclosure.ts'
export { type HostMount, hostMounts, readOnlyLine } from './host-mounts.ts'
export { tryLandlock } from './landlock.ts'
export { commandScript, hasOwnPidLimit, type Launch, launch } from './launch.ts'
export { alongBubblewrap, rememberBubblewrap, tryBubblewrap } from './means.ts'
export { overlayLine } from './overlay-lines.ts'
export { defaultLimits, type IsolationPlan, type Limits, limitMemory } from './plan.ts'
export { quote } from './quote.ts'
export { findTool, toolEnvironment } from './tools.ts'
export { type Trial, tryOut } from './trial.ts'
