import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { engines } from '../../../config/index.ts'
import { escapeName } from '../../../text/index.ts'
import type { CallContext } from '../../../vfs/index.ts'
import { copyEnvironment } from '../../access/command-environment.ts'
import { ensureVault, type OpenHome, withHome, withVault } from '../../access/home-access.ts'
import { findLinkedFork, type OpenLinkedFork } from '../../access/linked-access.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError } from '../../framework/errors.ts'
import { formatCount, formatNumber } from '../../render/format-values.ts'
import { withProgress } from '../../render/progress.ts'
import { engine } from '../shared-options.ts'

/** Digits of a commit id in a message. */
const COMMIT_DIGITS = 12

const importCommits: Command = defineCommand(
  {
    name: 'git import',
    summary: 'Import the history of a Git repository into a vault',
    details: `Every commit becomes a checkpoint, with its message, its author and its times.
Creates the home and the vault that --vault names if they are missing. A second run imports new commits.
The vault must be empty or unchanged since its last import. Submodules become empty directories.
Ctrl-C leaves the vault at a whole commit; the next import resumes there.`,
    scope: 'change',
    options: {
      ref: { summary: 'Branch, tag or commit id (default: HEAD)', value: 'name', short: 'r' },
      'trust-owner': { summary: 'Read a repository that belongs to another user' },
      engine,
    },
    arguments: { repository: { summary: 'A directory with a repository', offers: 'file' } },
    examples: [
      'coppice git import . --vault shop',
      'coppice git import ../shop.git --vault release --ref v1.2',
    ],
  },
  async (call) => {
    const repository = resolve(call.argument('repository'))
    const { importGit, openGit } = await import('../../../backends/git/index.ts')
    const ref = call.option('ref')
    const options = {
      environment: copyEnvironment(),
      trustOwner: call.has('trust-owner'),
      ...(ref !== undefined && { ref }),
    }
    // Fails before anything is created.
    await (await openGit(repository, options))[Symbol.asyncDispose]()
    const importHistory = async (open: OpenHome) => {
      const vault = await ensureVault(call, open)
      const report = await withProgress(call.terminal, 'import', 'commit', (onProgress) =>
        importGit(open.home, vault, repository, { ...options, ...open.ctx, onProgress }),
      )
      const { commits, known, checkpoint } = report
      const before = known === 0 ? '' : `, ${formatNumber(known)} imported before`
      const text = `imported ${formatCount(commits, 'commit')} into ${vault}${before}; its checkpoint is ${checkpoint}`
      await call.output.writeValue({ vault, ...report }, text)
    }
    await withHome(call, importHistory, { create: true, engine: call.choiceOption('engine', engines) })
  },
)

const exportCommits: Command = defineCommand(
  {
    name: 'git export',
    summary: "Export a fork or a vault's checkpoints as Git commits",
    details: `A fork of this directory (--vault FORK) becomes a branch with its name: the commits made in the fork, then one with
its other changes. It begins where the fork began, so that git merge brings its changes alone. Ignored files, and
files with masked secrets, are left out.
For any other vault: creates a bare repository if there is none; to work in it: git clone <directory>
The same checkpoints give the same commits; an imported history keeps its commit ids.
The branch moves last, and only forward. Empty directories are skipped, as in Git.`,
    scope: 'vault',
    options: {
      branch: {
        summary: 'Branch to write (default: main, or the name of the fork)',
        value: 'name',
        short: 'b',
      },
      author: { summary: "Author of the commits, as 'Ada <ada@example.org>'", value: 'name' },
    },
    arguments: { directory: { summary: 'Repository, created if missing', offers: 'file' } },
    examples: [
      'coppice git export ./shop.git --vault shop',
      'coppice git export . --branch agent/task-1 --vault task-1',
    ],
  },
  (call) =>
    withVault(call, async ({ home, vault, ctx }) => {
      const directory = resolve(call.argument('directory'))
      const linked = await findLinkedFork(home, vault.name)
      if (linked !== undefined) {
        // Elsewhere its commit would have no parent, and git would refuse to merge it.
        if (!(await isAround(directory, linked.link.path))) throw createElsewhereError(linked)
        await exportFork(call, linked, ctx)
        return
      }
      const { exportGit } = await import('../../../backends/git/index.ts')
      const [branch, author] = [call.option('branch'), call.option('author')]
      const options = {
        environment: copyEnvironment(),
        signal: call.terminal.signal,
        ...(branch !== undefined && { branch }),
        ...(author !== undefined && { author: assertAuthor(author) }),
      }
      const report = await withProgress(call.terminal, 'export', 'commit', (onProgress) =>
        exportGit(home, vault.name, directory, { ...options, onProgress }),
      )
      const { commits, commit, skipped } = report
      const notes = skipped
        .map((path) => `\n  skipped ${escapeName(path)}: a device, socket or pipe`)
        .join('')
      const where = `branch ${report.branch} of ${escapeName(directory)} is at ${commit.slice(0, COMMIT_DIGITS)}`
      await call.output.writeValue(
        { directory, ...report },
        `exported ${formatCount(commits, 'commit')}; ${where}${notes}`,
      )
    }),
)

/** True if a directory is another one, or contains it. */
async function isAround(directory: string, other: string): Promise<boolean> {
  const path = await realpath(directory).catch(() => directory)
  return path === other || other.startsWith(path === '/' ? path : `${path}/`)
}

function createElsewhereError({ link, fork }: OpenLinkedFork): CommandError {
  const next = `coppice git export ${escapeName(link.path)} --vault ${fork.name}`
  return new CommandError(`${fork.name} is a fork of ${escapeName(link.path)}; export it there with: ${next}`)
}

/** Writes the changes of a fork of a directory as one commit. */
async function exportFork(
  call: CommandInvocation<'branch' | 'author', 'directory'>,
  linked: OpenLinkedFork,
  ctx: CallContext,
): Promise<void> {
  const { commitFork } = await import('../../access/fork-commit.ts')
  const author = call.option('author')
  const report = await commitFork(
    linked,
    {
      branch: call.option('branch'),
      author: author === undefined ? undefined : assertAuthor(author),
      signal: call.terminal.signal,
    },
    ctx,
  )
  const { branch, commit, ignored, masked, nested } = report
  const notes = [
    ...(ignored === 0 ? [] : [`  left out ${formatCount(ignored, 'ignored file')}`]),
    ...nested.map((path) => `  left out ${escapeName(path)}: it is a repository of its own`),
    ...masked.map((path) => `  left out ${escapeName(path)}: it has masked secrets`),
  ]
  const text = `branch ${branch} is at ${commit.slice(0, COMMIT_DIGITS)}; merge it with: git merge ${branch}`
  await call.output.writeValue({ directory: linked.link.path, ...report }, [text, ...notes].join('\n'))
}

export const git: CommandGroup = {
  name: 'git',
  summary: 'Import and export Git history',
  commands: [importCommits, exportCommits],
}

function assertAuthor(author: string): string {
  if (/^[^<>\n]* ?<[^<>\n]*>$/.test(author)) return author
  throw new CommandError(`'${author}' is not an author; write it as 'Ada <ada@example.org>'`)
}
