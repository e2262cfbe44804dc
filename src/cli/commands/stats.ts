import { type Command, command } from '../command.ts'
import { withHome } from '../home-access.ts'
import { table } from '../table.ts'
import { bytesText, counted } from '../wording.ts'

export const stats: Command = command(
  {
    name: 'stats',
    summary: 'Show what the home holds, and what it takes to hold it',
    details: 'Files count in each vault that has them; what vaults share is stored once.',
    scope: 'home',
    examples: ['coppice stats', 'coppice stats --json'],
  },
  (call) =>
    withHome(call, async ({ home, path }) => {
      const told = await home.stats()
      const stored = (name: string, { count, bytes }: { count: number; bytes: number }) => [
        name,
        `${count.toLocaleString('en')}, ${bytesText(bytes)}`,
      ]
      const rows = [
        ['home', `${path} (${told.engine})`],
        ['vaults', `${told.vaults}, ${counted(told.checkpoints, 'checkpoint')}`],
        ['files', `${told.files.toLocaleString('en')}, ${bytesText(told.fileBytes)}`],
        stored('pages', told.pages),
        stored('blobs', told.blobs),
        stored('journal', told.journal),
        ['on disk', bytesText(told.totalBytes)],
      ]
      await call.output.value({ path, ...told }, table(rows).join('\n'))
    }),
)
