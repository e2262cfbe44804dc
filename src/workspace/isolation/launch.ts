import { release } from 'node:os'
import { VfsError } from '../../vfs/index.ts'
import { createBubblewrapArgs } from './bubblewrap.ts'
import { isBubblewrapUsable } from './bubblewrap-probe.ts'
import { type CommandConfinement, EMPTY_FILE, isWithin, resolveConfinement } from './command-confinement.ts'
import { findGroupArgs } from './control-group.ts'
import { type CarriedFile, createHomeView } from './home-view.ts'
import { listHostMounts } from './host-mounts.ts'
import type { CommandLimits, IsolationPlan, LoopbackListener } from './isolation-plan.ts'
import { findLandlockArgs } from './landlock.ts'
import { recordListenerPorts } from './listener-ports.ts'
import { createListenerLines, LOOPBACK_LINE } from './loopback-lines.ts'
import { createNamespaceArgs, probeNamespaces } from './namespaces.ts'
import { OUTPUT_LINES, REDIRECT_STDERR } from './output-lines.ts'
import { createScratchDirectory, createScratchLines } from './overlay-lines.ts'
import { formatCommandLine, quoteWord } from './quote.ts'
import {
  createConfinementLines,
  createHidingLines,
  createPrivilegeDropArgs,
  createUserMappingArgs,
} from './unshare-lines.ts'

/**
 * The process that runs a command. It reads the command as a shell script from descriptor 3. Messages of the starting
 * programs are kept out of the command's standard error.
 */
export interface Launch {
  readonly argv: readonly string[]
  /**
   * True if it creates the pipes for the output of the command and announces them. Otherwise it gets them: standard
   * output as it is, and the command's standard error as descriptor 4.
   */
  readonly createsPipes: boolean
  /** True if all processes of the command end with this one, also when it is killed. */
  readonly hasPidNamespace: boolean
  /** True if processes of the command may go on after this one has ended by itself. */
  readonly mayLeaveProcesses?: boolean
  /** Files of the home that the command may change: they outlive its layers. */
  readonly carried?: readonly CarriedFile[]
  /** Set if the process needs a channel of Node, which its listener uses before the command begins. */
  readonly listener?: LoopbackListener
}

export interface LaunchSpec {
  readonly plan: IsolationPlan
  readonly limits: CommandLimits
  /** The session's directory, in which the launch starts and keeps its files. */
  readonly directory: string
  /** Path of the workspace, which may be mounted only during the launch. */
  readonly workspace: string
  /** The directory that the workspace copies. Its hidden paths are hidden in the copy as well. */
  readonly copyOf?: string
  readonly isReadonly?: boolean
  /** True if the command has a pseudo-terminal of its own. Otherwise it gets a session without any terminal. */
  readonly hasTerminal?: boolean
  /** True if the launch is to create the pipes for the output of the command, where it can. */
  readonly createsPipes?: boolean
  /** Shell lines, run in the session's directory, that mount the workspace. */
  readonly mountLines: readonly string[]
  /** Shell lines that mount further files over the workspace once it is mounted. */
  readonly placingLines?: readonly string[]
}

/** Name of the file, in the directory of a session, that commands of other processes lock while they run in it. */
export const JOINED_FILE = 'joined'
const WAITING_MESSAGE =
  'coppice: another command still runs in this fork; waiting for its end (Ctrl-C ends it)'

/** Message on descriptor 3: the command begins. */
export const READY_MESSAGE = 'ready'

/** Reads the command from descriptor 3 and executes it. */
const READ_COMMAND = 'eval "$(cat <&3)"'
/** The launch on a host without namespaces: it confines nothing and does not end orphans. */
const unconfinedLaunch: Launch = {
  argv: ['sh', '-c', `${REDIRECT_STDERR}; ${READ_COMMAND}`],
  createsPipes: false,
  hasPidNamespace: false,
  mayLeaveProcesses: true,
}
/** First kernel version in which a process namespace has its own limit. Before, the limit is that of the machine. */
const PID_LIMIT_KERNEL = [6, 14] as const
/** The smallest limit that the kernel accepts. */
const MIN_PID_LIMIT = 400
/** Bytes that the shell counts as one, of data and of a file. */
const [ULIMIT_MEMORY_UNIT, ULIMIT_FILE_UNIT] = [1024, 512] as const

/**
 * Returns how to start a command confined by its plan. Throws ENOTSUP if the plan is `strict` and this host cannot
 * isolate.
 */
export async function createLaunch(spec: LaunchSpec): Promise<Launch> {
  const group = await findGroupArgs(spec.limits)
  if (group.length === 0) return createUngroupedLaunch(spec)
  // The group limits all processes together. A second limit for each would also count memory that is only reserved.
  const { memoryBytes: _, ...limits } = spec.limits
  const started = await createUngroupedLaunch({ ...spec, limits })
  return { ...started, argv: [...group, ...started.argv] }
}

async function createUngroupedLaunch(spec: LaunchSpec): Promise<Launch> {
  const { privilege, reason } = await probeNamespaces()
  const { level } = spec.plan
  if (privilege === 'none') {
    if (level === 'strict') throw createIsolationError(spec.workspace, reason ?? 'there are no namespaces')
    return unconfinedLaunch
  }
  const limited = createLimitedArgs(spec.limits)
  if (level === 'none') {
    const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
    const words = privilege === 'user' ? [...createUserMappingArgs(user), ...limited] : limited
    const lines = [...spec.mountLines, ...createReadonlyWorkspaceLines(spec), ...(spec.placingLines ?? [])]
    return {
      argv: createNamespaceArgs(privilege, createScript(lines, spec), words),
      createsPipes: spec.createsPipes === true,
      hasPidNamespace: true,
    }
  }
  const { mountLines: _mounting, placingLines: _placing, ...confined } = spec
  return createConfinedLaunch(spec, resolveConfinement({ ...confined, privilege }), limited)
}

async function createConfinedLaunch(
  spec: LaunchSpec,
  confined: CommandConfinement,
  words: string[],
): Promise<Launch> {
  const { plan, workspace } = spec
  const usesBubblewrap = await choosesBubblewrap(plan)
  const mounts = listHostMounts()
  const scratch = createScratchDirectory(confined)
  const view = createHomeView(confined, scratch, mounts)
  const { listener } = plan
  if (listener !== undefined) recordListenerPorts(spec.directory, listener)
  const isBelowScratch = confined.scratch !== undefined && isWithin(workspace, confined.scratch)
  const isCovered = !usesBubblewrap || view.aroundLines.length > 0 || isBelowScratch
  const lines = [
    ...createNetworkLines(plan),
    ...spec.mountLines,
    `: > ${EMPTY_FILE}`,
    ...view.prepareLines,
    ...(isCovered ? [`exec 4<${quoteWord(workspace)}`] : []),
    ...createScratchLines(confined, scratch, mounts, view.fallbackLines),
    ...(usesBubblewrap ? [] : createConfinementLines(confined, mounts)),
    ...view.aroundLines,
    // The mounts so far cover the workspace, so it is mounted on top again.
    ...(isCovered ? createMountOnTopLines(workspace) : []),
    ...(usesBubblewrap ? [] : createReadonlyWorkspaceLines(spec)),
    ...(spec.placingLines ?? []),
    ...view.placeLines,
    ...(usesBubblewrap ? [] : createHidingLines(confined)),
  ]
  const confining = await createConfiningArgs(confined, usesBubblewrap)
  const unshared = { network: hasOwnNetwork(plan), ipc: !usesBubblewrap }
  const argv = createNamespaceArgs(
    confined.privilege,
    createScript(lines, spec),
    [...confining, ...words],
    unshared,
  )
  return {
    argv,
    createsPipes: spec.createsPipes === true,
    hasPidNamespace: true,
    carried: view.carried,
    ...(listener !== undefined && { listener }),
  }
}

/** Returns shell lines that mount the directory of descriptor 4 at the path of the workspace, and close it. */
function createMountOnTopLines(workspace: string): string[] {
  return [
    `[ -d ${quoteWord(workspace)} ] || mkdir -p ${quoteWord(workspace)}`,
    `mount -n --no-canonicalize --bind /proc/self/fd/4 ${quoteWord(workspace)}`,
    'exec 4<&-',
  ]
}

/** Reports whether the commands of a plan have a network of their own, with nothing but a loopback. */
export function hasOwnNetwork({ level, network, listener }: IsolationPlan): boolean {
  return level !== 'none' && (listener !== undefined || !network)
}

/**
 * Returns shell lines that turn on the loopback of a new network, and run a listener there if there is one. A script
 * with them ends with `wait` before the command begins.
 */
export function createNetworkLines(plan: IsolationPlan): string[] {
  if (!hasOwnNetwork(plan)) return []
  return plan.listener === undefined ? [LOOPBACK_LINE] : createListenerLines(plan.listener.argv)
}

/** Reports whether bubblewrap confines the commands of a plan on this host. */
export async function choosesBubblewrap({ means }: IsolationPlan): Promise<boolean> {
  return means === undefined ? await isBubblewrapUsable() : means === 'bubblewrap'
}

/** Returns the arguments before a command that confine it, once the mounts are prepared. */
export async function createConfiningArgs(
  confined: CommandConfinement,
  usesBubblewrap: boolean,
): Promise<string[]> {
  return [
    ...(usesBubblewrap ? createBubblewrapArgs(confined) : createPrivilegeDropArgs(confined)),
    ...(await findLandlockArgs(confined)),
  ]
}

function createReadonlyWorkspaceLines({ isReadonly, workspace }: LaunchSpec): string[] {
  const path = quoteWord(workspace)
  return isReadonly ? [`mount -n --bind ${path} ${path}`, `mount -n -o remount,bind,ro ${path}`] : []
}

/**
 * Returns the script of the namespace's first process. It prepares the mounts, then waits for the command, and for
 * those that joined it, and adopts orphans.
 */
function createScript(lines: readonly string[], { limits, createsPipes = false }: LaunchSpec): string {
  return [
    'set -e',
    ...(createsPipes ? OUTPUT_LINES : [REDIRECT_STDERR]),
    // Opened now: mounts may cover its path.
    `: >> ${JOINED_FILE}; exec 7<${JOINED_FILE}`,
    ...createPidLimitLines(limits),
    ...lines,
    // The loopback may still be turned on.
    'wait',
    'set +e',
    'cd /',
    '"$@" 7<&-',
    'code=$?',
    // Commands of other processes that joined hold a shared lock.
    `[ ! -s /proc/self/fd/7 ] || flock --nonblock 7 || { echo ${quoteWord(WAITING_MESSAGE)} >&2; flock 7; }`,
    'exit $code',
  ].join('\n')
}

function createPidLimitLines({ processes }: CommandLimits): string[] {
  if (processes === undefined || !hasOwnPidLimit(release())) return []
  return [`echo ${Math.max(processes, MIN_PID_LIMIT)} > /proc/sys/kernel/pid_max`]
}

/** True if this kernel version limits the processes of a namespace rather than those of the machine. */
export function hasOwnPidLimit(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map(Number.parseFloat)
  return major > PID_LIMIT_KERNEL[0] || (major === PID_LIMIT_KERNEL[0] && minor >= PID_LIMIT_KERNEL[1])
}

/** Returns the arguments of the shell that limits itself and then reads the command. */
export function createLimitedArgs(limits: CommandLimits): string[] {
  return ['sh', '-c', [...createLimitLines(limits), READ_COMMAND].join(' && ')]
}

/** Returns shell lines that lower the limits of the shell: a program for it would cost every command a start. */
function createLimitLines({ processes, memoryBytes, diskBytes }: CommandLimits): string[] {
  return [
    'ulimit -c 0',
    // Bash has another letter for it than other shells.
    ...(processes === undefined ? [] : [`{ ulimit -u ${processes} 2>&- || ulimit -p ${processes}; }`]),
    ...(memoryBytes === undefined ? [] : [`ulimit -d ${Math.floor(memoryBytes / ULIMIT_MEMORY_UNIT)}`]),
    ...(diskBytes === undefined ? [] : [`ulimit -f ${Math.floor(diskBytes / ULIMIT_FILE_UNIT)}`]),
  ]
}

/**
 * Returns the script that a launch reads. The command's environment is set in its last line, so earlier programs do
 * not see it.
 *
 * @param createLastLines returns the lines that run the command; by default it replaces the shell.
 */
export function createCommandScript(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
  createLastLines: (command: string) => readonly string[] = (command) => [`exec ${command}`],
): string {
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  // `env` reads a word with an equals sign as a variable.
  const [program = ''] = argv
  const words = program.includes('=') ? ['/bin/sh', '-c', 'exec "$0" "$@"', ...argv] : argv
  return [
    `echo ${READY_MESSAGE} >&3`,
    'exec 3<&-',
    `cd -- ${quoteWord(cwd)} || exit 126`,
    ...createLastLines(formatCommandLine(['env', '-i', '--', ...settings, ...words])),
  ].join('\n')
}

function createIsolationError(path: string, reason: string): VfsError {
  const next = "allow user namespaces (see 'coppice doctor'), or use isolation 'auto'"
  return new VfsError('ENOTSUP', path, {
    op: 'exec',
    detail: `this host does not support strict isolation: ${reason}; ${next}`,
  })
}
