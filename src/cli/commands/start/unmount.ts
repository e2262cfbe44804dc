import { realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { type Command, defineCommand } from '../../framework/command.ts'
import { CommandError } from '../../framework/errors.ts'

export const unmount: Command = defineCommand(
  {
    name: 'unmount',
    summary: 'Take a mounted vault or namespace away again',
    details: 'What serves it ends by itself. Everything that was done in it is in the vault.',
    scope: 'none',
    arguments: { directory: { summary: 'Where it is mounted', offers: 'file' } },
    options: { lazy: { summary: 'Also while it is in use: programs in it then get errors' } },
    examples: ['coppice unmount /mnt/base', 'coppice unmount ./view --lazy'],
  },
  async (call) => {
    const fuse = await import('../../../fuse/index.ts')
    const directory = await resolveMountPoint(resolve(call.argument('directory')))
    const places = fuse.listOwnMounts().map((mount) => mount.directory)
    if (!places.includes(directory)) {
      const known = places.length === 0 ? 'nothing is' : `mounted are: ${places.join(', ')}`
      throw new CommandError(`coppice has mounted nothing on ${directory}; ${known}`)
    }
    if (call.has('lazy')) fuse.forceUnmount(directory)
    else await fuse.unmount(directory)
    await call.output.writeValue({ unmounted: directory }, `unmounted ${directory}`)
  },
)

/** The path the kernel lists it by. What is mounted is not looked at: nobody may answer behind it. */
async function resolveMountPoint(directory: string): Promise<string> {
  return join(await realpath(dirname(directory)), basename(directory))
}
