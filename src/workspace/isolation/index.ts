/**
 * Isolation of a command from the machine: namespaces, a read-only host, hidden secrets, no network, limits. It takes
 * a plan and a workspace and returns the arguments that start the command. It knows nothing of sessions or policies.
 * Invariant: no program that confines a command sees that command's environment, PATH or files.
 */

export { createBubblewrapProbeLines, probeBubblewrap, rememberBubblewrap } from './bubblewrap-probe.ts'
export { findHiddenPaths } from './command-confinement.ts'
export { probeControlGroup } from './control-group.ts'
export { createReadOnlyLine, type HostMountPoint, listHostMounts } from './host-mounts.ts'
export { type CommandLimits, defaultLimits, type IsolationPlan, limitMemory } from './isolation-plan.ts'
export { findTool, isolationEnvironment } from './isolation-tools.ts'
export { probeLandlock } from './landlock.ts'
export { createCommandScript, createLaunch, hasOwnPidLimit, type Launch } from './launch.ts'
export {
  createEnterArgs,
  createMountNamespaceArgs,
  createNamespaceArgs,
  guessPrivilege,
  probeNamespaces,
  rememberNamespaces,
} from './namespaces.ts'
export { createOverlayLine } from './overlay-lines.ts'
export { type ProbeResult, runProbe } from './probe.ts'
export { quoteWord } from './quote.ts'
