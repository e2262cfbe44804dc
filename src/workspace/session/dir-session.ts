import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isWithin } from '../../vfs/index.ts'
import { findHiddenPlaces, launch, quote } from '../isolation/index.ts'
import { coveredDirectory } from './covered-directory.ts'
import { type DirCopy, dirChanges } from './dir-changes.ts'
import { copyDirectory, type LeftOut, treeFacts } from './dir-copy.ts'
import { LockedEntries } from './locked-entries.ts'
import { makeOutputPipes } from './output-pipe.ts'
import { runCommand } from './run-command.ts'
import type { RunOutcome, RunSpec, Session, SessionBase, SessionChange, SessionOptions } from './session.ts'
import { makeSessionDirectory, removeTree } from './session-directory.ts'
import { stageInto } from './staging.ts'
import { Turns } from './turns.ts'

/**
 * The clock by which older kernels tell when something was changed goes on in steps, of which the longest is shorter: what
 * is changed in the step of the copy would look as the copy did.
 */
const CLOCK_TICK_MS = 12

/** A session in a private copy of a directory: it works on every host, and costs what the directory holds. */
export async function openDirSession(base: SessionBase, options: SessionOptions): Promise<Session> {
  const lower = await coveredDirectory(base.lower)
  const directory = await realpath(await makeSessionDirectory(options.directory))
  try {
    const root = join(directory, 'tree')
    await makeOutputPipes(directory)
    const left = await hiddenBelow(lower, options)
    const own: LeftOut = { path: await realpath(options.directory), standIn: 'nothing' }
    await copyDirectory(lower, root, [...left, own], options.signal)
    const before = await treeFacts(root)
    await delay(CLOCK_TICK_MS)
    await stageInto(root, base.staged)
    const hidden = left.map(({ path }) => path.slice(lower.length))
    return new DirSession(directory, { root, lower, before, hidden })
  } catch (error) {
    await removeTree(directory)
    throw error
  }
}

/** What commands will find empty in the directory, and the copy therefore does not hold. */
async function hiddenBelow(lower: string, { isolation }: SessionOptions): Promise<LeftOut[]> {
  if (isolation === undefined) return []
  const places = await findHiddenPlaces(isolation)
  return places
    .filter(({ path }) => path !== lower && isWithin(path, lower))
    .map(({ path, isDirectory }) => ({ path, standIn: isDirectory ? 'directory' : 'file' }))
}

class DirSession implements Session {
  readonly kind = 'dir'
  readonly path: string
  readonly #directory: string
  readonly #copy: DirCopy
  readonly #locked = new LockedEntries()
  readonly #turns = new Turns()

  constructor(directory: string, copy: DirCopy) {
    this.#directory = directory
    this.#copy = copy
    this.path = copy.root
  }

  run(spec: RunSpec): Promise<RunOutcome> {
    return this.#turns.take(async () => {
      this.#locked.closeAll()
      const { isolation: plan, limits, isReadonly = false } = spec
      const directory = this.#directory
      const place = { directory, workspace: this.path, copyOf: this.#copy.lower, isReadonly }
      const started = await launch({ plan, limits, ...place, mountLines: [this.#ownMount()] })
      return runCommand(started, spec, { directory, cwd: join(this.path, spec.cwd) })
    })
  }

  /** So that the host can be made read-only without it. */
  #ownMount(): string {
    const path = quote(this.path)
    return `mount -n --bind ${path} ${path}`
  }

  changes(): Promise<readonly SessionChange[]> {
    return this.#turns.take(() => {
      this.#locked.closeAll()
      return dirChanges(this.#copy, this.#locked)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turns.take(() => removeTree(this.#directory))
  }
}
