import { release } from 'node:os'
import { VfsError } from '../../vfs/index.ts'
import { bubblewrap } from './bubblewrap.ts'
import { type Confinement, confinement, EMPTY_FILE } from './confinement.ts'
import { groupingWords } from './control-group.ts'
import { enclosed, findEnclosure } from './enclosure.ts'
import { hostMounts } from './host-mounts.ts'
import { landlockWords } from './landlock.ts'
import { isBubblewrapUsable } from './means.ts'
import { asThemself, confiningLines, droppingWords, hidingLines } from './namespaced.ts'
import { scratchLines } from './overlay-lines.ts'
import type { IsolationPlan, Limits } from './plan.ts'
import { commandLine, quote } from './quote.ts'

/**
 * What is started to run a command, which it reads as a shell script from its descriptor 3. What the command has as
 * its standard error is descriptor 4: what the programs before it say about their own end is not the command's.
 */
export interface Launch {
  readonly argv: readonly string[]
  /** Whether the end of it is the end of all processes it started. */
  readonly isEnclosed: boolean
}

export interface LaunchSpec {
  readonly plan: IsolationPlan
  readonly limits: Limits
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

const TAKE_STDERR = 'exec 2>&4 4>&-'
/** Reads the command from descriptor 3 and becomes it. */
const READ_COMMAND: readonly string[] = ['sh', '-c', 'eval "$(cat <&3)"']
/** Programs talk to themselves over it; bubblewrap does the same. */
const LOOPBACK = 'ip link set lo up 2>&- || :'
/** Where there are no namespaces: nothing is confined, nor held together. */
const looseLaunch: Launch = { argv: ['sh', '-c', `${TAKE_STDERR}; eval "$(cat <&3)"`], isEnclosed: false }
/** Since when a process namespace has a limit of its own; before, it is the machine's. */
const OWN_PID_LIMIT = [6, 14] as const
/** Below it the kernel takes no limit. */
const LEAST_PID_LIMIT = 400

/** How to start a command so that it is confined as planned. ENOTSUP if `strict` cannot be had here. */
export async function launch(spec: LaunchSpec): Promise<Launch> {
  const group = await groupingWords(spec.limits)
  if (group.length === 0) return launchAlone(spec)
  // What all of them may use together needs no second limit for each, which counts what is only reserved.
  const { memoryBytes: _, ...limits } = spec.limits
  const started = await launchAlone({ ...spec, limits })
  return { ...started, argv: [...group, ...started.argv] }
}

async function launchAlone(spec: LaunchSpec): Promise<Launch> {
  const { privilege, reason } = await findEnclosure()
  const { level } = spec.plan
  if (privilege === 'none') {
    if (level === 'strict') throw cannotConfine(spec.workspace, reason ?? 'there are no namespaces')
    return looseLaunch
  }
  const limited = [...limitingWords(spec.limits), ...READ_COMMAND]
  if (level === 'none') {
    const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
    const words = privilege === 'user' ? [...asThemself(user), ...limited] : limited
    const lines = [...spec.mountLines, ...readonlyLines(spec), ...(spec.placingLines ?? [])]
    return { argv: enclosed(privilege, script(lines, spec.limits), words), isEnclosed: true }
  }
  const { mountLines: _mounting, placingLines: _placing, ...confined } = spec
  return confinedLaunch(spec, await confinement({ ...confined, privilege }), limited)
}

async function confinedLaunch(spec: LaunchSpec, confined: Confinement, words: string[]): Promise<Launch> {
  const { plan, workspace, limits } = spec
  const usesBubblewrap = plan.means === undefined ? await isBubblewrapUsable() : plan.means === 'bubblewrap'
  const mounts = hostMounts()
  const lines = [
    ...spec.mountLines,
    `: > ${EMPTY_FILE}`,
    `exec 4<${quote(workspace)}`,
    ...scratchLines(confined, mounts),
    ...(usesBubblewrap ? [] : confiningLines(confined, mounts)),
    // What was mounted since may cover the workspace: it is put on top again.
    `[ -d ${quote(workspace)} ] || mkdir -p ${quote(workspace)}`,
    `mount -n --no-canonicalize --bind /proc/self/fd/4 ${quote(workspace)}`,
    'exec 4<&-',
    ...(usesBubblewrap ? [] : readonlyLines(spec)),
    ...(spec.placingLines ?? []),
    ...(usesBubblewrap ? [] : [...hidingLines(confined), LOOPBACK]),
  ]
  const confining = [
    ...(usesBubblewrap ? bubblewrap(confined) : droppingWords(confined)),
    ...(await landlockWords(confined)),
  ]
  const unshared = usesBubblewrap ? {} : { network: !plan.network, ipc: true }
  const argv = enclosed(confined.privilege, script(lines, limits), [...confining, ...words], unshared)
  return { argv, isEnclosed: true }
}

function readonlyLines({ isReadonly, workspace }: LaunchSpec): string[] {
  const path = quote(workspace)
  return isReadonly ? [`mount -n --bind ${path} ${path}`, `mount -n -o remount,bind,ro ${path}`] : []
}

/** The first process of an enclosure: it prepares, then waits for the command as the parent of all orphans. */
function script(lines: readonly string[], limits: Limits): string {
  return [
    'set -e',
    TAKE_STDERR,
    ...pidLimitLines(limits),
    ...lines,
    'set +e',
    'cd /',
    '"$@"',
    'exit $?',
  ].join('\n')
}

function pidLimitLines({ processes }: Limits): string[] {
  if (processes === undefined || !hasOwnPidLimit(release())) return []
  return [`echo ${Math.max(processes, LEAST_PID_LIMIT)} > /proc/sys/kernel/pid_max`]
}

/** Whether a kernel limits the processes of a namespace, rather than of the machine. */
export function hasOwnPidLimit(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map(Number.parseFloat)
  return major > OWN_PID_LIMIT[0] || (major === OWN_PID_LIMIT[0] && minor >= OWN_PID_LIMIT[1])
}

function limitingWords({ processes, memoryBytes, diskBytes }: Limits): string[] {
  return [
    ...['prlimit', '--core=0'],
    ...(processes === undefined ? [] : [`--nproc=${processes}`]),
    ...(memoryBytes === undefined ? [] : [`--data=${memoryBytes}`]),
    ...(diskBytes === undefined ? [] : [`--fsize=${diskBytes}`]),
    '--',
  ]
}

/** A command as the script that a launch reads: nothing of its environment reaches the programs before it. */
export function commandScript(
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
    `cd -- ${quote(cwd)} || exit 126`,
    `exec ${commandLine(['env', '-i', '--', ...settings, ...words])}`,
  ].join('\n')
}

function cannotConfine(path: string, reason: string): VfsError {
  const next = "allow user namespaces (see 'coppice doctor'), or run with isolation 'auto'"
  return new VfsError('ENOTSUP', path, {
    op: 'exec',
    detail: `this host cannot isolate strictly: ${reason}; ${next}`,
  })
}
