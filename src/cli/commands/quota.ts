import { byteCount } from '../byte-count.ts'
import type { Call } from '../call.ts'
import { type Command, command, type Family } from '../command.ts'
import { type OpenVault, withVault } from '../home-access.ts'
import { table } from '../table.ts'
import { bytesText } from '../wording.ts'

const show: Command = command(
  {
    name: 'quota show',
    summary: 'Show the limits of a vault and what it uses',
    details: 'Shared bytes are those that other vaults or checkpoints hold too; private ones are its own.',
    scope: 'vault',
    examples: ['coppice quota show', 'coppice quota show --vault task-1 --json'],
  },
  (call) => withVault(call, (open) => render(call, open)),
)

const set: Command = command(
  {
    name: 'quota set',
    summary: 'Limit what a vault may hold; a limit of none lifts it',
    details: 'Limits that are not named stay. Sizes may be written as 500K, 10M, 2G.',
    scope: 'vault',
    options: {
      bytes: { summary: 'All files together', value: 'size' },
      files: { summary: 'How many files', value: 'count' },
      'file-size': { summary: 'Any one file', value: 'size' },
    },
    examples: ['coppice quota set --bytes 2G --files 100000', 'coppice quota set --bytes none'],
  },
  (call) =>
    withVault(call, async (open) => {
      const { quota: limits } = open.vault
      const now = await limits.get()
      const bytes = limitOf('bytes', call.text('bytes'), now.bytes)
      const files = limitOf('files', call.text('files'), now.files)
      const fileSize = limitOf('file-size', call.text('file-size'), now.fileSize)
      await limits.set({
        ...(bytes !== undefined && { bytes }),
        ...(files !== undefined && { files }),
        ...(fileSize !== undefined && { fileSize }),
      })
      await render(call, open)
    }),
)

export const quota: Family = {
  name: 'quota',
  summary: 'Show and limit what a vault may hold',
  commands: [show, set],
}

async function render(call: Call, { vault }: OpenVault): Promise<void> {
  const [limits, usage] = [await vault.quota.get(), await vault.quota.usage()]
  const limit = (value: number | undefined, text: (value: number) => string) =>
    value === undefined ? '' : `of ${text(value)}`
  const rows = [
    ['files', usage.files.toLocaleString('en'), limit(limits.files, (count) => count.toLocaleString('en'))],
    ['bytes', bytesText(usage.bytes), limit(limits.bytes, bytesText)],
    ['  shared', bytesText(usage.sharedBytes)],
    ['  private', bytesText(usage.privateBytes)],
    ...(limits.fileSize === undefined ? [] : [['one file', '', limit(limits.fileSize, bytesText)]]),
  ]
  await call.output.value({ quota: limits, usage }, table(rows).join('\n'))
}

/** The limit that is asked for, or the one there is. */
function limitOf(option: string, asked: string | undefined, now: number | undefined): number | undefined {
  if (asked === 'none') return undefined
  return asked === undefined ? now : byteCount(option, asked)
}
