import { isMirrorName, type VaultInfo } from '../../../backends/vault/index.ts'
import { engines, setConfig } from '../../../config/index.ts'
import { listDefaultVaults } from '../../access/default-vaults.ts'
import { deleteVault } from '../../access/delete-vault.ts'
import { assertUserVault, type OpenHome, resolveVaultName, withHome } from '../../access/home-access.ts'
import { filterVisibleVaults } from '../../access/vault-names.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import { exitCodes } from '../../framework/errors.ts'
import { applyStyle } from '../../framework/terminal.ts'
import { confirm } from '../../render/confirm.ts'
import { formatBytes, formatCount, formatTime } from '../../render/format-values.ts'
import { formatTable } from '../../render/table.ts'
import { engine, yes } from '../shared-options.ts'

const create: Command = defineCommand(
  {
    name: 'vault create',
    summary: 'Create an empty vault, and the home if missing',
    scope: 'home',
    options: { engine, use: { summary: 'Make it the current vault' } },
    arguments: { name: { summary: 'Letters, digits, - and _; 64 at most' } },
    examples: ['coppice vault create base', 'coppice vault create base --use --engine lmdb'],
  },
  (call) => {
    const name = assertUserVault(call.argument('name'))
    const createVault = async ({ home, path }: OpenHome) => {
      await home.createVault(name)
      if (call.has('use')) await setConfig(path, 'vault', name)
      await call.output.writeValue({ name }, `made vault ${name}`)
    }
    return withHome(call, createVault, { create: true, engine: call.choiceOption('engine', engines) })
  },
)

const list: Command = defineCommand(
  {
    name: 'vault list',
    summary: 'List the vaults, the current one marked with *',
    scope: 'home',
    examples: ['coppice vault list', 'coppice vault list --json'],
  },
  (call) =>
    withHome(call, async (open) => {
      const current = await findCurrentVault(open)
      const infos: VaultInfo[] = []
      for (const name of filterVisibleVaults(await open.home.vaults())) infos.push(await open.home.info(name))
      if (call.isJson) {
        await call.output.writeValue(infos.map((info) => ({ ...info, isCurrent: info.name === current })))
        return
      }
      const rows = infos.map((info) => [info.name === current ? '*' : ' ', ...toInfoRow(info)])
      for (const line of formatTable(rows)) {
        await call.output.writeLine(line.startsWith('*') ? applyStyle(call.terminal, 'green', line) : line)
      }
    }),
)

const use: Command = defineCommand(
  {
    name: 'vault use',
    summary: 'Choose the vault for commands without --vault',
    details: 'Writes the choice to config.toml of the home.',
    scope: 'home',
    arguments: { name: { summary: 'The vault', offers: 'vault' } },
    examples: ['coppice vault use task-1', 'coppice vault use base --json'],
  },
  (call) =>
    withHome(call, async ({ home, path }) => {
      const { name } = await home.vault(assertUserVault(call.argument('name')))
      await setConfig(path, 'vault', name)
      await call.output.writeValue({ name }, `commands now work on ${name}`)
    }),
)

const info: Command = defineCommand(
  {
    name: 'vault info',
    summary: 'Show the origin and content of a vault',
    scope: 'home',
    arguments: {
      name: { summary: 'The vault (default: the current one)', isOptional: true, offers: 'vault' },
    },
    examples: ['coppice vault info', 'coppice vault info task-1 --json'],
  },
  (call) =>
    withHome(call, async (open) => {
      const about = await open.home.info(
        call.optionalArgument('name') ?? (await resolveVaultName(call, open)),
      )
      const { from } = about
      const rows = [
        ['name', about.name],
        ['made', formatTime(about.created)],
        ...(from === undefined
          ? []
          : [['forked from', `${formatOrigin(from.vault)} at ${formatTime(from.time)}`]]),
        ['holds', `${formatCount(about.files, 'file')}, ${formatBytes(about.bytes)}`],
        [
          'history',
          `${formatCount(about.changes, 'change')}, ${formatCount(about.checkpoints, 'checkpoint')}`,
        ],
      ]
      await call.output.writeValue(about, formatTable(rows).join('\n'))
    }),
)

const remove: Command = defineCommand(
  {
    name: 'vault delete',
    summary: 'Delete a vault, its checkpoints and its history',
    details: 'Its forks stay. Asks first; without a terminal, --yes is required.',
    scope: 'home',
    options: { yes },
    arguments: { name: { summary: 'The vault', offers: 'vault' } },
    examples: ['coppice vault delete old', 'coppice vault delete old --yes'],
  },
  (call) =>
    withHome(call, async (open) => {
      const { name, files, checkpoints } = await open.home.info(call.argument('name'))
      const content = `${formatCount(files, 'file')} and ${formatCount(checkpoints, 'checkpoint')}`
      const question = `Delete vault ${name} with ${content} for good?`
      if (!(await confirm(call.terminal, question, call.has('yes')))) {
        await call.output.writeValue({ deleted: null }, 'nothing was deleted')
        return exitCodes.failed
      }
      const current = await deleteVault(open, name)
      await call.output.writeValue({ deleted: name, current: current ?? null }, `deleted vault ${name}`)
      return exitCodes.ok
    }),
)

export const vault: CommandGroup = {
  name: 'vault',
  summary: 'Create, list, choose, describe and delete vaults',
  commands: [create, list, use, info, remove],
}

/** Returns the name of the vault for commands without --vault; undefined if there are none or several. */
async function findCurrentVault({ home, config }: OpenHome): Promise<string | undefined> {
  if (config.vault !== undefined) return config.vault
  const [only, ...others] = await listDefaultVaults(home)
  return others.length === 0 ? only : undefined
}

function toInfoRow({ name, files, bytes, created, from }: VaultInfo): string[] {
  const origin = from === undefined ? '' : `fork of ${formatOrigin(from.vault)}`
  return [name, formatCount(files, 'file'), formatBytes(bytes), formatTime(created), origin]
}

/** Formats the origin of a fork; the mirror vault of coppice exec is shown as a directory. */
function formatOrigin(vault: string): string {
  return isMirrorName(vault) ? 'a directory' : vault
}
