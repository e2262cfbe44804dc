import { randomBytes } from 'node:crypto'
import type { Home } from '../backends/vault/index.ts'
import { type CommandSettings, deleteFork, findForkDirectory, openNamespace } from '../namespace/index.ts'
import { VfsError } from '../vfs/index.ts'

const CONTEXT = 'check'
const TIMEOUT_MS = 10 * 60 * 1000
/** Limit of the output of a check: its end says how it went. */
const MAX_OUTPUT_CHARACTERS = 4000

/** Result of a command that checks the files of a process. */
export interface CheckResult {
  /** Null if the command was stopped. */
  readonly exit_code: number | null
  readonly timed_out: boolean
  /** End of its output. */
  readonly output: string
  /** Number of paths that the process changed. */
  readonly changes: number
}

/**
 * Runs a command on a copy of the files of a process, so that nothing of the check stays. Policy and isolation are
 * those of the commands of agents. Throws EACCES if policy refuses the command, ENOTSUP without a workspace.
 */
export async function checkProcess(
  { home, commands }: { readonly home: Home; readonly commands: CommandSettings },
  fork: string | null,
  command: string,
  signal: AbortSignal,
): Promise<CheckResult> {
  if (fork === null) throw createNoWorkspaceError('the process had no workspace to check')
  const copy = `agent-${randomBytes(4).toString('hex')}`
  const path = await findForkDirectory(home, fork)
  const workspace =
    path === undefined
      ? { vault: fork, fork: copy }
      : { directory: { path, fork: copy, from: { fork }, isKept: true, program: CONTEXT } }
  const namespace = await openNamespace({ home, commands, context: CONTEXT, ...workspace })
  try {
    const changes = await countItems(
      path === undefined ? (await home.vault(fork)).diff() : (namespace.workspace?.diff() ?? []),
    )
    const exec = namespace.workspace?.exec
    if (exec === undefined) throw createNoWorkspaceError('commands cannot run here')
    const { exitCode, isTimedOut, stdout, stderr } = await exec(
      { command: { shell: command }, cwd: '/', timeoutMs: TIMEOUT_MS, network: false },
      { ctx: { caller: { kind: 'context', context: CONTEXT }, signal } },
    )
    const output = `${stdout}${stderr}`.slice(-MAX_OUTPUT_CHARACTERS).toWellFormed()
    return { exit_code: exitCode, timed_out: isTimedOut, output, changes }
  } finally {
    await namespace.close()
    await deleteFork(home, copy)
  }
}

async function countItems(items: AsyncIterable<unknown> | readonly unknown[]): Promise<number> {
  let count = 0
  for await (const _item of items) count++
  return count
}

function createNoWorkspaceError(detail: string): VfsError {
  return new VfsError('ENOTSUP', '/workspace', { op: 'check', detail })
}
