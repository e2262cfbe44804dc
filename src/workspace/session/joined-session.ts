import { appendFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Mutex, readFileIfPresent } from '../../machine/index.ts'
import { createJoinedLaunch, JOINED_FILE, rememberHostSupport } from '../isolation/index.ts'
import type {
  CommandSession,
  RunningSession,
  RunOutcome,
  RunSpec,
  SessionChange,
  SessionOptions,
} from './command-session.ts'
import { runCommand } from './run/run-command.ts'
import { createSessionDirectory, removeTree } from './session-directory.ts'

/**
 * Joins a session of another process. Its commands see the same tree, and that process keeps their changes: it waits
 * for them before it ends the session.
 */
export async function joinSession(
  running: RunningSession,
  options: Pick<SessionOptions, 'directory'>,
): Promise<CommandSession> {
  if (running.support !== undefined) rememberHostSupport(running.support)
  return new JoinedSession(running, await createSessionDirectory(options.directory))
}

/** Reports whether the first command of a session has ended, and others that joined it go on. */
export function isContinuedByOthers({ directory }: RunningSession): boolean {
  const joined = statSync(join(directory, JOINED_FILE), { throwIfNoEntry: false })
  if (joined === undefined || joined.size === 0) return false
  // At its end, the first command waits for the lock that the others hold; the kernel lists who waits.
  const locks = readFileIfPresent('/proc/locks') ?? ''
  return locks.split('\n').some((line) => line.includes('-> FLOCK') && line.includes(`:${joined.ino} `))
}

class JoinedSession implements CommandSession {
  readonly kind: CommandSession['kind']
  readonly path: string
  readonly #running: RunningSession
  readonly #directory: string
  readonly #mutex = new Mutex()

  constructor(running: RunningSession, directory: string) {
    this.kind = running.kind
    this.path = running.path
    this.#running = running
    this.#directory = directory
  }

  describe() {
    return this.#running
  }

  run(spec: RunSpec): Promise<RunOutcome> {
    return this.#mutex.run(async () => {
      const { isolation: plan, limits, isReadonly = false } = spec
      const { directory, copyOf, pid } = this.#running
      // The other process waits only if it finds something here.
      appendFileSync(join(directory, JOINED_FILE), '\n')
      const launch = await createJoinedLaunch(
        {
          plan,
          limits,
          directory,
          workspace: this.path,
          ...(copyOf !== undefined && { copyOf }),
          isReadonly,
          hasTerminal: spec.terminal !== undefined,
          createsPipes: spec.terminal === undefined,
          mountLines: [],
        },
        pid,
      )
      return runCommand(launch, spec, { directory: this.#directory, cwd: join(this.path, spec.cwd) })
    })
  }

  /** Returns none: the process that has opened the session keeps its changes. */
  async changes(): Promise<readonly SessionChange[]> {
    return []
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mutex.run(() => removeTree(this.#directory))
  }
}
