import { escapeName } from '../../../text/index.ts'
import { withVault } from '../../access/home-access.ts'
import { parseVaultPath } from '../../access/parse-vault-path.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import type { CommandArgument } from '../../framework/command-definition.ts'
import { CommandError } from '../../framework/errors.ts'
import { formatVaultCommand, type HintTarget } from '../../framework/hint.ts'
import { escapeForTerminal } from '../../render/format-values.ts'
import { formatTable } from '../../render/table.ts'

const path: CommandArgument = { summary: 'The file or directory', offers: 'path' }
const key: CommandArgument = { summary: 'The name of the value' }

const set: Command = defineCommand(
  {
    name: 'meta set',
    summary: 'Set a metadata value of a file',
    scope: 'change',
    arguments: { path, key, value: { summary: 'Any text' } },
    examples: ['coppice meta set /src/cart.ts owner alice', 'coppice meta set /docs status draft'],
  },
  (call) =>
    withVault(call, async ({ vault, ctx }) => {
      const path = parseVaultPath(call.argument('path'))
      await vault.meta.set(path, call.argument('key'), call.argument('value'), ctx)
      await call.output.writeValue({ path, meta: await vault.meta.all(path) })
    }),
)

const get: Command = defineCommand(
  {
    name: 'meta get',
    summary: 'Print a metadata value of a file',
    scope: 'vault',
    arguments: { path, key },
    examples: ['coppice meta get /src/cart.ts owner', 'coppice meta get /docs status --json'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const [path, name] = [parseVaultPath(call.argument('path')), call.argument('key')]
      const value = await vault.meta.get(path, name)
      if (value === undefined) throw createMissingValueError(call, path, name)
      await call.output.writeValue({ path, key: name, value }, escapeForTerminal(call.terminal, value))
    }),
)

const remove: Command = defineCommand(
  {
    name: 'meta remove',
    summary: 'Remove a metadata value of a file',
    scope: 'change',
    arguments: { path, key },
    examples: ['coppice meta remove /src/cart.ts owner', 'coppice meta remove /docs status'],
  },
  (call) =>
    withVault(call, async ({ vault, ctx }) => {
      const [path, name] = [parseVaultPath(call.argument('path')), call.argument('key')]
      if ((await vault.meta.get(path, name)) === undefined) throw createMissingValueError(call, path, name)
      await vault.meta.remove(path, name, ctx)
      await call.output.writeValue({ path, meta: await vault.meta.all(path) })
    }),
)

const list: Command = defineCommand(
  {
    name: 'meta list',
    summary: 'List the metadata of a file',
    scope: 'vault',
    arguments: { path },
    examples: ['coppice meta list /src/cart.ts', 'coppice meta list /src/cart.ts --json'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const all = await vault.meta.all(parseVaultPath(call.argument('path')))
      const rows = Object.entries(all).map(([name, value]) => [escapeName(name), escapeName(value)])
      await call.output.writeValue(all, formatTable(rows).join('\n'))
    }),
)

function createMissingValueError(target: HintTarget, path: string, name: string): CommandError {
  const next = `see ${formatVaultCommand(target, 'meta', 'list', path)}`
  return new CommandError(`${escapeName(path)} has no value '${escapeName(name)}'; ${next}`)
}

export const meta: CommandGroup = {
  name: 'meta',
  summary: 'Set, print and remove metadata of files',
  commands: [set, get, remove, list],
}
