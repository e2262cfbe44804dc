import { mkdir, mkdtemp } from 'node:fs/promises'
import { release } from 'node:os'
import { join } from 'node:path'
import { findFuseProblem } from '../../machine/index.ts'
import {
  findTool,
  hasOwnPidLimit,
  probeBubblewrap,
  probeControlGroup,
  probeLandlock,
  probeNamespaces,
} from '../isolation/index.ts'
import { MountsBelow } from './overlay/mounts-below.ts'
import { OverlayLayout } from './overlay/overlay-layout.ts'
import { probeOverlay } from './overlay/overlay-session.ts'
import { removeTree } from './session-directory.ts'

/** One capability of a host. */
export interface HostFinding {
  readonly name: string
  readonly isAvailable: boolean
  /** Means in use, or the reason for its absence. */
  readonly detail: string
  /** Way to enable it. */
  readonly remedy?: string
}

/** Capabilities of this host for commands. */
interface HostReport {
  /** Kind that `auto` selects. */
  readonly session: 'overlay' | 'dir'
  readonly isolation: 'strict' | 'none'
  readonly findings: readonly HostFinding[]
}

const ALLOW_NAMESPACES =
  'sudo sysctl -w user.max_user_namespaces=15000; on Debian also kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0; in a container, allow unshare and mount in its seccomp profile'

const ALLOW_OVERLAYS =
  'needs Linux 5.11 or newer, and the home on a disk that is not itself an overlay: choose one with --home'

/** Probes this host for what sessions and isolation need, in a temporary directory below `directory`. */
export async function inspectHost(directory: string): Promise<HostReport> {
  const [namespaces, bubblewrap] = [await inspectNamespaces(), await inspectBubblewrap()]
  const overlay = await inspectOverlay(directory)
  const findings = [
    overlay,
    {
      name: 'dir session',
      isAvailable: true,
      detail: 'copies the directory first: takes longer the more files it has',
    },
    inspectFuse(),
    namespaces,
    bubblewrap,
    inspectStrict(namespaces, bubblewrap),
    inspectProcessLimit(namespaces),
    await inspectMemoryLimit(),
    await inspectLandlock(namespaces),
  ]
  return {
    session: overlay.isAvailable ? 'overlay' : 'dir',
    isolation: namespaces.isAvailable ? 'strict' : 'none',
    findings,
  }
}

async function inspectNamespaces(): Promise<HostFinding> {
  const { privilege, reason = 'they do not work' } = await probeNamespaces()
  const name = 'namespaces'
  if (privilege === 'none') return { name, isAvailable: false, detail: reason, remedy: ALLOW_NAMESPACES }
  return {
    name,
    isAvailable: true,
    detail: privilege === 'root' ? 'as root' : 'as a user, by user namespaces',
  }
}

async function inspectBubblewrap(): Promise<HostFinding> {
  const [trial, path] = [await probeBubblewrap(), await findTool('bwrap')]
  const name = 'bubblewrap'
  if (trial.works) return { name, isAvailable: true, detail: path ?? '' }
  if (path !== undefined) return { name, isAvailable: false, detail: trial.reason }
  return { name, isAvailable: false, detail: trial.reason, remedy: 'install it: apt-get install bubblewrap' }
}

async function inspectOverlay(directory: string): Promise<HostFinding> {
  const name = 'overlay session'
  const { privilege } = await probeNamespaces()
  if (privilege === 'none') return createUnavailableFinding(name)
  await mkdir(directory, { recursive: true })
  const probeDirectory = await mkdtemp(join(directory, 'doctor-'))
  try {
    const base = join(probeDirectory, 'base')
    await mkdir(base)
    const layout = new OverlayLayout(probeDirectory, base, privilege, MountsBelow.none)
    await layout.prepare()
    const trial = await probeOverlay(layout)
    if (trial.works)
      return { name, isAvailable: true, detail: 'changes are kept beside the directory, whatever its size' }
    return { name, isAvailable: false, detail: trial.reason, remedy: ALLOW_OVERLAYS }
  } finally {
    await removeTree(probeDirectory)
  }
}

function inspectFuse(): HostFinding {
  const name = 'fuse'
  const problem = findFuseProblem()
  if (problem === undefined) return { name, isAvailable: true, detail: '/dev/fuse can be opened' }
  return { name, isAvailable: false, detail: problem.reason, remedy: problem.remedy }
}

function inspectStrict(namespaces: HostFinding, bubblewrap: HostFinding): HostFinding {
  const name = 'strict isolation'
  if (!namespaces.isAvailable) return createUnavailableFinding(name)
  return { name, isAvailable: true, detail: bubblewrap.isAvailable ? 'by bubblewrap' : 'by unshare' }
}

function inspectProcessLimit(namespaces: HostFinding): HostFinding {
  const name = 'process limit'
  if (!namespaces.isAvailable) return createUnavailableFinding(name)
  if (process.getuid?.() !== 0 || hasOwnPidLimit(release()))
    return { name, isAvailable: true, detail: 'a fork bomb ends at the limit' }
  const remedy = 'run as another user than root, or take Linux 6.14 or newer'
  return {
    name,
    isAvailable: false,
    detail: `Linux ${release()} does not limit the processes of root`,
    remedy,
  }
}

async function inspectMemoryLimit(): Promise<HostFinding> {
  const name = 'memory limit'
  const trial = await probeControlGroup()
  if (trial.works)
    return { name, isAvailable: true, detail: 'for a command as a whole, by a control group of systemd' }
  const remedy =
    'needs control groups of version 2 and systemd; for users, delegate them: systemctl edit user@.service, [Service] Delegate=memory pids'
  return { name, isAvailable: false, detail: `for each process only: ${trial.reason}`, remedy }
}

async function inspectLandlock(namespaces: HostFinding): Promise<HostFinding> {
  const name = 'landlock'
  if (!namespaces.isAvailable) return createUnavailableFinding(name)
  const trial = await probeLandlock()
  if (trial.works)
    return {
      name,
      isAvailable: true,
      detail: 'isolated commands change nothing outside, whatever is mounted',
    }
  const remedy =
    'needs setpriv of util-linux 2.40 or newer, and Linux 6.2 or newer with landlock among its lsm'
  return { name, isAvailable: false, detail: trial.reason, remedy }
}

/** Creates the finding of something that needs namespaces. Only the finding about those has the remedy. */
function createUnavailableFinding(name: string): HostFinding {
  return { name, isAvailable: false, detail: 'needs namespaces' }
}
