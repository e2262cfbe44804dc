import { pushVault } from '../../../backends/vault/index.ts'
import { ZONES_VAULT } from '../../../config/index.ts'
import { escapeName } from '../../../text/index.ts'
import { type OpenHome, withHome } from '../../access/home-access.ts'
import { type OtherHome, withOtherHome } from '../../access/other-home.ts'
import { filterUserVaults } from '../../access/vault-names.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { formatCount } from '../../render/format-values.ts'
import { withProgress } from '../../render/progress.ts'

export const migrate: Command = defineCommand(
  {
    name: 'home migrate',
    summary: 'Copy every vault to another home',
    details: `Copies the files of each vault; this home stays as it is. Run it again to copy what changed since.
History and checkpoints stay here, and a fork becomes a vault of its own: merge forks before you move.
Forks of directories stay with their directory.`,
    scope: 'home',
    arguments: { to: { summary: 'Directory or URL of the other home', offers: 'file' } },
    examples: [
      'coppice home migrate postgres://ann@db.example.com/work',
      'coppice home migrate /mnt/big/coppice --home ~/.coppice',
    ],
  },
  (call) =>
    withHome(call, (open) =>
      withOtherHome(call, open, call.argument('to'), (other) => copyVaults(call, open, other), {
        create: true,
      }),
    ),
)

async function copyVaults(call: CommandInvocation, { home }: OpenHome, { home: other, location }: OtherHome) {
  const { terminal, output } = call
  const all = await home.vaults()
  const names = [...filterUserVaults(all), ...all.filter((name) => name === ZONES_VAULT)]
  const copied: { vault: string; is_new: boolean; changes: number; files: number }[] = []
  for (const vault of names) {
    const { isNew, changes } = await withProgress(terminal, vault, 'file', (onProgress) =>
      pushVault({ home, vault, other, otherVault: vault, location }, { onProgress, signal: terminal.signal }),
    )
    const { files } = await other.info(vault)
    copied.push({ vault, is_new: isNew, changes: changes.length, files })
    const what = isNew ? formatCount(files, 'file') : formatCount(changes.length, 'change')
    if (!call.isJson) await output.writeLine(`${vault}: ${what}`)
  }
  const text = `copied ${formatCount(copied.length, 'vault')} to ${escapeName(location)}; use it with: export COPPICE_HOME='${location}'`
  await output.writeValue({ to: location, vaults: copied }, text)
}
