import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ImportReport } from '../../../backends/vault/index.ts'
import { engines } from '../../../config/index.ts'
import { escapeName } from '../../../text/index.ts'
import { parseWritablePath } from '../../access/device-paths.ts'
import { ensureVault, type OpenHome, withHome } from '../../access/home-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError } from '../../framework/errors.ts'
import { formatBytes, formatCount, formatNumber } from '../../render/format-values.ts'
import { withProgress } from '../../render/progress.ts'
import { engine } from '../shared-options.ts'
import { detectArchiveFormat, importArchive } from './archive-files.ts'

export const importDirectory: Command = defineCommand(
  {
    name: 'import',
    summary: 'Copy a directory or archive into a vault',
    details: `Creates the home and the vault that --vault names if they are missing.
Links are copied as links; sockets and devices are skipped.
Existing files are left alone, so a second run resumes an interrupted import.
Archives: .tar, .tar.gz, .tgz, .tar.zst, .zip. Entries that lead outside the archive are skipped.`,
    scope: 'change',
    options: {
      gitignore: { summary: 'Skip .git and files that .gitignore lists', short: 'g' },
      exclude: {
        summary: 'Skip this pattern, as in .gitignore; repeatable',
        value: 'pattern',
        isList: true,
      },
      into: { summary: 'Target directory in the vault (default: the root)', value: 'path', offers: 'path' },
      engine,
    },
    arguments: { directory: { summary: 'The directory, or the archive', offers: 'file' } },
    examples: [
      'coppice import ./shop --vault base',
      'coppice import . --vault base --gitignore --exclude dist',
      'coppice import ./docs --into /docs',
      'coppice import release.tar.gz --vault base',
    ],
  },
  async (call) => {
    const directory = resolve(call.argument('directory'))
    const { terminal, output } = call
    const isArchive = await isArchiveFile(directory)
    const into = parseWritablePath(call, call.option('into') ?? '/')
    const importFiles = async (open: OpenHome) => {
      const vault = await ensureVault(call, open)
      if (isArchive) return importArchiveFile(call, open, { file: directory, vault, into })
      const options = {
        ...open.ctx,
        gitignore: call.has('gitignore'),
        exclude: call.optionValues('exclude'),
        into,
      }
      const report = await withProgress(terminal, 'import', 'file', (onProgress) =>
        open.home.import(directory, vault, { ...options, onProgress }),
      )
      await output.writeValue({ vault, ...report }, formatImportReport(vault, report))
    }
    await withHome(call, importFiles, { create: true, engine: call.choiceOption('engine', engines) })
  },
)

/** Reports whether a path is an archive; false for a directory. CommandError for anything else. */
async function isArchiveFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return false
  if (found?.isFile() && detectArchiveFormat(path) !== undefined) return true
  const problem =
    found === undefined ? 'there is no directory or archive' : 'not a directory or a known archive:'
  throw new CommandError(
    `${problem} ${escapeName(path)}; name a directory of this machine, or a .tar, .tar.gz or .zip`,
  )
}

async function importArchiveFile(
  { terminal, output }: CommandInvocation,
  { home, ctx }: OpenHome,
  { file, vault, into }: { readonly file: string; readonly vault: string; readonly into: string },
): Promise<void> {
  const target = await home.vault(vault)
  const report = await withProgress(terminal, 'import', 'file', (onProgress) =>
    importArchive(file, target, into, ctx, onProgress),
  )
  const skipped = report.skipped.map(({ name, reason }) => ({ path: name, reason }))
  const whole = { ...report, ignored: 0, skipped }
  await output.writeValue({ vault, ...whole }, formatImportReport(vault, whole))
}

function formatImportReport(
  vault: string,
  { files, links, bytes, unchanged, ignored, skipped }: ImportReport,
): string {
  const parts = [
    `imported ${formatCount(files, 'file')}, ${formatBytes(bytes)} into ${vault}`,
    ...(links === 0 ? [] : [formatCount(links, 'link')]),
    ...(unchanged === 0 ? [] : [`${formatNumber(unchanged)} already there`]),
    ...(ignored === 0 ? [] : [`${formatNumber(ignored)} ignored`]),
    ...(skipped.length === 0 ? [] : [`${formatNumber(skipped.length)} skipped:`]),
  ]
  return [parts.join(', '), ...skipped.map(({ path, reason }) => `  ${escapeName(path)}: ${reason}`)].join(
    '\n',
  )
}
