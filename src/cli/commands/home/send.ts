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
    details: `Includes files, links, permissions, times, tags and metadata, but no history.
With --since, sends only changes since a checkpoint that the receiver has.`,
    scope: 'vault',
    options: {
      to: { summary: 'File to write (default: standard output)', value: 'file', offers: 'file' },
      checkpoint: { summary: 'Send the state at this checkpoint', value: 'name', offers: 'checkpoint' },
      since: { summary: 'Send only changes since this checkpoint', value: 'name', offers: 'checkpoint' },
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
      if (file === undefined && call.isJson)
        throw new UsageError('--json needs --to <file>: standard output cannot have both the stream and JSON')
      if (file === undefined && terminal.isInteractive) {
        throw new UsageError('cannot write the stream to a terminal; use --to <file>, > file or | command')
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

/** Writes a file that appears only once it is complete. Returns its size. */
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
