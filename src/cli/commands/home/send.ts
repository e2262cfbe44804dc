import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { escapeName } from '../../../text/index.ts'
import { withVault } from '../../access/home-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatBytes } from '../../render/format-values.ts'
import { withProgress } from '../../render/progress.ts'

export const send: Command = defineCommand(
  {
    name: 'send',
    summary: 'Write a vault as one stream, for coppice receive',
    details: `Files, links, permissions, times, tags and metadata go along; history does not.
With --since only what changed since a checkpoint that the other side has received.`,
    scope: 'vault',
    options: {
      to: { summary: 'Into this file; to standard output when absent', value: 'file', offers: 'file' },
      checkpoint: { summary: 'As it was at this checkpoint', value: 'name', offers: 'checkpoint' },
      since: { summary: 'Only what changed since this checkpoint', value: 'name', offers: 'checkpoint' },
    },
    examples: [
      'coppice send --vault base --to base.coppice',
      'coppice send --vault base | ssh elsewhere coppice receive',
      'coppice send --checkpoint tuesday --since monday > changes.coppice',
    ],
  },
  (call) =>
    withVault(call, async ({ home, vault }) => {
      const { terminal, output } = call
      const [file, checkpoint, since] = [call.option('to'), call.option('checkpoint'), call.option('since')]
      if (file === undefined && (terminal.isInteractive || call.isJson)) {
        throw new UsageError('the stream needs a place to go: --to <file>, > file or | command')
      }
      const options = {
        signal: terminal.signal,
        ...(checkpoint !== undefined && { checkpoint }),
        ...(since !== undefined && { since }),
      }
      const size = await withProgress(terminal, 'send', 'file', (onProgress) => {
        const stream = home.send(vault.name, { ...options, onProgress })
        return file === undefined
          ? output.writeBytes(stream)
          : writeFileAtomically(file, stream, terminal.signal)
      })
      if (file === undefined) return
      const text = `sent ${vault.name}, ${formatBytes(size)}, to ${escapeName(file)}`
      await output.writeValue({ vault: vault.name, file, bytes: size }, text)
    }),
)

/** A file that appears when all of it is there. Returns its size. */
async function writeFileAtomically(
  file: string,
  stream: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<number> {
  const temporary = `${file}.${process.pid}.tmp`
  const target = createWriteStream(temporary, { flags: 'wx', flush: true })
  try {
    await pipeline(stream, target, { signal })
    await rename(temporary, file)
    return target.bytesWritten
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
