import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import { Mutex, TaggedDirectory } from '../../../machine/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import {
  createBubblewrapProbeLines,
  createLaunch,
  createNamespaceArgs,
  getKnownPrivilege,
  guessPrivilege,
  identifyOverlay,
  isOverlayKnownToWork,
  type ProbeResult,
  probeNamespaces,
  readBubblewrapProbe,
  rememberNamespaces,
  rememberOverlay,
  runProbe,
} from '../../isolation/index.ts'
import { resolveBaseDirectory } from '../base-directory.ts'
import type {
  CommandSession,
  RunningSession,
  RunOutcome,
  RunSpec,
  SessionBase,
  SessionChange,
  SessionOptions,
} from '../command-session.ts'
import { LockedEntries } from '../entries/locked-entries.ts'
import { runCommand } from '../run/run-command.ts'
import { createSessionDirectory, removeTree } from '../session-directory.ts'
import { formatForeignFilesHint } from './foreign-files.ts'
import { MountsBelow } from './mounts-below.ts'
import { readOverlayChanges } from './overlay-changes.ts'
import { OverlayLayout } from './overlay-layout.ts'
import { stageOverlay } from './overlay-staging.ts'

const NOT_OWN =
  'it belongs to another user or group, and an overlay of an ordinary user cannot change such files'

/**
 * Opens a session with an overlay of the kernel, mounted over the directory at its own path and visible to its commands
 * only. Throws ENOTSUP if this host has no overlays, EINVAL for a directory that cannot be a workspace.
 */
export async function openOverlaySession(
  base: SessionBase,
  options: SessionOptions,
): Promise<CommandSession> {
  return new OverlaySession(await openStagedLayout(base, options))
}

/** Creates the files of an overlay that can be mounted, with the staged changes. Throws as `openOverlaySession`. */
export async function openStagedLayout(base: SessionBase, options: SessionOptions): Promise<OverlayLayout> {
  const lower = await resolveBaseDirectory(base.lower)
  if (process.platform !== 'linux') throw createNoOverlayError(lower, 'overlays need Linux')
  const directory = await createSessionDirectory(options.directory)
  try {
    const layout = (await openKnownLayout(directory, lower)) ?? (await findWorkingLayout(directory, lower))
    if (layout.privilege === 'user' && isOwnedByOthers(lower)) throw createNoOverlayError(lower, NOT_OWN)
    await stageOverlay(layout, base.staged)
    return layout
  } catch (error) {
    await removeTree(directory)
    throw error
  }
}

/** Returns the layout of an overlay that an earlier command had over the same directory. */
async function openKnownLayout(directory: string, lower: string): Promise<OverlayLayout | undefined> {
  const privilege = getKnownPrivilege()
  const isKnown = privilege !== undefined && isOverlayKnownToWork(identifyOverlay(lower, directory))
  if (!isKnown || privilege !== guessPrivilege()) return undefined
  const layout = new OverlayLayout(directory, lower, privilege, MountsBelow.find(lower))
  await layout.prepare()
  return layout
}

/**
 * Returns a layout whose overlay was mounted. Tries the likely privilege first; probes the host only if that fails.
 * Throws ENOTSUP if none works.
 */
async function findWorkingLayout(directory: string, lower: string): Promise<OverlayLayout> {
  const nestedMounts = MountsBelow.find(lower)
  const likely = new OverlayLayout(directory, lower, guessPrivilege(), nestedMounts)
  await likely.prepare()
  const trial = await probeOverlay(likely)
  if (trial.works) {
    rememberNamespaces(likely.privilege)
    readBubblewrapProbe(trial.output ?? '')
    rememberOverlay(identifyOverlay(lower, directory))
    return likely
  }
  const { privilege, reason } = await probeNamespaces()
  if (privilege === 'none') throw createNoOverlayError(lower, reason)
  if (privilege === likely.privilege) throw createNoOverlayError(lower, trial.reason)
  const layout = new OverlayLayout(directory, lower, privilege, nestedMounts)
  const secondTrial = await probeOverlay(layout)
  if (!secondTrial.works) throw createNoOverlayError(lower, secondTrial.reason)
  return layout
}

/**
 * True if the user may write to a directory of another user or group. A user namespace has no other users, so an
 * overlay could not copy the files there, and every write would fail with EOVERFLOW.
 */
function isOwnedByOthers(directory: string): boolean {
  const { uid, gid } = statSync(directory)
  if (uid === process.getuid?.() && gid === process.getgid?.()) return false
  try {
    accessSync(directory, constants.W_OK)
    return true
  } catch {
    // A directory that cannot be written needs no copies.
    return false
  }
}

/** Mounts an overlay once, to detect a host without overlays before the first command. */
export function probeOverlay(layout: OverlayLayout): Promise<ProbeResult> {
  const lines = createBubblewrapProbeLines(layout.privilege, layout.createMountLines())
  return runProbe(createNamespaceArgs(layout.privilege, ['set -e', ...lines].join('\n')), layout.directory)
}

class OverlaySession implements CommandSession {
  readonly kind = 'overlay'
  readonly path: string
  readonly #layout: OverlayLayout
  readonly #locked: LockedEntries
  readonly #mutex = new Mutex()

  constructor(layout: OverlayLayout) {
    this.#layout = layout
    this.#locked = new LockedEntries(layout.unlockedTree)
    this.path = layout.lower
  }

  describe(): Omit<RunningSession, 'pid'> {
    const { directory, privilege, source } = this.#layout
    return { kind: this.kind, path: this.path, directory, files: { kind: this.kind, privilege, source } }
  }

  run(spec: RunSpec): Promise<RunOutcome> {
    return this.#mutex.run(async () => {
      this.#locked.relockAll()
      const { isolation: plan, limits, isReadonly = false } = spec
      const directory = this.#layout.directory
      const lines = {
        mountLines: this.#layout.createMountLines(),
        placingLines: this.#layout.nestedMounts.createRemountLines(),
      }
      const location = { directory, workspace: this.path, isReadonly, ...lines }
      const launch = await createLaunch({
        plan,
        limits,
        hasTerminal: spec.terminal !== undefined,
        createsPipes: spec.terminal === undefined,
        ...location,
      })
      const outcome = await runCommand(launch, spec, { directory, cwd: join(this.path, spec.cwd) })
      return this.#layout.privilege === 'user' ? this.#addHint(outcome, spec) : outcome
    })
  }

  changes(): Promise<readonly SessionChange[]> {
    return this.#mutex.run(() => {
      this.#locked.relockAll()
      return readOverlayChanges(this.#layout, this.#locked)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { directory } = this.#layout
    await this.#mutex.run(() => {
      TaggedDirectory.at(directory).removeRecord()
      return removeTree(directory)
    })
  }

  /** Adds a hint to the output: the kernel's message about files of other users does not name the cause. */
  #addHint(outcome: RunOutcome, { cwd, onOutput }: RunSpec): RunOutcome {
    const hint = formatForeignFilesHint(outcome.stderr, this.path, cwd)
    if (hint === undefined) return outcome
    const bytes = Buffer.from(hint)
    onOutput?.('stderr', bytes)
    return { ...outcome, stderr: Buffer.concat([outcome.stderr, bytes]) }
  }
}

function createNoOverlayError(path: string, reason = 'there are no namespaces'): VfsError {
  const next = "see 'coppice doctor', or use a session of kind 'dir'"
  return new VfsError('ENOTSUP', path, {
    op: 'session',
    detail: `no overlay can be mounted: ${reason}; ${next}`,
  })
}
