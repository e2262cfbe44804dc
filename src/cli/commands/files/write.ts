import { addAbortSignal } from 'node:stream'
import { append } from '../../../vfs/index.ts'
import { findDevicePath, parseWritablePath, writeDevice } from '../../access/device-paths.ts'
import { withVault } from '../../access/home-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'

export const write: Command = defineCommand(
  {
    name: 'write',
    summary: 'Write a file from standard input or --text',
    details:
      'Replaces the whole file, or nothing if the input fails. Creates missing directories.\nA path in /dev or /mnt/mcp sends the text to a device of the daemon and prints its response, unless --vault is given.',
    scope: 'change',
    options: {
      text: {
        summary: 'The content in place of standard input; adds a line end',
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
