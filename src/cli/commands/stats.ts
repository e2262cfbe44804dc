import { type Command, command } from '../command.ts'
import { visibleVaults, withHome } from '../home-access.ts'
import { table } from '../table.ts'
import { bytesText, counted } from '../wording.ts'

export const stats: Command = command(
  {
    name: 'stats',
    summary: 'Show what the home holds, and what it takes to hold it',
    details:
      'Files count in each vault that has them; what vaults share is stored once. Hidden vaults are those that commands keep for themselves; vault list leaves them out.',
    scope: 'home',
    examples: ['coppice stats', 'coppice stats --json'],
  },
  (call) =>
    withHome(call, async ({ home, path }) => {
      const names = await home.vaults()
      const vaults = visibleVaults(names).length
      const figures = { ...(await home.stats()), vaults, hiddenVaults: names.length - vaults }
      const hidden = figures.hiddenVaults === 0 ? '' : ` and ${figures.hiddenVaults} hidden`
      const stored = (name: string, { count, bytes }: { count: number; bytes: number }) => [
        name,
        `${count.toLocaleString('en')}, ${bytesText(bytes)}`,
      ]
      const rows = [
        ['home', `${path} (${figures.engine})`],
        ['vaults', `${figures.vaults}${hidden}, ${counted(figures.checkpoints, 'checkpoint')}`],
        ['files', `${figures.files.toLocaleString('en')}, ${bytesText(figures.fileBytes)}`],
        stored('pages', figures.pages),
        stored('blobs', figures.blobs),
        stored('journal', figures.journal),
        ['on disk', bytesText(figures.totalBytes)],
      ]
      await call.output.value({ path, ...figures }, table(rows).join('\n'))
    }),
)
