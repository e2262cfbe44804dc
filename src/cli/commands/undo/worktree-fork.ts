import { mkdirSync, realpathSync, rmdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { RunningForks } from '../../../boundary/index.ts'
import { findForkDirectory } from '../../../namespace/index.ts'
import { LinkedDirectory, type LinkedFork } from '../../../workspace/index.ts'
import { startBackgroundMount } from '../../access/background-mount.ts'
import { dropFork } from '../../access/drop-forks.ts'
import { type OpenHome, withHome } from '../../access/home-access.ts'
import { unmountFork } from '../../access/mounted-forks.ts'
import { findEventProject, isTooWide } from '../../access/project-directory.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError, formatErrorLine } from '../../framework/errors.ts'
import { formatCount } from '../../render/format-values.ts'

/** Other characters of a worktree's name become hyphens in the name of its fork. */
const FORBIDDEN_IN_NAMES = /[^A-Za-z0-9_-]+/g
const MAX_NAME_LENGTH = 48
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
      if (event.kind === 'create') call.terminal.out.write(`${await createWorktree(open, event)}\n`)
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
): Promise<string> {
  const project = findEventProject(open.path, cwd)
  if (isTooWide(project))
    throw new CommandError(`${project} is not a project's directory; start the agent in one`)
  const link = new LinkedDirectory(open.home, project)
  const wanted = toForkName(name)
  const existing = (await link.listForks()).find((fork) => fork.name === wanted)
  if (existing !== undefined) return mountWorktree(open, link, existing)
  const fork = await link.startFork(wanted)
  try {
    await link.markUsed(fork)
    return await mountWorktree(open, link, fork)
  } catch (error) {
    await link.drop(fork)
    throw error
  }
}

/** Mounts a fork beside the home, unless it is mounted there already. Returns the directory. */
async function mountWorktree(
  { path: home }: OpenHome,
  link: LinkedDirectory,
  fork: LinkedFork,
): Promise<string> {
  const directory = getWorktreeDirectory(home, fork.name)
  const { listCoppiceMounts } = await import('../../../fuse/index.ts')
  if (listCoppiceMounts().some((mount) => mount.directory === directory)) return directory
  const running = RunningForks.of(home).find(fork.name)
  if (running !== undefined) throw new CommandError(`${fork.name} is in use by '${running.command}'`)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  await startBackgroundMount({ home, cwd: link.path, words: [fork.name, directory, '--home', home] })
  return directory
}

/** Unmounts a worktree, and deletes its fork if that has no changes. Returns a message for the person. */
async function removeWorktree(open: OpenHome, path: string): Promise<string> {
  const name = basename(path)
  const directory = getWorktreeDirectory(open.path, name)
  if (join(realpathSync(dirname(path)), name) !== directory)
    throw new CommandError(`${path} is not a worktree of coppice`)
  await unmountFork(open.path, directory)
  rmdirSync(directory)
  const project = await findForkDirectory(open.home, name)
  if (project === undefined) return ''
  const link = new LinkedDirectory(open.home, project)
  const changes = await link.listChanges(await link.getFork(name))
  if (changes.length === 0) {
    await dropFork(open, name)
    return ''
  }
  const next = `coppice diff ${name} · coppice apply ${name} · coppice drop ${name}`
  const files = changes.filter(({ before, after }) => (after ?? before)?.type !== 'directory')
  const count = files.length > 0 ? formatCount(files.length, 'changed file') : 'its changes'
  return formatErrorLine(`${name} keeps ${count}: ${next}`)
}

function toForkName(name: string): string {
  const cleaned = name
    .replace(FORBIDDEN_IN_NAMES, '-')
    .replace(/^[_-]+/, '')
    .slice(0, MAX_NAME_LENGTH)
  return cleaned || UNNAMED
}

/** Returns the mount point of a worktree: beside the home, since the home is hidden from commands. */
function getWorktreeDirectory(home: string, fork: string): string {
  return join(`${realpathSync(home)}-worktrees`, fork)
}
