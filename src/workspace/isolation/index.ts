/**
 * Isolation of a command from the machine: namespaces, a read-only host, hidden secrets, no network, limits. It takes
 * a plan and a workspace and returns the arguments that start the command. It knows nothing of sessions or policies.
 * Invariant: no program that confines a command sees that command's environment, PATH or files.
 */

export { createBubblewrapProbeLines, probeBubblewrap, readBubblewrapProbe } from './bubblewrap-probe.ts'
export { findHiddenPaths } from './command-confinement.ts'
export { probeControlGroup } from './control-group.ts'
export { ForkNetwork } from './fork-network.ts'
export { type CarriedFile, WORK_PREFIX } from './home-view.ts'
export { createReadOnlyLine, type HostMountPoint, listHostMounts } from './host-mounts.ts'
export { getHostSupport, type HostSupport, rememberHostSupport } from './host-support.ts'
export {
  type CommandLimits,
  defaultLimits,
  type IsolationPlan,
  limitMemory,
  privateDirectories,
} from './isolation-plan.ts'
export { findTool, hasPseudoTerminals, isolationEnvironment } from './isolation-tools.ts'
export { createJoinedLaunch } from './joined-launch.ts'
export { probeLandlock } from './landlock.ts'
export {
  createCommandScript,
  createLaunch,
  hasOwnPidLimit,
  JOINED_FILE,
  type Launch,
  READY_MESSAGE,
} from './launch.ts'
export { type FileCopy, getHostStamp, LayerFile, type LayerLocation, readHostCopy } from './layer-file.ts'
export { readListenerPorts } from './listener-ports.ts'
export {
  createEnterArgs,
  createMountNamespaceArgs,
  createNamespaceArgs,
  getKnownPrivilege,
  guessPrivilege,
  probeNamespaces,
  rememberNamespaces,
} from './namespaces.ts'
export { outputPipes, PIPES_MESSAGE } from './output-lines.ts'
export { createOverlayLine, createReadOnlyOverlayLine } from './overlay-lines.ts'
export { identifyOverlay, isOverlayKnownToWork, rememberOverlay } from './overlay-support.ts'
export { type ProbeResult, runProbe } from './probe.ts'
export { quoteWord } from './quote.ts'
export { forgetHostSupport, recallHostSupport } from './support-record.ts'
export { findVisibilityProblem, type VisiblePath, visibilityModes } from './visible-paths.ts'
