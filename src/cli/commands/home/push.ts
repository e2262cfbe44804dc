import { pushVault } from '../../../backends/vault/index.ts'
import { escapeName } from '../../../text/index.ts'
import { isVfsError, VfsError } from '../../../vfs/index.ts'
import { assertUserVault, type OpenHome, withHome } from '../../access/home-access.ts'
import { type OtherHome, withOtherHome } from '../../access/other-home.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { formatHomeCommand } from '../../framework/hint.ts'
import { toChangeJson } from '../../render/format-change.ts'
import { formatBytes, formatCount } from '../../render/format-values.ts'
import { withProgress } from '../../render/progress.ts'

export const push: Command = defineCommand(
  {
    name: 'push',
    summary: 'Send a vault, or its changes, to another home',
    details: `The other home gets all of it or nothing. A home that is missing is created.
If the other home has changes that are not here, nothing is sent and the exit code is 3; pull them first.
Sends files, links, permissions, times, tags and metadata, but no history.`,
    scope: 'home',
    options: { as: { summary: 'Name of the vault there (default: the same)', value: 'name' } },
    arguments: {
      vault: { summary: 'The vault', offers: 'vault' },
      to: { summary: 'The other home', offers: 'file' },
    },
    examples: ['coppice push base /mnt/backup/coppice', 'coppice push base /srv/team --as anna-base'],
  },
  (call) =>
    withHome(call, async (open) => {
      const vault = assertUserVault(call.argument('vault'))
      // Before the other home is created: a misspelt name must leave nothing behind.
      await open.home.vault(vault)
      const send = (other: OtherHome) => sendAndReport(call, open, other, vault)
      return withOtherHome(call, open, call.argument('to'), send, { create: true })
    }),
)

async function sendAndReport(
  call: CommandInvocation<'as', 'vault'>,
  { home }: OpenHome,
  { home: other, location }: OtherHome,
  vault: string,
): Promise<void> {
  const otherVault = assertUserVault(call.option('as') ?? vault)
  const { terminal, output } = call
  const { isNew, changes } = await withProgress(terminal, 'push', 'file', (onProgress) =>
    pushVault({ home, vault, other, otherVault, location }, { onProgress, signal: terminal.signal }),
  ).catch((error: unknown) => {
    throw isVfsError(error, 'ECONFLICT') ? createBehindError(call, vault, otherVault, location) : error
  })
  const { files, bytes } = await other.info(otherVault)
  const whole = `${vault}: ${formatCount(files, 'file')}, ${formatBytes(bytes)}`
  const sent = isNew ? whole : `${formatCount(changes.length, 'change')} of ${vault}`
  const hasSent = isNew || changes.length > 0
  await output.writeValue(
    { vault, as: otherVault, to: location, is_new: isNew, changes: changes.map(toChangeJson) },
    hasSent
      ? `pushed ${sent} to ${escapeName(location)}`
      : `${escapeName(location)} has all of ${vault} already`,
  )
}

/** Creates the error about changes of the other home, with the command that gets them. */
function createBehindError(
  call: CommandInvocation<'as', 'vault'>,
  vault: string,
  otherVault: string,
  location: string,
): VfsError {
  const as = otherVault === vault ? [] : ['--as', vault]
  const pull = formatHomeCommand(call, 'pull', otherVault, location, ...as)
  const detail = `${location} has changes of '${vault}' that are not here; pull them first: ${pull}`
  return new VfsError('ECONFLICT', vault, { op: 'push', detail })
}
