import type { CheckpointInfo, Vault } from '../../backends/vault/index.ts'
import { shown } from '../../server/text/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { type Command, command, type Family } from '../command.ts'
import type { Argument } from '../definition.ts'
import { withVault } from '../home-access.ts'
import { table } from '../table.ts'
import { counted, timeText } from '../wording.ts'

const existing: Argument = { summary: 'The checkpoint', offers: 'checkpoint' }

const save: Command = command(
  {
    name: 'checkpoint save',
    summary: 'Name the vault as it is now',
    details: 'Takes constant time, whatever the vault holds.',
    scope: 'vault',
    options: { message: { summary: 'What it is about', short: 'm', value: 'text' } },
    arguments: { name: { summary: 'Its name; made of the time when absent', isOptional: true } },
    examples: ['coppice checkpoint save before', "coppice checkpoint save -m 'tests pass'"],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const description = call.text('message')
      const about = description === undefined ? {} : { description }
      const made = await vault.checkpoint(call.given('name'), about)
      await call.output.value(made, `saved checkpoint ${shown(made.name)} of ${vault.name}`)
    }),
)

const list: Command = command(
  {
    name: 'checkpoint list',
    summary: 'List the checkpoints, the oldest first',
    scope: 'vault',
    examples: ['coppice checkpoint list', 'coppice checkpoint list --vault task-1 --json'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const all = await vault.checkpoints()
      const rows = all.map(({ name, time, description = '' }) => [
        shown(name),
        timeText(time),
        shown(description),
      ])
      await call.output.value(all, table(rows).join('\n'))
    }),
)

const restore: Command = command(
  {
    name: 'checkpoint restore',
    summary: 'Make the vault what it was at a checkpoint',
    details: 'The journal keeps what was in between; save a checkpoint first to come back to it.',
    scope: 'change',
    arguments: { name: existing },
    examples: ['coppice checkpoint restore before'],
  },
  (call) =>
    withVault(call, async ({ vault, ctx }) => {
      const name = call.argument('name')
      await vault.restore(name, ctx)
      await call.output.value({ restored: name }, `${vault.name} is as it was at ${shown(name)}`)
    }),
)

const remove: Command = command(
  {
    name: 'checkpoint delete',
    summary: 'Forget a checkpoint; the vault stays as it is',
    scope: 'vault',
    arguments: { name: existing },
    examples: ['coppice checkpoint delete before'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const name = call.argument('name')
      await vault.removeCheckpoint(name)
      await call.output.value({ deleted: name }, `deleted checkpoint ${shown(name)}`)
    }),
)

const info: Command = command(
  {
    name: 'checkpoint info',
    summary: 'Describe a checkpoint, and how much changed since',
    scope: 'vault',
    arguments: { name: existing },
    examples: ['coppice checkpoint info before'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const about = await checkpointOf(vault, call.argument('name'))
      let changesSince = 0
      for await (const _ of vault.diff(about.name)) changesSince++
      const rows = [
        ['name', shown(about.name)],
        ['saved', timeText(about.time)],
        ...(about.description === undefined ? [] : [['about', shown(about.description)]]),
        ['since then', counted(changesSince, 'path changed', 'paths changed')],
      ]
      await call.output.value({ ...about, changesSince }, table(rows).join('\n'))
    }),
)

export const checkpoint: Family = {
  name: 'checkpoint',
  summary: 'Save, list, restore, describe and delete checkpoints',
  commands: [save, list, restore, remove, info],
}

async function checkpointOf(vault: Vault, name: string): Promise<CheckpointInfo> {
  const found = (await vault.checkpoints()).find((candidate) => candidate.name === name)
  if (found !== undefined) return found
  const detail = `there is no checkpoint '${name}'; see coppice checkpoint list`
  throw new VfsError('ENOENT', name, { op: 'checkpoint', detail })
}
