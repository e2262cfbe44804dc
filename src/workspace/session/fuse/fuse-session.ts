import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { Mutex, TaggedDirectory } from '../../../machine/index.ts'
import { isVfsError, VfsError } from '../../../vfs/index.ts'
import { createLaunch, probeNamespaces } from '../../isolation/index.ts'
import type {
  CommandSession,
  LiveBase,
  RunningSession,
  RunOutcome,
  RunSpec,
  SessionChange,
  SessionOptions,
} from '../command-session.ts'
import { runCommand } from '../run/run-command.ts'
import { createSessionDirectory, removeTree } from '../session-directory.ts'
import { LiveMount } from './live-mount.ts'

/**
 * Opens a session in a vault that its commands use through FUSE: nothing is copied before, and nothing read back.
 * Throws ENOTSUP if this user cannot use FUSE on this host.
 */
export async function openFuseSession(base: LiveBase, options: SessionOptions): Promise<CommandSession> {
  const { privilege, reason = 'there are no namespaces' } = await probeNamespaces()
  if (privilege === 'none') throw createNoFuseError(reason)
  const directory = await realpath(await createSessionDirectory(options.directory))
  try {
    const { home, vault } = base
    return new FuseSession(directory, base, await LiveMount.open({ directory, privilege, home, vault }))
  } catch (error) {
    await removeTree(directory)
    const lackCodes = ['ENOTSUP', 'EACCES', 'EPERM'] as const
    throw isVfsError(error) && lackCodes.some((code) => code === error.code)
      ? createNoFuseError(error.detail ?? error.message)
      : error
  }
}

class FuseSession implements CommandSession {
  readonly kind = 'fuse'
  readonly path: string
  readonly #directory: string
  readonly #base: LiveBase
  readonly #mount: LiveMount
  readonly #mutex = new Mutex()

  constructor(directory: string, base: LiveBase, mount: LiveMount) {
    this.#directory = directory
    this.#base = base
    this.#mount = mount
    this.path = mount.path
  }

  describe(): Omit<RunningSession, 'pid'> {
    return { kind: this.kind, path: this.path, directory: this.#directory, files: { kind: this.kind } }
  }

  run(spec: RunSpec): Promise<RunOutcome> {
    return this.#mutex.run(async () => {
      const { isolation: plan, limits, isReadonly = false } = spec
      const directory = this.#directory
      // Commands write to the vault, so a guard of the directory would see nothing.
      if (limits.diskBytes !== undefined) await this.#base.limit(limits.diskBytes)
      const location = { directory, workspace: this.path, isReadonly, mountLines: [] }
      const launch = this.#mount.wrapLaunch(
        await createLaunch({
          plan,
          limits,
          hasTerminal: spec.terminal !== undefined,
          createsPipes: spec.terminal === undefined,
          ...location,
        }),
      )
      return runCommand(launch, spec, { directory, cwd: join(this.path, spec.cwd) })
    })
  }

  changes(): Promise<readonly SessionChange[]> {
    return this.#mutex.run(async () => {
      await this.#mount.flush()
      return this.#base.changes(this.#mount.hostPath)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mutex.run(async () => {
      await this.#mount[Symbol.asyncDispose]()
      TaggedDirectory.at(this.#directory).removeRecord()
      await removeTree(this.#directory)
    })
  }
}

/** Creates ENOTSUP. It names no vault, since that exists for the session alone. */
function createNoFuseError(reason: string): VfsError {
  const next = "see 'coppice doctor', or use a session of kind 'overlay' or 'dir'"
  return new VfsError('ENOTSUP', '/', {
    op: 'session',
    detail: `cannot serve a vault through FUSE: ${reason}; ${next}`,
  })
}
