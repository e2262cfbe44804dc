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
      const told = { ...(await home.stats()), vaults, hiddenVaults: names.length - vaults }
      const hidden = told.hiddenVaults === 0 ? '' : ` and ${told.hiddenVaults} hidden`
      const stored = (name: string, { count, bytes }: { count: number; bytes: number }) => [
        name,
        `${count.toLocaleString('en')}, ${bytesText(bytes)}`,
      ]
      const rows = [
        ['home', `${path} (${told.engine})`],
        ['vaults', `${told.vaults}${hidden}, ${counted(told.checkpoints, 'checkpoint')}`],
        ['files', `${told.files.toLocaleString('en')}, ${bytesText(told.fileBytes)}`],
        stored('pages', told.pages),
        stored('blobs', told.blobs),
        stored('journal', told.journal),
        ['on disk', bytesText(told.totalBytes)],
      ]
      await call.output.value({ path, ...told }, table(rows).join('\n'))
    }),
)
