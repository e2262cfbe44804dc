import { constants, createWriteStream, existsSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { PRIVATE_FILE_MODE } from '../../../machine/index.ts'
import { escapeName } from '../../../text/index.ts'
import { withVault } from '../../access/home-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { CommandError } from '../../framework/errors.ts'
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
        return file === undefined ? output.writeBytes(stream) : writeTarget(file, stream, terminal.signal)
      })
      if (file === undefined) return
      const text = `sent ${vault.name}, ${formatBytes(size)}, to ${escapeName(file)}`
      await output.writeValue({ vault: vault.name, file, bytes: size }, text)
    }),
)

/**
 * Writes a stream into a pipe or device, or else into a file that only its owner may read. Follows a link. Returns
 * the size.
 */
async function writeTarget(
  file: string,
  stream: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<number> {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found?.isDirectory()) throw new CommandError(`${file} is a directory; name a file`)
  if (found !== undefined && !found.isFile()) {
    const target = (await open(file, constants.O_WRONLY)).createWriteStream()
    await pipeline(stream, target, { signal })
    return target.bytesWritten
  }
  if (found === undefined && lstatSync(file, { throwIfNoEntry: false }) !== undefined)
    throw new CommandError(`${file} is a link to a file that does not exist; name that file`)
  if (!existsSync(dirname(file)))
    throw new CommandError(`${file} cannot be written: there is no directory ${dirname(file)}`)
  return replaceFile(found === undefined ? file : realpathSync(file), stream, signal)
}

/** Writes a new file beside it, which replaces whatever has this name once it is complete. Returns its size. */
async function replaceFile(
  file: string,
  stream: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<number> {
  const temporary = `${file}.${process.pid}.tmp`
  // The stream holds all files of a vault, which other users may not read.
  const target = createWriteStream(temporary, { flags: 'wx', mode: PRIVATE_FILE_MODE, flush: true })
  try {
    await pipeline(stream, target, { signal })
    await rename(temporary, file)
    return target.bytesWritten
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
