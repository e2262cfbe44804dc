import { withHome } from '../../access/home-access.ts'
import { filterVisibleVaults } from '../../access/vault-names.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { formatBytes, formatCount, formatNumber } from '../../render/format-values.ts'
import { formatTable } from '../../render/table.ts'

export const stats: Command = defineCommand(
  {
    name: 'stats',
    summary: 'Show the content of the home and its disk usage',
    details:
      'Counts a file in each vault that has it; shared content is stored once.\nHidden vaults are internal ones of commands; coppice vault list omits them.',
    scope: 'home',
    examples: ['coppice stats', 'coppice stats --json'],
  },
  (call) =>
    withHome(call, async ({ home, label }) => {
      const names = await home.vaults()
      const vaults = filterVisibleVaults(names).length
      const figures = { ...(await home.stats()), vaults, hiddenVaults: names.length - vaults }
      const hidden = figures.hiddenVaults === 0 ? '' : ` and ${figures.hiddenVaults} hidden`
      const formatStored = (name: string, { count, bytes }: { count: number; bytes: number }) => [
        name,
        `${formatNumber(count)}, ${formatBytes(bytes)}`,
      ]
      const rows = [
        ['home', `${label} (${figures.engine})`],
        ['vaults', `${figures.vaults}${hidden}, ${formatCount(figures.checkpoints, 'checkpoint')}`],
        ['files', `${formatNumber(figures.files)}, ${formatBytes(figures.fileBytes)}`],
        formatStored('pages', figures.pages),
        formatStored('blobs', figures.blobs),
        formatStored('segments', figures.segments),
        ...(figures.segments.problem === undefined ? [] : [['', figures.segments.problem]]),
        formatStored('journal', figures.journal),
        ['on disk', formatBytes(figures.totalBytes)],
      ]
      await call.output.writeValue({ path: label, ...figures }, formatTable(rows).join('\n'))
    }),
)
