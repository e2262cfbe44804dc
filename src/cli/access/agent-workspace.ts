import { realpathSync } from 'node:fs'
import { isErrno } from '../../machine/index.ts'
import { isWithin } from '../../vfs/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { CommandError, formatErrorLine } from '../framework/errors.ts'
import { findProject, isTooWide } from './enclosing-project.ts'
import { isHomeMissing, resolveHomePath, withHome } from './home-access.ts'
import { assertNotElsewhere, findLinkedFork } from './linked-access.ts'
import { type NamespaceChoices, resolveWorkspaceVault } from './namespace-access.ts'

/** The workspace of an agent: a vault, or a directory of this machine, of which it gets a fork. */
export interface AgentWorkspace {
  readonly vault?: string | undefined
  readonly directory?: string | undefined
  /** Reason why the working directory is not used. */
  readonly problem?: string | undefined
}

/**
 * Chooses the workspace of a command: the vault of `--vault`, else the directory around it that has the named fork, else
 * its repository, else the working directory. In a directory that is no project, the current or only vault of the home, if there is one.
 */
export async function chooseAgentWorkspace(
  call: CommandInvocation,
  fork?: string | undefined,
): Promise<AgentWorkspace> {
  const named = call.option('vault')
  if (named !== undefined) return { vault: named }
  const directory = findWorkingDirectory()
  const problem = await findProjectProblem(call, directory)
  if (problem !== undefined) return { vault: await resolveWorkspaceVault(call), problem }
  const ofFork = fork === undefined ? undefined : await findForkDirectory(call, fork)
  return { directory: ofFork ?? findProject(directory) }
}

/**
 * Returns the workspace of a namespace: the vault, or a fork of the directory, of the given name.
 * @param program as `coppice forks` shows it.
 */
export function toNamespaceChoices(
  { vault, directory }: AgentWorkspace,
  fork: string | undefined,
  program: string,
): Pick<NamespaceChoices, 'vault' | 'fork' | 'directory'> {
  return directory === undefined ? { vault, fork } : { directory: { path: directory, fork, program } }
}

/** Formats which fork of a directory an agent works in, and how to see and keep its work. */
export function formatForkNotice(fork: string, directory: string): string {
  return formatErrorLine(
    `works in ${fork}, a fork of ${directory}; see coppice diff ${fork}, keep it with coppice apply ${fork}`,
  )
}

/** Returns the directory or vault that processes of a command fork; undefined, with a message, if there is none. */
export async function resolveProcessWorkspace(call: CommandInvocation): Promise<string | undefined> {
  const { vault, directory, problem } = await chooseAgentWorkspace(call)
  if (problem !== undefined && vault === undefined)
    call.terminal.err.write(formatErrorLine(`${problem}, so the process has no workspace`))
  return directory ?? vault
}

/**
 * Returns the working directory or the one around it that has a fork; undefined if nothing has the name. CommandError
 * if it is the name of a vault, or of a fork of one.
 */
async function findForkDirectory(call: CommandInvocation, fork: string): Promise<string | undefined> {
  if (isHomeMissing(await resolveHomePath(call))) return undefined
  return withHome(call, async ({ home }) => {
    const linked = await findLinkedFork(home, fork)
    if (linked !== undefined || !(await home.vaults()).includes(fork)) return linked?.link.path
    await assertNotElsewhere(home, fork)
    const { from } = await home.info(fork)
    if (from === undefined) throw new CommandError(`'${fork}' is a vault, not a fork; name it with --vault`)
    throw new CommandError(
      `'${fork}' is a fork of ${from.vault}, not of this directory; add --vault ${from.vault}, or choose another name`,
    )
  })
}

function findWorkingDirectory(): string {
  try {
    return realpathSync(process.cwd())
  } catch (cause) {
    if (isErrno(cause, 'EACCES')) throw cause
    throw new CommandError('the working directory was deleted; go to another, or name a vault with --vault', {
      cause,
    })
  }
}

/** Returns the reason why agents get no fork of a directory; undefined if they may. */
async function findProjectProblem(call: CommandInvocation, directory: string): Promise<string | undefined> {
  const home = await resolveHomePath(call)
  if (isWithin(directory, home)) return `${directory} is in the Coppice home ${home}`
  return isTooWide(directory) ? `${directory} is not a project's directory` : undefined
}
