import { realpath } from 'node:fs/promises'
import { isWithin, normalize } from '../../vfs/index.ts'
import { privateDirectories, probeBubblewrap, probeNamespaces } from '../isolation/index.ts'
import type { ExecutionRequest, Explanation, Finding, PolicyRules, PrivatePaths } from '../policy/index.ts'
import { explainInThread } from './explain-in-thread.ts'

/** Circumstances that decide which directories a command gets of its own. */
export interface IsolationContext {
  /** The user's home directory. A command sees it also where it is in a private directory. */
  readonly userHome?: string | undefined
  /** The working directory as the person's shell names it, which may lead through links. */
  readonly shellDirectory?: string | undefined
  /** True if the command runs in the session of another one, which may not be isolated. */
  readonly isJoined?: boolean
}

/** Decision about a request, and the directories that count as the command's own. */
export interface IsolatedExplanation {
  readonly explanation: Explanation
  readonly privatePaths: PrivatePaths | undefined
}

/**
 * Decides about a request on this machine. Paths in the private directories of a command are not outside of its
 * workspace, if its isolation gives it such directories here. Nor does a call of its own loopback reach the network.
 */
export async function explainIsolated(
  request: ExecutionRequest,
  policy: PolicyRules | undefined,
  context: IsolationContext = {},
): Promise<IsolatedExplanation> {
  const explanation = await explainInThread(request, policy)
  // The probe of this machine costs a process, so only a command that it may help waits for it.
  if (!explanation.parts.some(({ findings }) => findings.some(isHelped)))
    return { explanation, privatePaths: undefined }
  const privatePaths = await findPrivatePaths(request, context)
  if (privatePaths === undefined) return { explanation, privatePaths }
  return { explanation: await explainInThread(request, policy, privatePaths), privatePaths }
}

/** True for a finding that may not count for a command with directories and a loopback of its own. */
function isHelped({ category, isLoopback }: Finding): boolean {
  return category === 'host_escape_risk' || isLoopback === true
}

async function findPrivatePaths(
  { isolation, vault, mountpoint }: ExecutionRequest,
  { userHome, shellDirectory, isJoined = false }: IsolationContext,
): Promise<PrivatePaths | undefined> {
  if (isolation === 'none') return undefined
  if (isolation === 'auto' && (await probeNamespaces()).privilege === 'none') return undefined
  // Without bubblewrap, a joined command has the directories of the other one.
  if (isJoined && !(await probeBubblewrap()).works) return undefined
  const homes = userHome === undefined ? [] : [userHome, await realpath(userHome).catch(() => userHome)]
  // A command that names the directory means its files. They are elsewhere if the session is a copy.
  const workspace = vault.startsWith('/') ? [vault] : []
  // In a copy, the directory itself is outside of the workspace.
  const alias = mountpoint === vault ? await findAlias(vault, shellDirectory) : undefined
  return {
    directories: privateDirectories,
    except: [...homes, ...workspace],
    aliases: alias === undefined ? [] : [alias],
    isLoopbackShared: isJoined,
  }
}

/**
 * Returns the path of a directory through links, as the shell names it that is in the directory or below: a command line
 * with `$PWD` has it. Undefined if the shell names it without links.
 */
async function findAlias(directory: string, shellDirectory: string | undefined): Promise<string | undefined> {
  if (shellDirectory === undefined || normalize(shellDirectory) !== shellDirectory) return undefined
  const real = await realpath(shellDirectory).catch(() => undefined)
  if (real === undefined || real === shellDirectory || !isWithin(real, directory)) return undefined
  const below = real.slice(directory.length)
  if (!shellDirectory.endsWith(below)) return undefined
  const alias = shellDirectory.slice(0, shellDirectory.length - below.length)
  return (await realpath(alias).catch(() => undefined)) === directory ? alias : undefined
}
