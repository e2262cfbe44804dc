import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Mutex, TaggedDirectory } from '../../../machine/index.ts'
import { isWithin } from '../../../vfs/index.ts'
import { createLaunch, findHiddenPaths, quoteWord } from '../../isolation/index.ts'
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
import { stageInto } from '../entries/staging.ts'
import { runCommand } from '../run/run-command.ts'
import { createSessionDirectory, removeTree } from '../session-directory.ts'
import { findCopyRoot, findUnlockedTree, writeCopyRecord } from './copy-record.ts'
import { type DirCopy, readDirChanges } from './dir-changes.ts'
import { copyDirectory, type ExcludedPath, readTreeStats } from './dir-copy.ts'

/**
 * Longest step of the clock with which older kernels stamp changes: a change in the step of the copy
 * would have the same time as the copy.
 */
const CLOCK_TICK_MS = 12

/** Opens a session in a private copy of a directory. It works on every host; its cost grows with the directory. */
export async function openDirSession(base: SessionBase, options: SessionOptions): Promise<CommandSession> {
  const lower = await resolveBaseDirectory(base.lower)
  const directory = await realpath(await createSessionDirectory(options.directory))
  try {
    const root = findCopyRoot(directory)
    const excluded = await findHiddenBelow(lower, options)
    const sessions: ExcludedPath = { path: await realpath(options.directory), standIn: 'nothing' }
    await copyDirectory(lower, root, [...excluded, sessions], options.signal)
    const before = await readTreeStats(root)
    await delay(CLOCK_TICK_MS)
    await stageInto(root, base.staged)
    const hidden = excluded.map(({ path }) => path.slice(lower.length))
    const copy = { root, lower, before, hidden }
    return new DirSession(directory, copy, { isRecorded: writeCopyRecord(directory, copy) })
  } catch (error) {
    await removeTree(directory)
    throw error
  }
}

/** Finds paths that commands will see empty in the directory, and that the copy leaves out. */
async function findHiddenBelow(lower: string, { isolation }: SessionOptions): Promise<ExcludedPath[]> {
  if (isolation === undefined) return []
  const hiddenPaths = findHiddenPaths(isolation)
  return hiddenPaths
    .filter(({ path }) => path !== lower && isWithin(path, lower))
    .map(({ path, isDirectory }) => ({ path, standIn: isDirectory ? 'directory' : 'file' }))
}

class DirSession implements CommandSession {
  readonly kind = 'dir'
  readonly path: string
  readonly #directory: string
  readonly #copy: DirCopy
  readonly #isRecorded: boolean
  readonly #locked: LockedEntries
  readonly #mutex = new Mutex()

  /** @param isRecorded true if another process can read the changes of the copy. */
  constructor(directory: string, copy: DirCopy, { isRecorded }: { readonly isRecorded: boolean }) {
    this.#directory = directory
    this.#copy = copy
    this.#isRecorded = isRecorded
    this.#locked = new LockedEntries(findUnlockedTree(directory))
    this.path = copy.root
  }

  describe(): Omit<RunningSession, 'pid'> {
    const { kind } = this
    return {
      kind,
      path: this.path,
      directory: this.#directory,
      copyOf: this.#copy.lower,
      ...(this.#isRecorded && { files: { kind } }),
    }
  }

  run(spec: RunSpec): Promise<RunOutcome> {
    return this.#mutex.run(async () => {
      this.#locked.relockAll()
      const { isolation: plan, limits, isReadonly = false } = spec
      const directory = this.#directory
      const location = { directory, workspace: this.path, copyOf: this.#copy.lower, isReadonly }
      const launch = await createLaunch({
        plan,
        limits,
        hasTerminal: spec.terminal !== undefined,
        createsPipes: spec.terminal === undefined,
        ...location,
        mountLines: [this.#createBindLine()],
      })
      return runCommand(launch, spec, { directory, cwd: join(this.path, spec.cwd) })
    })
  }

  /** Returns the shell line that binds the copy, so that the host can be read-only around it. */
  #createBindLine(): string {
    const path = quoteWord(this.path)
    return `mount -n --bind ${path} ${path}`
  }

  changes(): Promise<readonly SessionChange[]> {
    return this.#mutex.run(() => {
      this.#locked.relockAll()
      return readDirChanges(this.#copy, this.#locked)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mutex.run(() => {
      TaggedDirectory.at(this.#directory).removeRecord()
      return removeTree(this.#directory)
    })
  }
}
