import { resolve } from 'node:path'
import type { HomePlace, VaultMount } from '../../fuse/index.ts'
import type { Caller } from '../../vfs/index.ts'
import { type Command, command } from '../command.ts'
import { type OpenHome, withHome } from '../home-access.ts'

export const mount: Command = command(
  {
    name: 'mount',
    summary: 'Show a vault as a directory of this machine, for every program',
    details: `Serves the directory until Ctrl-C, or until somebody unmounts it. Everything done in it is in the vault at once.
It needs /dev/fuse, and root or a namespace of your own: unshare -Urm coppice mount base /tmp/base.`,
    scope: 'home',
    arguments: {
      vault: { summary: 'The vault to mount', offers: 'vault' },
      directory: { summary: 'An existing directory; what is in it is hidden meanwhile', offers: 'file' },
    },
    options: {
      readonly: { summary: 'Let nothing be changed through it' },
      'allow-other': { summary: 'Let other users in, as far as permissions go; root always does' },
    },
    examples: ['coppice mount base /mnt/base', 'coppice mount base ./view --readonly'],
  },
  async (call) => {
    const name = call.argument('vault')
    const directory = resolve(call.argument('directory'))
    const { home, caller } = await withHome(call, (open) => placeOf(open, name))
    const { mountVault } = await import('../../fuse/index.ts')
    await using mounted = await mountVault({
      home,
      vault: name,
      directory,
      ...(caller !== undefined && { caller }),
      isReadOnly: call.has('readonly'),
      ...(call.has('allow-other') && { allowsOthers: true }),
    })
    const words = `${name} is mounted on ${mounted.directory}; Ctrl-C unmounts it`
    await call.output.value({ vault: name, directory: mounted.directory }, words)
    await call.output.flush()
    await endOf(mounted, call.terminal.signal)
  },
)

/** Where the home is, for the thread that serves it, and who asks. ENOENT for no such vault. */
async function placeOf(
  { home, path, config, ctx }: OpenHome,
  vault: string,
): Promise<{ readonly home: HomePlace; readonly caller: Caller | undefined }> {
  await home.info(vault)
  const { engine, durability } = config
  const settings = {
    ...(engine !== undefined && { engine }),
    ...(durability !== undefined && { durability }),
  }
  return { home: { path, ...settings }, caller: ctx.caller }
}

/** Waits until it is unmounted, or the person has had enough. */
async function endOf(mounted: VaultMount, signal: AbortSignal): Promise<void> {
  const { promise, resolve: stop } = Promise.withResolvers<void>()
  if (signal.aborted) stop()
  signal.addEventListener('abort', () => stop(), { once: true })
  await Promise.race([mounted.ended, promise])
}
