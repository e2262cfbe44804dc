import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { VfsError } from '../../vfs/index.ts'
import { enclosed, findEnclosure, launch, type Trial, tryOut } from '../isolation/index.ts'
import { LockedEntries } from './locked-entries.ts'
import { makeOutputPipes } from './output-pipe.ts'
import { overlayChanges } from './overlay-changes.ts'
import { OverlayPlace } from './overlay-place.ts'
import { stageOverlay } from './overlay-staging.ts'
import { runCommand } from './run-command.ts'
import type { RunOutcome, RunSpec, Session, SessionBase, SessionChange, SessionOptions } from './session.ts'
import { makeSessionDirectory, removeTree } from './session-directory.ts'
import { Turns } from './turns.ts'

/**
 * A session over a directory of this machine, through an overlay of the kernel that is mounted at the directory's own
 * path, for the command alone. ENOTSUP if this host has none.
 */
export async function openOverlaySession(base: SessionBase, options: SessionOptions): Promise<Session> {
  const lower = await realpath(base.lower)
  const { privilege, reason } = await findEnclosure()
  if (privilege === 'none') throw noOverlay(lower, reason)
  const directory = await makeSessionDirectory(options.directory)
  try {
    const place = new OverlayPlace(directory, lower, privilege)
    await place.prepare()
    const [trial] = await Promise.all([tryOverlay(place), makeOutputPipes(directory)])
    if (!trial.works) throw noOverlay(lower, trial.reason)
    await stageOverlay(place, base.staged)
    return new OverlaySession(place)
  } catch (error) {
    await removeTree(directory)
    throw error
  }
}

/** Mounts it once, so that a host without overlays is known before a command is asked for. */
export function tryOverlay(place: OverlayPlace): Promise<Trial> {
  return tryOut(enclosed(place.privilege, ['set -e', ...place.lines()].join('\n')), place.directory)
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
      const place = { directory, workspace: this.path, isReadonly, mountLines: this.#place.lines() }
      const started = await launch({ plan, limits, ...place })
      return runCommand(started, spec, { directory, cwd: join(this.path, spec.cwd) })
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
}

function noOverlay(path: string, reason = 'there are no namespaces'): VfsError {
  const next = "see 'coppice doctor', or take a session of kind 'dir'"
  return new VfsError('ENOTSUP', path, {
    op: 'session',
    detail: `no overlay can be mounted: ${reason}; ${next}`,
  })
}
