import { resolve } from 'node:path'
import { engines } from '../../../config/index.ts'
import { escapeName } from '../../../text/index.ts'
import { copyEnvironment } from '../../access/command-environment.ts'
import { ensureVault, type OpenHome, withHome, withVault } from '../../access/home-access.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import { CommandError } from '../../framework/errors.ts'
import { formatCount } from '../../render/format-values.ts'
import { withProgress } from '../../render/progress.ts'
import { engine } from '../shared-options.ts'

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
    const bring = async (open: OpenHome) => {
      const vault = await ensureVault(call, open)
      const report = await withProgress(call.terminal, 'import', 'commit', (onProgress) =>
        importGit(open.home, vault, repository, { ...options, ...open.ctx, onProgress }),
      )
      const { commits, known, checkpoint } = report
      const before = known === 0 ? '' : `, ${known.toLocaleString('en')} imported before`
      const text = `imported ${formatCount(commits, 'commit')} into ${vault}${before}; its checkpoint is ${checkpoint}`
      await call.output.writeValue({ vault, ...report }, text)
    }
    await withHome(call, bring, { create: true, engine: call.choiceOption('engine', engines) })
  },
)

const exportCommits: Command = defineCommand(
  {
    name: 'git export',
    summary: 'Export the checkpoints of a vault as Git commits',
    details: `Creates a bare repository if there is none; to work in it: git clone <directory>
The same checkpoints give the same commits; an imported history keeps its commit ids.
The branch moves last, and only forward. Empty directories are skipped, as in Git.`,
    scope: 'vault',
    options: {
      branch: { summary: 'Branch to write (default: main)', value: 'name', short: 'b' },
      author: { summary: "Author of the commits, as 'Ada <ada@example.org>'", value: 'name' },
    },
    arguments: { directory: { summary: 'Repository, created if missing', offers: 'file' } },
    examples: [
      'coppice git export ./shop.git --vault shop',
      'coppice git export . --branch agent/task-1 --vault task-1',
    ],
  },
  (call) =>
    withVault(call, async ({ home, vault }) => {
      const directory = resolve(call.argument('directory'))
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
      const left = skipped.map((path) => `\n  skipped ${escapeName(path)}: a device, socket or pipe`).join('')
      const where = `branch ${report.branch} of ${escapeName(directory)} is at ${commit.slice(0, 12)}`
      await call.output.writeValue(
        { directory, ...report },
        `exported ${formatCount(commits, 'commit')}; ${where}${left}`,
      )
    }),
)

export const git: CommandGroup = {
  name: 'git',
  summary: 'Import and export Git history',
  commands: [importCommits, exportCommits],
}

function assertAuthor(author: string): string {
  if (/^[^<>\n]* ?<[^<>\n]*>$/.test(author)) return author
  throw new CommandError(`'${author}' is not an author; write it as 'Ada <ada@example.org>'`)
}
