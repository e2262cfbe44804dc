import { release } from 'node:os'
import { VfsError } from '../../vfs/index.ts'
import { createBubblewrapArgs } from './bubblewrap.ts'
import { isBubblewrapUsable } from './bubblewrap-probe.ts'
import { type CommandConfinement, EMPTY_FILE, resolveConfinement } from './command-confinement.ts'
import { findGroupArgs } from './control-group.ts'
import { listHostMounts } from './host-mounts.ts'
import type { CommandLimits, IsolationPlan } from './isolation-plan.ts'
import { findLandlockArgs } from './landlock.ts'
import { createNamespaceArgs, probeNamespaces } from './namespaces.ts'
import { createScratchLines } from './overlay-lines.ts'
import { formatCommandLine, quoteWord } from './quote.ts'
import {
  createConfinementLines,
  createHidingLines,
  createPrivilegeDropArgs,
  createUserMappingArgs,
} from './unshare-lines.ts'

/**
 * What is started to run a command, which it reads as a shell script from its descriptor 3. What the command has as
 * its standard error is descriptor 4: what the programs before it say about their own end is not the command's.
 */
export interface Launch {
  readonly argv: readonly string[]
  /** Whether the end of it is the end of all processes it started. */
  readonly hasPidNamespace: boolean
}

export interface LaunchSpec {
  readonly plan: IsolationPlan
  readonly limits: CommandLimits
  /** Of the session: where the launch is to be started, and may keep what it needs. */
  readonly directory: string
  /** Where the workspace is, or will be once it is mounted. */
  readonly workspace: string
  /** What the workspace is a copy of, elsewhere: what is hidden there is hidden in the copy as well. */
  readonly copyOf?: string
  readonly isReadonly?: boolean
  /** Lines of a shell, run in the session's directory, that mount the workspace. */
  readonly mountLines: readonly string[]
  /** Lines that put on top of the workspace what is not part of it, once it is in its place. */
  readonly placingLines?: readonly string[]
}

const REDIRECT_STDERR = 'exec 2>&4 4>&-'
/** Reads the command from descriptor 3 and becomes it. */
const READ_COMMAND: readonly string[] = ['sh', '-c', 'eval "$(cat <&3)"']
/** Programs talk to themselves over it; bubblewrap does the same. */
const LOOPBACK = 'ip link set lo up 2>&- || :'
/** Where there are no namespaces: nothing is confined, nor held together. */
const unconfinedLaunch: Launch = {
  argv: ['sh', '-c', `${REDIRECT_STDERR}; eval "$(cat <&3)"`],
  hasPidNamespace: false,
}
/** Since when a process namespace has a limit of its own; before, it is the machine's. */
const PID_LIMIT_KERNEL = [6, 14] as const
/** Below it the kernel takes no limit. */
const MIN_PID_LIMIT = 400

/** How to start a command so that it is confined as planned. ENOTSUP if `strict` cannot be had here. */
export async function createLaunch(spec: LaunchSpec): Promise<Launch> {
  const group = await findGroupArgs(spec.limits)
  if (group.length === 0) return createUngroupedLaunch(spec)
  // What all of them may use together needs no second limit for each, which counts what is only reserved.
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
  const limited = [...createLimitArgs(spec.limits), ...READ_COMMAND]
  if (level === 'none') {
    const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
    const words = privilege === 'user' ? [...createUserMappingArgs(user), ...limited] : limited
    const lines = [...spec.mountLines, ...createReadonlyWorkspaceLines(spec), ...(spec.placingLines ?? [])]
    return {
      argv: createNamespaceArgs(privilege, createScript(lines, spec.limits), words),
      hasPidNamespace: true,
    }
  }
  const { mountLines: _mounting, placingLines: _placing, ...confined } = spec
  return createConfinedLaunch(spec, await resolveConfinement({ ...confined, privilege }), limited)
}

async function createConfinedLaunch(
  spec: LaunchSpec,
  confined: CommandConfinement,
  words: string[],
): Promise<Launch> {
  const { plan, workspace, limits } = spec
  const usesBubblewrap = plan.means === undefined ? await isBubblewrapUsable() : plan.means === 'bubblewrap'
  const mounts = listHostMounts()
  const lines = [
    ...spec.mountLines,
    `: > ${EMPTY_FILE}`,
    `exec 4<${quoteWord(workspace)}`,
    ...createScratchLines(confined, mounts),
    ...(usesBubblewrap ? [] : createConfinementLines(confined, mounts)),
    // What was mounted since may cover the workspace: it is put on top again.
    `[ -d ${quoteWord(workspace)} ] || mkdir -p ${quoteWord(workspace)}`,
    `mount -n --no-canonicalize --bind /proc/self/fd/4 ${quoteWord(workspace)}`,
    'exec 4<&-',
    ...(usesBubblewrap ? [] : createReadonlyWorkspaceLines(spec)),
    ...(spec.placingLines ?? []),
    ...(usesBubblewrap ? [] : [...createHidingLines(confined), LOOPBACK]),
  ]
  const confining = [
    ...(usesBubblewrap ? createBubblewrapArgs(confined) : createPrivilegeDropArgs(confined)),
    ...(await findLandlockArgs(confined)),
  ]
  const unshared = usesBubblewrap ? {} : { network: !plan.network, ipc: true }
  const argv = createNamespaceArgs(
    confined.privilege,
    createScript(lines, limits),
    [...confining, ...words],
    unshared,
  )
  return { argv, hasPidNamespace: true }
}

function createReadonlyWorkspaceLines({ isReadonly, workspace }: LaunchSpec): string[] {
  const path = quoteWord(workspace)
  return isReadonly ? [`mount -n --bind ${path} ${path}`, `mount -n -o remount,bind,ro ${path}`] : []
}

/** The first process of an enclosure: it prepares, then waits for the command as the parent of all orphans. */
function createScript(lines: readonly string[], limits: CommandLimits): string {
  return [
    'set -e',
    REDIRECT_STDERR,
    ...createPidLimitLines(limits),
    ...lines,
    'set +e',
    'cd /',
    '"$@"',
    'exit $?',
  ].join('\n')
}

function createPidLimitLines({ processes }: CommandLimits): string[] {
  if (processes === undefined || !hasOwnPidLimit(release())) return []
  return [`echo ${Math.max(processes, MIN_PID_LIMIT)} > /proc/sys/kernel/pid_max`]
}

/** Whether a kernel limits the processes of a namespace, rather than of the machine. */
export function hasOwnPidLimit(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map(Number.parseFloat)
  return major > PID_LIMIT_KERNEL[0] || (major === PID_LIMIT_KERNEL[0] && minor >= PID_LIMIT_KERNEL[1])
}

function createLimitArgs({ processes, memoryBytes, diskBytes }: CommandLimits): string[] {
  return [
    ...['prlimit', '--core=0'],
    ...(processes === undefined ? [] : [`--nproc=${processes}`]),
    ...(memoryBytes === undefined ? [] : [`--data=${memoryBytes}`]),
    ...(diskBytes === undefined ? [] : [`--fsize=${diskBytes}`]),
    '--',
  ]
}

/** A command as the script that a launch reads: nothing of its environment reaches the programs before it. */
export function createCommandScript(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
): string {
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  // To `env`, a name with an equals sign is one more setting.
  const [program = ''] = argv
  const words = program.includes('=') ? ['/bin/sh', '-c', 'exec "$0" "$@"', ...argv] : argv
  return [
    'echo ready >&3',
    'exec 3<&-',
    `cd -- ${quoteWord(cwd)} || exit 126`,
    `exec ${formatCommandLine(['env', '-i', '--', ...settings, ...words])}`,
  ].join('\n')
}

function createIsolationError(path: string, reason: string): VfsError {
  const next = "allow user namespaces (see 'coppice doctor'), or run with isolation 'auto'"
  return new VfsError('ENOTSUP', path, {
    op: 'exec',
    detail: `this host cannot isolate strictly: ${reason}; ${next}`,
  })
}
