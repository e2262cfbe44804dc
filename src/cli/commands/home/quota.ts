import { type OpenVault, withVault } from '../../access/home-access.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { parseByteCount } from '../../framework/parse-byte-count.ts'
import { formatBytes, formatNumber } from '../../render/format-values.ts'
import { formatTable } from '../../render/table.ts'

const show: Command = defineCommand(
  {
    name: 'quota show',
    summary: 'Show the limits of a vault and what it uses',
    details: 'Shared bytes also belong to other vaults or checkpoints; private bytes only to this one.',
    scope: 'vault',
    examples: ['coppice quota show', 'coppice quota show --vault task-1 --json'],
  },
  (call) => withVault(call, (open) => printQuota(call, open)),
)

const set: Command = defineCommand(
  {
    name: 'quota set',
    summary: 'Limit the size of a vault; none lifts a limit',
    details: 'Limits that are not given stay as they are. Sizes: 500K, 10M, 2G.',
    scope: 'change',
    options: {
      bytes: { summary: 'Size of all files together', value: 'size' },
      files: { summary: 'Number of files', value: 'count' },
      'file-size': { summary: 'Size of a single file', value: 'size' },
    },
    examples: ['coppice quota set --bytes 2G --files 100000', 'coppice quota set --bytes none'],
  },
  (call) =>
    withVault(call, async (open) => {
      const { quota: limits } = open.vault
      const current = await limits.get()
      const bytes = parseLimit('bytes', call.option('bytes'), current.bytes)
      const files = parseLimit('files', call.option('files'), current.files)
      const fileSize = parseLimit('file-size', call.option('file-size'), current.fileSize)
      const { signal: _signal, ...provenance } = open.ctx
      await limits.set(
        {
          ...(bytes !== undefined && { bytes }),
          ...(files !== undefined && { files }),
          ...(fileSize !== undefined && { fileSize }),
        },
        provenance,
      )
      await printQuota(call, open)
    }),
)

export const quota: CommandGroup = {
  name: 'quota',
  summary: 'Show and limit the size of a vault',
  commands: [show, set],
}

async function printQuota(call: CommandInvocation, { vault }: OpenVault): Promise<void> {
  const [limits, usage] = [await vault.quota.get(), await vault.quota.usage()]
  const limit = (value: number | undefined, text: (value: number) => string) =>
    value === undefined ? '' : `of ${text(value)}`
  const rows = [
    ['files', formatNumber(usage.files), limit(limits.files, formatNumber)],
    ['bytes', formatBytes(usage.bytes), limit(limits.bytes, formatBytes)],
    ['  shared', formatBytes(usage.sharedBytes)],
    ['  private', formatBytes(usage.privateBytes)],
    ...(limits.fileSize === undefined ? [] : [['one file', '', limit(limits.fileSize, formatBytes)]]),
  ]
  await call.output.writeValue({ quota: limits, usage }, formatTable(rows).join('\n'))
}

/** Returns the given limit, or the current one if none is given; undefined for `none`. UsageError. */
function parseLimit(
  option: string,
  givenLimit: string | undefined,
  current: number | undefined,
): number | undefined {
  if (givenLimit === 'none') return undefined
  return givenLimit === undefined ? current : parseByteCount(option, givenLimit)
}
