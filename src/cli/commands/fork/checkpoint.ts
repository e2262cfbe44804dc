import type { CheckpointInfo, Vault } from '../../../backends/vault/index.ts'
import { escapeName } from '../../../text/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import { withVault } from '../../access/home-access.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import type { CommandArgument } from '../../framework/command-definition.ts'
import { formatCount, formatTime } from '../../render/format-values.ts'
import { formatTable } from '../../render/table.ts'

const checkpointArgument: CommandArgument = { summary: 'The checkpoint', offers: 'checkpoint' }

const save: Command = defineCommand(
  {
    name: 'checkpoint save',
    summary: 'Save the state of a vault under a name',
    details: 'Takes constant time, whatever the size of the vault.',
    scope: 'vault',
    options: { message: { summary: 'Description', short: 'm', value: 'text' } },
    arguments: { name: { summary: 'Name (default: the current time)', isOptional: true } },
    examples: ['coppice checkpoint save before', "coppice checkpoint save -m 'tests pass'"],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const description = call.option('message')
      const about = description === undefined ? {} : { description }
      const made = await vault.checkpoint(call.optionalArgument('name'), about)
      await call.output.writeValue(made, `saved checkpoint ${escapeName(made.name)} of ${vault.name}`)
    }),
)

const list: Command = defineCommand(
  {
    name: 'checkpoint list',
    summary: 'List the checkpoints, oldest first',
    scope: 'vault',
    examples: ['coppice checkpoint list', 'coppice checkpoint list --vault task-1 --json'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const all = await vault.checkpoints()
      const rows = all.map(({ name, time, description = '' }) => [
        escapeName(name),
        formatTime(time),
        escapeName(description),
      ])
      await call.output.writeValue(all, formatTable(rows).join('\n'))
    }),
)

const restore: Command = defineCommand(
  {
    name: 'checkpoint restore',
    summary: 'Restore a vault to a checkpoint',
    details: 'Save a checkpoint first if you may want the present state back.',
    scope: 'change',
    arguments: { name: checkpointArgument },
    examples: ['coppice checkpoint restore before', 'coppice checkpoint restore before --vault task-1'],
  },
  (call) =>
    withVault(call, async ({ vault, ctx }) => {
      const name = call.argument('name')
      await vault.restore(name, ctx)
      await call.output.writeValue({ restored: name }, `${vault.name} is as it was at ${escapeName(name)}`)
    }),
)

const remove: Command = defineCommand(
  {
    name: 'checkpoint delete',
    summary: 'Delete a checkpoint; the vault stays unchanged',
    scope: 'vault',
    arguments: { name: checkpointArgument },
    examples: ['coppice checkpoint delete before', 'coppice checkpoint delete before --vault task-1'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const name = call.argument('name')
      await vault.removeCheckpoint(name)
      await call.output.writeValue({ deleted: name }, `deleted checkpoint ${escapeName(name)}`)
    }),
)

const info: Command = defineCommand(
  {
    name: 'checkpoint info',
    summary: 'Show a checkpoint and the number of changes since',
    scope: 'vault',
    arguments: { name: checkpointArgument },
    examples: ['coppice checkpoint info before', 'coppice checkpoint info before --json'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const about = await requireCheckpoint(vault, call.argument('name'))
      let changesSince = 0
      for await (const _ of vault.diff(about.name)) changesSince++
      const rows = [
        ['name', escapeName(about.name)],
        ['saved', formatTime(about.time)],
        ...(about.description === undefined ? [] : [['about', escapeName(about.description)]]),
        ['since then', formatCount(changesSince, 'path changed', 'paths changed')],
      ]
      await call.output.writeValue({ ...about, changesSince }, formatTable(rows).join('\n'))
    }),
)

export const checkpoint: CommandGroup = {
  name: 'checkpoint',
  summary: 'Save, list, restore, describe and delete checkpoints',
  commands: [save, list, restore, remove, info],
}

async function requireCheckpoint(vault: Vault, name: string): Promise<CheckpointInfo> {
  const found = (await vault.checkpoints()).find((candidate) => candidate.name === name)
  if (found !== undefined) return found
  const detail = `there is no checkpoint '${name}'`
  throw new VfsError('ENOENT', name, { op: 'checkpoint', detail })
}
