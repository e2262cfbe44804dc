import { addAbortSignal } from 'node:stream'
import { append } from '../../../vfs/index.ts'
import { findDevicePath, parseWritablePath, writeDevice } from '../../access/device-paths.ts'
import { withVault } from '../../access/home-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'

export const write: Command = defineCommand(
  {
    name: 'write',
    summary: 'Write a file from standard input, or from --text',
    details:
      'The file is replaced whole, or not at all if the input breaks off. Missing directories are made.\nWhat is written to a path in /dev or /mnt/mcp goes to the device, which the daemon has, and its answer is printed, unless a vault is named.',
    scope: 'change',
    options: {
      text: {
        summary: 'The content, instead of standard input; a line end is added',
        short: 't',
        value: 'text',
      },
      append: { summary: 'Add to the end of the file', short: 'a' },
    },
    arguments: { path: { summary: 'The file', offers: 'path' } },
    examples: ['coppice write /notes.md < notes.md', "coppice write /notes.md --text 'buy milk' --append"],
  },
  (call) => {
    const text = call.option('text')
    const { terminal } = call
    const content = text === undefined ? addAbortSignal(terminal.signal, terminal.in) : `${text}\n`
    const device = findDevicePath(call, call.argument('path'))
    if (device !== undefined) return writeDevice(call, device, content)
    return withVault(call, async ({ vault, ctx }) => {
      const path = parseWritablePath(call, call.argument('path'))
      if (call.has('append')) await append(vault, path, content, ctx)
      else await vault.write(path, content, {}, ctx)
      const { size } = await vault.stat(path, ctx)
      await call.output.writeValue({ path, size })
    })
  },
)
