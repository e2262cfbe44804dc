import { escapeName } from '../../../text/index.ts'
import { withVault } from '../../access/home-access.ts'
import { parseVaultPath } from '../../access/parse-vault-path.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import type { CommandArgument } from '../../framework/command-definition.ts'
import { CommandError } from '../../framework/errors.ts'
import { formatVaultCommand } from '../../framework/hint.ts'
import { formatCount } from '../../render/format-values.ts'
import { formatTable } from '../../render/table.ts'

const path: CommandArgument = { summary: 'The file or directory', offers: 'path' }

const add: Command = defineCommand(
  {
    name: 'tag add',
    summary: 'Add tags to a file',
    scope: 'change',
    arguments: { path, tags: { summary: 'The tags', isList: true } },
    examples: ['coppice tag add /src/cart.ts reviewed urgent', 'coppice tag add /docs draft --vault task-1'],
  },
  (call) =>
    withVault(call, async ({ vault, ctx }) => {
      const path = parseVaultPath(call.argument('path'))
      await vault.tags.add(path, call.argumentList('tags'), ctx)
      await call.output.writeValue({ path, tags: await vault.tags.of(path) })
    }),
)

const remove: Command = defineCommand(
  {
    name: 'tag remove',
    summary: 'Remove tags from a file',
    scope: 'change',
    arguments: { path, tags: { summary: 'The tags', isList: true } },
    examples: ['coppice tag remove /src/cart.ts urgent', 'coppice tag remove /docs draft --vault task-1'],
  },
  (call) =>
    withVault(call, async ({ vault, ctx }) => {
      const path = parseVaultPath(call.argument('path'))
      const [tags, current] = [call.argumentList('tags'), await vault.tags.of(path)]
      const missing = tags.find((name) => !current.includes(name))
      if (missing !== undefined) {
        const next = `see ${formatVaultCommand(call, 'tag', 'list', path)}`
        throw new CommandError(`${escapeName(path)} has no tag '${escapeName(missing)}'; ${next}`)
      }
      await vault.tags.remove(path, tags, ctx)
      await call.output.writeValue({ path, tags: await vault.tags.of(path) })
    }),
)

const list: Command = defineCommand(
  {
    name: 'tag list',
    summary: 'List the tags of a file or of the vault',
    scope: 'vault',
    arguments: { path: { ...path, isOptional: true } },
    examples: ['coppice tag list', 'coppice tag list /src/cart.ts'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const path = call.optionalArgument('path')
      if (path !== undefined) {
        await call.output.writeList(await vault.tags.of(parseVaultPath(path)), escapeName)
        return
      }
      const all = await vault.tags.all()
      const rows = all.map(({ tag, count }) => [escapeName(tag), formatCount(count, 'file')])
      await call.output.writeValue(all, formatTable(rows).join('\n'))
    }),
)

const find: Command = defineCommand(
  {
    name: 'tag find',
    summary: 'List the files that have a tag',
    scope: 'vault',
    arguments: { tag: { summary: 'The tag' } },
    examples: ['coppice tag find reviewed', 'coppice tag find reviewed --json'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      await call.output.writeList(await vault.tags.find(call.argument('tag')), escapeName)
    }),
)

export const tag: CommandGroup = {
  name: 'tag',
  summary: 'Tag files, and find them by tag',
  commands: [add, remove, list, find],
}
