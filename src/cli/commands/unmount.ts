import { resolve } from 'node:path'
import { type Command, command } from '../command.ts'

export const unmount: Command = command(
  {
    name: 'unmount',
    summary: 'Take a mounted vault away again',
    details: 'What serves it ends by itself. Everything that was done in it is in the vault.',
    scope: 'none',
    arguments: { directory: { summary: 'Where it is mounted', offers: 'file' } },
    options: { lazy: { summary: 'Also while it is in use: programs in it then get errors' } },
    examples: ['coppice unmount /mnt/base', 'coppice unmount ./view --lazy'],
  },
  async (call) => {
    const directory = resolve(call.argument('directory'))
    const fuse = await import('../../fuse/index.ts')
    if (call.has('lazy')) fuse.abandon(directory)
    else fuse.unmount(directory)
    await call.output.value({ unmounted: directory }, `unmounted ${directory}`)
  },
)
