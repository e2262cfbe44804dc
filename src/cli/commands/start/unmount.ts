import { realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { resolveHomePath } from '../../access/home-access.ts'
import { waitForForkMount } from '../../access/mounted-forks.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { CommandError } from '../../framework/errors.ts'

export const unmount: Command = defineCommand(
  {
    name: 'unmount',
    summary: 'Unmount a vault, fork or namespace',
    details: 'The serving process ends. All changes are in the vault or fork.',
    scope: 'home',
    arguments: { directory: { summary: 'The mount point', offers: 'file' } },
    options: { lazy: { summary: 'Unmount even while in use; programs in it get errors' } },
    examples: ['coppice unmount /mnt/base', 'coppice unmount ./view --lazy'],
  },
  async (call) => {
    const fuse = await import('../../../fuse/index.ts')
    const directory = await resolveMountPoint(resolve(call.argument('directory')))
    const mountPoints = fuse.listCoppiceMounts().map((mount) => mount.directory)
    if (!mountPoints.includes(directory)) {
      const list = mountPoints.length === 0 ? 'nothing is mounted' : `mounted: ${mountPoints.join(', ')}`
      throw new CommandError(`${directory} is not a coppice mount; ${list}`)
    }
    if (call.has('lazy')) fuse.forceUnmount(directory)
    else await fuse.unmount(directory)
    await waitForForkMount(await resolveHomePath(call), directory, call.terminal.signal)
    await call.output.writeValue({ unmounted: directory }, `unmounted ${directory}`)
  },
)

/** Returns the path as the kernel lists it, without touching the mount: its server may be dead. */
async function resolveMountPoint(directory: string): Promise<string> {
  return join(await realpath(dirname(directory)), basename(directory))
}
