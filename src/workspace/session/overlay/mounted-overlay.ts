import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { VfsError } from '../../../vfs/index.ts'
import {
  createMountNamespaceArgs,
  createOverlayLine,
  guessPrivilege,
  isolationEnvironment,
  quoteWord,
} from '../../isolation/index.ts'
import { resolveBaseDirectory } from '../base-directory.ts'
import type { SessionBase, SessionChange } from '../command-session.ts'
import { LockedEntries } from '../entries/locked-entries.ts'
import { MountsBelow } from './mounts-below.ts'
import { readOverlayChanges } from './overlay-changes.ts'
import { OverlayLayout } from './overlay-layout.ts'
import { stageOverlay } from './overlay-staging.ts'

export interface MountedOverlayOptions {
  /** An empty directory for its files, which stays when it is unmounted. */
  readonly directory: string
  /** Directory on which root mounts it. */
  readonly mountpoint: string
  /** Source that `mount` and `df` show. */
  readonly source: string
  readonly isReadOnly?: boolean
}

const MOUNTED = 'mounted'

/**
 * An overlay of the kernel over a directory, for programs outside of any session. Root mounts it on the machine. For
 * any other user it is mounted in a namespace, to which `path` leads. It is unmounted when this process ends.
 */
export class MountedOverlay {
  /** Path of the mounted tree for this process. */
  readonly path: string
  /** True if all programs of the machine see it, at the mount point. */
  readonly isOnMachine: boolean
  readonly #layout: OverlayLayout
  /** Shell that keeps it mounted until its input ends. */
  readonly #holder: ChildProcessWithoutNullStreams
  readonly #holderEnded: Promise<unknown>
  /** Device of the mount, where root mounted it. */
  readonly device: number | undefined

  private constructor(layout: OverlayLayout, holder: ChildProcessWithoutNullStreams, mountpoint: string) {
    this.isOnMachine = layout.privilege === 'root'
    this.device = this.isOnMachine ? statSync(mountpoint).dev : undefined
    this.path = this.isOnMachine ? mountpoint : `/proc/${holder.pid}/root${mountpoint}`
    this.#layout = layout
    this.#holder = holder
    // One that cannot be started is reported when it is opened.
    this.#holderEnded =
      holder.exitCode === null && holder.signalCode === null
        ? once(holder, 'exit').catch(() => {})
        : Promise.resolve()
  }

  /** Throws ENOTSUP with the reason if it cannot be mounted. */
  static async open(base: SessionBase, options: MountedOverlayOptions): Promise<MountedOverlay> {
    const lower = await resolveBaseDirectory(base.lower)
    const layout = new OverlayLayout(options.directory, lower, guessPrivilege(), MountsBelow.find(lower))
    await layout.prepare()
    await stageOverlay(layout, base.staged)
    const mountpoint = layout.privilege === 'root' ? options.mountpoint : join(options.directory, 'mount')
    if (layout.privilege === 'user') await mkdir(mountpoint)
    const holder = startHolder(layout, mountpoint, options)
    await assertMounted(holder, options.mountpoint)
    return new MountedOverlay(layout, holder, mountpoint)
  }

  /** `root` if this process may mount, else `user`. */
  get privilege(): 'root' | 'user' {
    return this.#layout.privilege
  }

  /**
   * Unmounts it, even if it is in use. Programs that still use it lose their later writes. Its namespace ends, which
   * has a copy of every mount of the machine.
   */
  async unmount(): Promise<void> {
    this.#holder.stdin.end()
    await this.#holderEnded
    // Somebody may have killed the holder.
    if (this.isOnMachine) detachOverlay(this.path, this.device)
  }

  /**
   * Passes on the differences from the base, with staged changes, in the order of a walk. Their files are readable
   * until `work` ends.
   */
  withChanges<Result>(work: (changes: readonly SessionChange[]) => Promise<Result>): Promise<Result> {
    return withOverlayChanges(this.#layout, work)
  }
}

/** Unmounts an overlay of root that nobody serves any more, in use or not. Does nothing if another mount is there. */
export function detachOverlay(mountpoint: string, device: number | undefined): void {
  if (device === undefined || statSync(mountpoint, { throwIfNoEntry: false })?.dev !== device) return
  spawnSync('umount', ['-n', '-l', '--', mountpoint], { stdio: 'ignore', env: isolationEnvironment })
}

/** Files of an overlay that was unmounted when its process was killed. */
export interface LeftOverlay {
  /** The directory with its files. */
  readonly path: string
  /** The directory that it was mounted over. */
  readonly directory: string
  readonly privilege: 'root' | 'user'
}

/** As `withChanges`, for an overlay that is no longer mounted. */
export async function readLeftOverlay<Result>(
  { path, directory, privilege }: LeftOverlay,
  work: (changes: readonly SessionChange[]) => Promise<Result>,
): Promise<Result> {
  const lower = await resolveBaseDirectory(directory)
  return withOverlayChanges(new OverlayLayout(path, lower, privilege, MountsBelow.find(lower)), work)
}

async function withOverlayChanges<Result>(
  layout: OverlayLayout,
  work: (changes: readonly SessionChange[]) => Promise<Result>,
): Promise<Result> {
  const locked = LockedEntries.recover(layout.unlockedTree)
  try {
    return await work(await readOverlayChanges(layout, locked))
  } finally {
    locked.relockAll()
  }
}

/** Starts the shell that mounts the overlay. It survives a Ctrl-C, and unmounts also if this process is killed. */
function startHolder(
  { directory, privilege }: OverlayLayout,
  mountpoint: string,
  { source, isReadOnly = false }: MountedOverlayOptions,
): ChildProcessWithoutNullStreams {
  const path = quoteWord(mountpoint)
  const script = [
    'set -e',
    createOverlayLine({ session: directory, directory: '.', privilege, source }, mountpoint),
    ...(isReadOnly ? [`mount -n -o remount,bind,ro ${path}`] : []),
    `device=$(stat -c %d ${path}); cd /; echo ${MOUNTED}; cat > /dev/null`,
    // Another process may have unmounted it, and something else may be there.
    `[ "$(stat -c %d ${path})" != "$device" ] || umount -n ${path} 2>&- || umount -n -l ${path}`,
  ].join('\n')
  const argv = ['sh', '-c', script]
  const [file = '', ...args] = privilege === 'root' ? argv : createMountNamespaceArgs('user', argv)
  const holder = spawn(file, args, { cwd: directory, env: isolationEnvironment, detached: true })
  // If it exits before its input ends, its messages have the reason.
  holder.stdin.on('error', () => {})
  return holder
}

async function assertMounted(holder: ChildProcessWithoutNullStreams, mountpoint: string): Promise<void> {
  const complaint = text(holder.stderr)
  const failed = once(holder, 'exit').catch((error: Error) => [error.message])
  const [output] = await Promise.race([once(holder.stdout, 'data'), failed])
  if (String(output).startsWith(MOUNTED)) return
  const [line = ''] = (await complaint).trim().split('\n', 1)
  const reason = line || (typeof output === 'string' ? output : '')
  const detail = `no overlay can be mounted: ${reason || 'the mounting shell ended'}; see coppice doctor`
  throw new VfsError('ENOTSUP', mountpoint, { op: 'mount', detail })
}
