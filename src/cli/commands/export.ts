import { resolve } from 'node:path'
import { shown } from '../../server/text/index.ts'
import { type Command, command } from '../command.ts'
import { withVault } from '../home-access.ts'
import { withProgress } from '../progress.ts'
import { vaultPath } from '../vault-path.ts'
import { bytesText, counted } from '../wording.ts'
import { at } from './shared-options.ts'

export const exportDirectory: Command = command(
  {
    name: 'export',
    summary: 'Copy a vault into a directory of this machine',
    details: `Nothing is overwritten unless --force says so, and nothing outside the directory is touched.
Each file appears whole.`,
    scope: 'vault',
    options: {
      at,
      path: { summary: 'Only this directory or file of the vault', value: 'path', offers: 'path' },
      force: { summary: 'Replace files that are there', short: 'f' },
    },
    arguments: { directory: { summary: 'The directory; made if it is missing', offers: 'file' } },
    examples: ['coppice export ./out --vault task-1', 'coppice export ./before --at before --path /src'],
  },
  (call) =>
    withVault(call, async ({ home, vault }) => {
      const { terminal, output } = call
      const directory = resolve(call.argument('directory'))
      const [checkpoint, path] = [call.text('at'), call.text('path')]
      const options = {
        signal: terminal.signal,
        overwrite: call.has('force'),
        ...(checkpoint !== undefined && { at: checkpoint }),
        ...(path !== undefined && { path: vaultPath(path) }),
      }
      const report = await withProgress(terminal, 'export', 'file', (onProgress) =>
        home.export(vault.name, directory, { ...options, onProgress }),
      )
      const { files, bytes, skipped } = report
      const left = skipped.map((place) => `\n  skipped ${shown(place)}: a device, socket or pipe`).join('')
      const text = `exported ${counted(files, 'file')}, ${bytesText(bytes)} to ${shown(directory)}${left}`
      await output.value({ directory, ...report }, text)
    }),
)
