import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, realpathSync, rmdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { RunningForks } from '../../../boundary/index.ts'
import { computeShortDigest, isErrno } from '../../../machine/index.ts'
import { findForkDirectory } from '../../../namespace/index.ts'
import { isWithin } from '../../../vfs/index.ts'
import { LinkedDirectory, type LinkedFork, listMountedForks } from '../../../workspace/index.ts'
import { startBackgroundMount } from '../../access/background-mount.ts'
import { dropFork } from '../../access/drop-forks.ts'
import { isTooWide } from '../../access/enclosing-project.ts'
import { type OpenHome, withHome } from '../../access/home-access.ts'
import { getMountsDirectory } from '../../access/home-path.ts'
import { formatMountCommand, unmountFork, waitForForkMount } from '../../access/mounted-forks.ts'
import { findEventProject } from '../../access/project-directory.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError, formatErrorLine } from '../../framework/errors.ts'
import { formatCount } from '../../render/format-values.ts'

/** Characters of a worktree's name that the name of a fork cannot have. */
const FORBIDDEN_IN_NAMES = /[^A-Za-z0-9_-]+/g
const MAX_NAME_LENGTH = 48
const HASH_DIGITS = 6
const UNNAMED = 'worktree'

/** An event of Claude Code about a worktree. */
type WorktreeEvent =
  | { readonly kind: 'create'; readonly cwd: string | undefined; readonly name: string }
  | { readonly kind: 'remove'; readonly path: string }

/**
 * Serves an event about a worktree with a fork. A new worktree is a mounted fork of the project, whose path is printed;
 * the fork stays when the worktree is removed, unless it has no changes. CommandError: the agent then has no worktree.
 */
export async function serveWorktree(call: CommandInvocation, text: string): Promise<void> {
  const event = parseWorktreeEvent(text)
  await withHome(
    call,
    async (open) => {
      const home = call.option('home')
      if (event.kind === 'create') call.terminal.out.write(`${await createWorktree(open, event, home)}\n`)
      else call.terminal.err.write(await removeWorktree(open, event.path))
    },
    { create: event.kind === 'create' },
  )
}

function parseWorktreeEvent(text: string): WorktreeEvent {
  const event = parseTable(text)
  const { hook_event_name: kind, cwd, name, worktree_path: path } = event
  if (kind === 'WorktreeCreate')
    return {
      kind: 'create',
      cwd: typeof cwd === 'string' ? cwd : undefined,
      name: typeof name === 'string' ? name : '',
    }
  if (kind === 'WorktreeRemove' && typeof path === 'string') return { kind: 'remove', path }
  throw new CommandError('standard input has no event of Claude Code about a worktree')
}

function parseTable(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch (cause) {
    throw new CommandError('standard input is not JSON', { cause })
  }
}

async function createWorktree(
  open: OpenHome,
  { cwd, name }: { readonly cwd: string | undefined; readonly name: string },
  homeOption: string | undefined,
): Promise<string> {
  const link = new LinkedDirectory(open.home, findProject(open, cwd))
  const forkName = toForkName(name)
  const existing = await findNamedFork(open, link, forkName)
  if (existing !== undefined) return mountWorktree(open, link, existing, homeOption)
  const fork = await link.startFork(forkName)
  try {
    await link.markUsed(fork)
    return await mountWorktree(open, link, fork, homeOption)
  } catch (error) {
    await link.drop(fork)
    throw error
  }
}

/** Returns the project of an agent's directory. CommandError if it has none that can be forked. */
function findProject({ path: home }: OpenHome, cwd: string | undefined): string {
  if (cwd !== undefined && !existsSync(cwd)) throw new CommandError(`there is no directory ${cwd}`)
  const project = findEventProject(home, cwd)
  if (isTooWide(project))
    throw new CommandError(`${project} is not a project's directory; start the agent in one`)
  if (isWithin(getWorktreeDirectory(home, '-'), project))
    throw new CommandError(`the Coppice home ${home} is inside ${project}; move it out, or set COPPICE_HOME`)
  return project
}

/** Finds the fork of a project with a name, or the numbered one it got because something else has the name. */
async function findNamedFork(
  { home }: OpenHome,
  link: LinkedDirectory,
  name: string,
): Promise<LinkedFork | undefined> {
  const forks = await link.listForks()
  const named = forks.find((fork) => fork.name === name)
  if (named !== undefined || !(await home.vaults()).includes(name)) return named
  const isNumbered = (fork: LinkedFork) =>
    fork.name.startsWith(`${name}-`) && /^\d+$/.test(fork.name.slice(name.length + 1))
  return forks.find(isNumbered)
}

/** Mounts a fork beside the home, unless it is mounted there already. Returns the directory. */
async function mountWorktree(
  { path: home }: OpenHome,
  link: LinkedDirectory,
  fork: LinkedFork,
  homeOption: string | undefined,
): Promise<string> {
  const directory = getWorktreeDirectory(home, fork.name)
  const { listCoppiceMounts } = await import('../../../fuse/index.ts')
  const isMounted = () => listCoppiceMounts().some((mount) => mount.directory === directory)
  // One that is being unmounted is over soon.
  if (!isMounted()) await waitForForkMount(home, directory)
  const running = RunningForks.of(home).find(fork.name)
  if (running !== undefined && running.command !== formatMountCommand(fork.name, directory))
    throw new CommandError(`${fork.name} is in use by '${running.command}'`)
  if (running !== undefined) return directory
  await unmountFork(home, directory)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  try {
    // Without the option, the other process finds the home as this one did: it may be in a database.
    const homeWords = homeOption === undefined ? [] : ['--home', homeOption]
    await startBackgroundMount({ home, cwd: link.path, words: [fork.name, directory, ...homeWords] })
  } catch (error) {
    removeEmptyDirectory(directory)
    throw error
  }
  return directory
}

/** Unmounts a worktree, and deletes its fork if that has no changes. Returns a message for the person. */
async function removeWorktree(open: OpenHome, path: string): Promise<string> {
  const name = basename(path)
  const directory = getWorktreeDirectory(open.path, name)
  const isOurs = !/^\.*$/.test(name) && existsSync(dirname(path))
  if (!isOurs || join(realpathSync(dirname(path)), name) !== directory)
    throw new CommandError(`${path} is not a worktree of coppice`)
  const inner = listMountedForks(getMountsDirectory(open.path), directory)
  if (inner.length > 0)
    return formatErrorLine(`${name} stays mounted as long as worktrees of it are: ${inner.join(', ')}`)
  await unmountFork(open.path, directory)
  removeEmptyDirectory(directory)
  return removeUnchangedFork(open, name)
}

/** Deletes a fork that has no changes and was not applied. Returns a message about any other. */
async function removeUnchangedFork(open: OpenHome, name: string): Promise<string> {
  const project = (await open.home.vaults()).includes(name)
    ? await findForkDirectory(open.home, name)
    : undefined
  if (project === undefined) return ''
  if (!existsSync(project)) return formatErrorLine(`${name} stays, though its directory ${project} is gone`)
  const link = new LinkedDirectory(open.home, project)
  const fork = await link.getFork(name)
  const changes = await link.listChanges(fork)
  const isApplied = await link.isApplied(fork)
  if (changes.length === 0 && !isApplied) {
    await dropFork(open, name)
    return ''
  }
  // The state before the apply goes with its fork.
  if (changes.length === 0)
    return formatErrorLine(
      `${name} stays for: coppice apply ${name} --undo; delete it with: coppice drop ${name}`,
    )
  const next = `coppice diff ${name} · coppice apply ${name} · coppice drop ${name}`
  const files = changes.filter(({ before, after }) => (after ?? before)?.type !== 'directory')
  const count = files.length > 0 ? formatCount(files.length, 'changed file') : 'its changes'
  return formatErrorLine(`${name} keeps ${count}: ${next}`)
}

/** Removes a mount point; one that is missing, or in use again, stays as it is. */
function removeEmptyDirectory(directory: string): void {
  try {
    rmdirSync(directory)
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'ENOTEMPTY', 'EBUSY')) throw error
  }
}

/** Returns the name of the fork for a worktree. Names that would become the same get a part of their hash. */
function toForkName(name: string): string {
  const cleaned = name
    .replaceAll('/', '-')
    .replace(FORBIDDEN_IN_NAMES, '')
    .replace(/^[_-]+/, '')
  if (cleaned === name.replaceAll('/', '-') && cleaned !== '' && cleaned.length <= MAX_NAME_LENGTH)
    return cleaned
  const suffix = computeShortDigest(name || randomUUID()).slice(0, HASH_DIGITS)
  return `${cleaned.slice(0, MAX_NAME_LENGTH) || UNNAMED}-${suffix}`
}

/** Returns the mount point of a worktree: beside the home, since the home is hidden from commands. */
function getWorktreeDirectory(home: string, fork: string): string {
  return join(`${realpathSync(home)}-worktrees`, fork)
}
