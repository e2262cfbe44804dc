import { shown } from '../../server/text/index.ts'
import { type Command, command, type Family } from '../command.ts'
import type { Argument } from '../definition.ts'
import { CommandError } from '../errors.ts'
import { withVault } from '../home-access.ts'
import { table } from '../table.ts'
import { vaultPath } from '../vault-path.ts'
import { counted } from '../wording.ts'

const path: Argument = { summary: 'The file or directory', offers: 'path' }

const add: Command = command(
  {
    name: 'tag add',
    summary: 'Put tags on a file',
    scope: 'change',
    arguments: { path, tags: { summary: 'The tags', isList: true } },
    examples: ['coppice tag add /src/cart.ts reviewed urgent'],
  },
  (call) =>
    withVault(call, async ({ vault, ctx }) => {
      const place = vaultPath(call.argument('path'))
      await vault.tags.add(place, call.list('tags'), ctx)
      await call.output.value({ path: place, tags: await vault.tags.of(place) })
    }),
)

const remove: Command = command(
  {
    name: 'tag remove',
    summary: 'Take tags off a file',
    scope: 'change',
    arguments: { path, tags: { summary: 'The tags', isList: true } },
    examples: ['coppice tag remove /src/cart.ts urgent'],
  },
  (call) =>
    withVault(call, async ({ vault, ctx }) => {
      const place = vaultPath(call.argument('path'))
      const [tags, known] = [call.list('tags'), await vault.tags.of(place)]
      const missing = tags.find((name) => !known.includes(name))
      if (missing !== undefined) {
        const next = `see coppice tag list ${shown(place)}`
        throw new CommandError(`${shown(place)} has no tag '${shown(missing)}'; ${next}`)
      }
      await vault.tags.remove(place, tags, ctx)
      await call.output.value({ path: place, tags: await vault.tags.of(place) })
    }),
)

const list: Command = command(
  {
    name: 'tag list',
    summary: 'List the tags of a file, or all tags of the vault with how many files have them',
    scope: 'vault',
    arguments: { path: { ...path, isOptional: true } },
    examples: ['coppice tag list', 'coppice tag list /src/cart.ts'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const place = call.given('path')
      if (place !== undefined) {
        await call.output.list(await vault.tags.of(vaultPath(place)), shown)
        return
      }
      const all = await vault.tags.all()
      const rows = all.map(({ tag, count }) => [shown(tag), counted(count, 'file')])
      await call.output.value(all, table(rows).join('\n'))
    }),
)

const find: Command = command(
  {
    name: 'tag find',
    summary: 'List the files that have a tag',
    scope: 'vault',
    arguments: { tag: { summary: 'The tag' } },
    examples: ['coppice tag find reviewed'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      await call.output.list(await vault.tags.find(call.argument('tag')), shown)
    }),
)

export const tag: Family = {
  name: 'tag',
  summary: 'Tag files, and find them by tag',
  commands: [add, remove, list, find],
}
