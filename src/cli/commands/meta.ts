import { shown } from '../../server/text/index.ts'
import { type Command, command, type Family } from '../command.ts'
import type { Argument } from '../definition.ts'
import { CommandError } from '../errors.ts'
import { withVault } from '../home-access.ts'
import { table } from '../table.ts'
import { vaultPath } from '../vault-path.ts'

const path: Argument = { summary: 'The file or directory', offers: 'path' }
const key: Argument = { summary: 'The name of the value' }

const set: Command = command(
  {
    name: 'meta set',
    summary: 'Note a value on a file',
    scope: 'change',
    arguments: { path, key, value: { summary: 'Any text' } },
    examples: ['coppice meta set /src/cart.ts owner alice'],
  },
  (call) =>
    withVault(call, async ({ vault, ctx }) => {
      const place = vaultPath(call.argument('path'))
      await vault.meta.set(place, call.argument('key'), call.argument('value'), ctx)
      await call.output.value({ path: place, meta: await vault.meta.all(place) })
    }),
)

const get: Command = command(
  {
    name: 'meta get',
    summary: 'Print a value that was noted on a file',
    scope: 'vault',
    arguments: { path, key },
    examples: ['coppice meta get /src/cart.ts owner'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const [place, name] = [vaultPath(call.argument('path')), call.argument('key')]
      const value = await vault.meta.get(place, name)
      if (value === undefined) throw noValue(place, name)
      await call.output.value({ path: place, key: name, value }, value)
    }),
)

const remove: Command = command(
  {
    name: 'meta remove',
    summary: 'Drop a value from a file',
    scope: 'change',
    arguments: { path, key },
    examples: ['coppice meta remove /src/cart.ts owner'],
  },
  (call) =>
    withVault(call, async ({ vault, ctx }) => {
      const [place, name] = [vaultPath(call.argument('path')), call.argument('key')]
      if ((await vault.meta.get(place, name)) === undefined) throw noValue(place, name)
      await vault.meta.remove(place, name, ctx)
      await call.output.value({ path: place, meta: await vault.meta.all(place) })
    }),
)

const list: Command = command(
  {
    name: 'meta list',
    summary: 'List the values noted on a file',
    scope: 'vault',
    arguments: { path },
    examples: ['coppice meta list /src/cart.ts'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const all = await vault.meta.all(vaultPath(call.argument('path')))
      const rows = Object.entries(all).map(([name, value]) => [shown(name), shown(value)])
      await call.output.value(all, table(rows).join('\n'))
    }),
)

function noValue(place: string, name: string): CommandError {
  return new CommandError(
    `${shown(place)} has no value '${shown(name)}'; see coppice meta list ${shown(place)}`,
  )
}

export const meta: Family = {
  name: 'meta',
  summary: 'Note values on files: key and text',
  commands: [set, get, remove, list],
}
