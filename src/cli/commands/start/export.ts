import { resolve } from 'node:path'
import { escapeName } from '../../../text/index.ts'
import { isVfsError } from '../../../vfs/index.ts'
import {
  type OpenHome,
  type OpenVault,
  resolveVaultName,
  withHome,
  withVault,
} from '../../access/home-access.ts'
import { parseVaultPath } from '../../access/parse-vault-path.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError, exitCodes } from '../../framework/errors.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatBytes, formatCount } from '../../render/format-values.ts'
import { withProgress } from '../../render/progress.ts'
import { at } from '../shared-options.ts'
import { detectArchiveFormat, exportArchive, isUnsupportedArchive } from './archive-files.ts'

type ExportInvocation = CommandInvocation<'at' | 'path' | 'force' | 'salvage', 'directory'>

export const exportDirectory: Command = defineCommand(
  {
    name: 'export',
    summary: 'Copy a vault into a directory or archive',
    details: `Existing files stay unless --force is given; nothing outside the directory is touched.
Each file appears whole. A name that ends in .tar, .tar.gz, .tgz or .zip makes an archive.
With --salvage, a partly readable file is written as name.damaged; the exit code is 1 if anything is lost.`,
    scope: 'vault',
    options: {
      at,
      path: { summary: 'Export only this directory or file', value: 'path', offers: 'path' },
      force: { summary: 'Replace existing files', short: 'f' },
      salvage: { summary: 'Write the readable files of a damaged vault, list the rest' },
    },
    arguments: {
      directory: { summary: 'Directory, created if missing, or archive', offers: 'file' },
    },
    examples: [
      'coppice export ./out --vault task-1',
      'coppice export ./before --at before --path /src',
      'coppice export out.tar.gz',
      'coppice export ./rescued --salvage',
    ],
  },
  (call) => (call.has('salvage') ? salvageVault(call) : exportFiles(call)),
)

function exportFiles(call: ExportInvocation): Promise<void> {
  return withVault(call, async (open) => {
    const { home, vault } = open
    const { terminal, output } = call
    const destination = call.argument('directory')
    if (destination === '-')
      throw new UsageError(
        'cannot export to standard output; name a directory or an archive, or use coppice send',
      )
    if (isUnsupportedArchive(destination))
      throw new UsageError(
        `cannot write the archive ${escapeName(destination)}; name a .tar, .tar.gz, .tgz or .zip, or a directory with / at its end`,
      )
    const target = resolve(destination)
    const [at, path, overwrite] = [call.option('at'), call.option('path'), call.has('force')]
    const options = {
      signal: terminal.signal,
      overwrite,
      ...(at !== undefined && { at }),
      ...(path !== undefined && { path: parseVaultPath(path) }),
    }
    if (detectArchiveFormat(target) !== undefined) return writeArchive(call, open, target, options)
    const report = await withProgress(terminal, 'export', 'file', (onProgress) =>
      home.export(vault.name, target, { ...options, onProgress }),
    )
    const { files, bytes, skipped } = report
    const notes = skipped.map((path) => `\n  skipped ${escapeName(path)}: a device, socket or pipe`).join('')
    const text = `exported ${formatCount(files, 'file')}, ${formatBytes(bytes)} to ${escapeName(target)}${notes}`
    await output.writeValue({ directory: target, ...report }, text)
  })
}

/** Writes the readable files of a vault, even of one that its engine cannot open. */
function salvageVault(call: ExportInvocation): Promise<number> {
  if (call.has('force') || call.option('path') !== undefined) {
    throw new UsageError(
      '--salvage writes the whole vault into a new directory; leave out --force and --path',
    )
  }
  const work = async (open: OpenHome) => {
    const vault = await resolveVaultName(call, open)
    const [at, target] = [call.option('at'), resolve(call.argument('directory'))]
    const options = { signal: call.terminal.signal, ...(at !== undefined && { at }) }
    const report = await open.home.salvage(vault, target, options)
    const { files, bytes, lost } = report
    const lines = lost.map(({ path, detail }) => `lost ${escapeName(`${vault}:${path}`)}: ${detail}`)
    const text = `salvaged ${formatCount(files, 'file')}, ${formatBytes(bytes)} to ${escapeName(target)}`
    await call.output.writeValue({ directory: target, ...report }, [...lines, text].join('\n'))
    return lost.length === 0 ? exitCodes.ok : exitCodes.failed
  }
  return withHome(call, work, { toSalvage: true })
}

async function writeArchive(
  { terminal, output }: Pick<CommandInvocation, 'terminal' | 'output'>,
  { vault, ctx }: OpenVault,
  file: string,
  { at: checkpoint, path: root = '/', overwrite }: { at?: string; path?: string; overwrite: boolean },
): Promise<void> {
  const fs = checkpoint === undefined ? vault : await vault.at(checkpoint)
  const report = await withProgress(terminal, 'export', 'file', (onProgress) =>
    exportArchive(fs, file, { overwrite, root }, ctx, onProgress),
  ).catch((error) => {
    if (!isVfsError(error, 'ECONFLICT')) throw error
    throw new CommandError(`${escapeName(file)} exists; replace it with --force`)
  })
  const { files, bytes } = report
  const text = `exported ${formatCount(files, 'entry', 'entries')} to ${escapeName(file)}, ${formatBytes(bytes)}`
  await output.writeValue({ archive: file, ...report }, text)
}
