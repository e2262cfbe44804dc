import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import { VfsError } from '../../vfs/index.ts'
import {
  alongBubblewrap,
  enclosed,
  findEnclosure,
  launch,
  likelyPrivilege,
  rememberBubblewrap,
  rememberEnclosure,
  type Trial,
  tryOut,
} from '../isolation/index.ts'
import { coveredDirectory } from './covered-directory.ts'
import { foreignFilesHint } from './foreign-files.ts'
import { LockedEntries } from './locked-entries.ts'
import { MountsBelow } from './mounts-below.ts'
import { outputPipeLines } from './output-pipe.ts'
import { overlayChanges } from './overlay-changes.ts'
import { OverlayPlace } from './overlay-place.ts'
import { stageOverlay } from './overlay-staging.ts'
import { runCommand } from './run-command.ts'
import type { RunOutcome, RunSpec, Session, SessionBase, SessionChange, SessionOptions } from './session.ts'
import { makeSessionDirectory, removeTree } from './session-directory.ts'
import { Turns } from './turns.ts'

const NOT_OWN = 'it belongs to another user or group, whose files an overlay of yours cannot change'

/**
 * A session over a directory of this machine, through an overlay of the kernel that is mounted at the directory's own
 * path, for the command alone. ENOTSUP if this host has none, EINVAL if it can be no workspace.
 */
export async function openOverlaySession(base: SessionBase, options: SessionOptions): Promise<Session> {
  const lower = await coveredDirectory(base.lower)
  if (process.platform !== 'linux') throw noOverlay(lower, 'overlays are a thing of Linux')
  const directory = await makeSessionDirectory(options.directory)
  try {
    const place = await workingPlace(directory, lower)
    if (place.privilege === 'user' && isSharedByOthers(lower)) throw noOverlay(lower, NOT_OWN)
    await stageOverlay(place, base.staged)
    return new OverlaySession(place)
  } catch (error) {
    await removeTree(directory)
    throw error
  }
}

/** Tried with what this host most likely allows; only if that fails it is found out what it does allow. */
async function workingPlace(directory: string, lower: string): Promise<OverlayPlace> {
  const below = MountsBelow.find(lower)
  const likely = new OverlayPlace(directory, lower, likelyPrivilege(), below)
  await likely.prepare()
  const trial = await tryOverlay(likely)
  if (trial.works) {
    rememberEnclosure(likely.privilege)
    rememberBubblewrap(trial.said ?? '')
    return likely
  }
  const { privilege, reason } = await findEnclosure()
  if (privilege === 'none') throw noOverlay(lower, reason)
  if (privilege === likely.privilege) throw noOverlay(lower, trial.reason)
  const place = new OverlayPlace(directory, lower, privilege, below)
  const again = await tryOverlay(place)
  if (!again.works) throw noOverlay(lower, again.reason)
  return place
}

/**
 * Whether a user may write to a directory of another user or group. In a user namespace there is nobody but the user
 * themself: an overlay could not copy what is in there, and every write would fail (EOVERFLOW).
 */
function isSharedByOthers(directory: string): boolean {
  const { uid, gid } = statSync(directory)
  if (uid === process.getuid?.() && gid === process.getgid?.()) return false
  try {
    accessSync(directory, constants.W_OK)
    return true
  } catch {
    // What cannot be written to needs no copy.
    return false
  }
}

/** Mounts it once, so that a host without overlays is known before a command is asked for, and makes its pipes. */
export function tryOverlay(place: OverlayPlace): Promise<Trial> {
  const lines = alongBubblewrap(place.privilege, [...place.lines(), ...outputPipeLines()])
  return tryOut(enclosed(place.privilege, ['set -e', ...lines].join('\n')), place.directory)
}

class OverlaySession implements Session {
  readonly kind = 'overlay'
  readonly path: string
  readonly #place: OverlayPlace
  readonly #locked = new LockedEntries()
  readonly #turns = new Turns()

  constructor(place: OverlayPlace) {
    this.#place = place
    this.path = place.lower
  }

  run(spec: RunSpec): Promise<RunOutcome> {
    return this.#turns.take(async () => {
      this.#locked.closeAll()
      const { isolation: plan, limits, isReadonly = false } = spec
      const directory = this.#place.directory
      const lines = { mountLines: this.#place.lines(), placingLines: this.#place.below.placingLines() }
      const place = { directory, workspace: this.path, isReadonly, ...lines }
      const started = await launch({ plan, limits, ...place })
      const outcome = await runCommand(started, spec, { directory, cwd: join(this.path, spec.cwd) })
      return this.#place.privilege === 'user' ? this.#explained(outcome, spec) : outcome
    })
  }

  changes(): Promise<readonly SessionChange[]> {
    return this.#turns.take(() => {
      this.#locked.closeAll()
      return overlayChanges(this.#place, this.#locked)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turns.take(() => removeTree(this.#place.directory))
  }

  /** What the kernel says of files of others tells nobody what is wrong: it is said once more, behind the rest. */
  #explained(outcome: RunOutcome, { cwd, onOutput }: RunSpec): RunOutcome {
    const hint = foreignFilesHint(outcome.stderr, this.path, cwd)
    if (hint === undefined) return outcome
    const bytes = Buffer.from(hint)
    onOutput?.('stderr', bytes)
    return { ...outcome, stderr: Buffer.concat([outcome.stderr, bytes]) }
  }
}

function noOverlay(path: string, reason = 'there are no namespaces'): VfsError {
  const next = "see 'coppice doctor', or take a session of kind 'dir'"
  return new VfsError('ENOTSUP', path, {
    op: 'session',
    detail: `no overlay can be mounted: ${reason}; ${next}`,
  })
}
