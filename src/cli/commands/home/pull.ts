import { type FetchReport, fetchVault } from '../../../backends/vault/index.ts'
import { engines } from '../../../config/index.ts'
import { escapeName } from '../../../text/index.ts'
import { isVfsError, VfsError } from '../../../vfs/index.ts'
import type { PerformedMerge } from '../../../workspace/index.ts'
import { assertUserVault, type OpenHome, withHome } from '../../access/home-access.ts'
import { assertOtherHome, type OtherHome, withOtherHome } from '../../access/other-home.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { exitCodes } from '../../framework/errors.ts'
import { formatChangeWithMode, toChangeJson } from '../../render/format-change.ts'
import { formatBytes, formatCount } from '../../render/format-values.ts'
import { withProgress } from '../../render/progress.ts'
import { quoteShellWord } from '../../render/shell-word.ts'
import { createMergeRequest } from '../fork/merge-request.ts'
import { runMerge } from '../fork/run-merge.ts'
import { engine } from '../shared-options.ts'

export const pull: Command = defineCommand(
  {
    name: 'pull',
    summary: 'Get a vault, or its changes, from another home',
    details: `Text files that both homes changed are merged by lines.
If both changed the same lines, nothing is merged and the exit code is 3; go on with coppice resolve, as after a merge.
A home that is missing here is created.`,
    scope: 'home',
    options: { as: { summary: 'Name of the vault here (default: the same)', value: 'name' }, engine },
    arguments: {
      vault: { summary: 'The vault in the other home' },
      from: { summary: 'The other home', offers: 'file' },
    },
    examples: ['coppice pull base /srv/team', 'coppice pull base /srv/team --as team-base'],
  },
  async (call) => {
    await assertOtherHome(call.argument('from'))
    return withHome(
      call,
      (open) => withOtherHome(call, open, call.argument('from'), (other) => fetchAndMerge(call, open, other)),
      { create: true, engine: call.choiceOption('engine', engines) },
    )
  },
)

async function fetchAndMerge(
  call: CommandInvocation<'as', 'vault'>,
  open: OpenHome,
  { home: other, location }: OtherHome,
): Promise<number> {
  const otherVault = call.argument('vault')
  const vault = assertUserVault(call.option('as') ?? otherVault)
  const { terminal } = call
  const fetched = await withProgress(terminal, 'pull', 'operation', (onProgress) =>
    fetchVault(
      { home: open.home, vault, other, otherVault, location },
      { onProgress, signal: terminal.signal },
    ),
  ).catch(async (error: unknown) => {
    const isMissing = isVfsError(error, 'ENOENT') && !(await other.hasVault(otherVault))
    throw isMissing ? createMissingError(otherVault, location) : error
  })
  if (fetched.isNew) return printNew(call, open, vault, location)
  const request = await createMergeRequest(open, fetched.tracking, vault)
  const print = (performed: PerformedMerge) => printPulled(call, { vault, location, ...fetched }, performed)
  return runMerge(call, open, request, { onConflict: 'fail', print })
}

function createMissingError(vault: string, location: string): VfsError {
  const list = `coppice vault list --home ${quoteShellWord(location)}`
  const detail = `there is no vault '${vault}' in ${location}; see ${list}`
  return new VfsError('ENOENT', vault, { op: 'pull', detail })
}

async function printNew(
  { output }: CommandInvocation,
  { home }: OpenHome,
  vault: string,
  location: string,
): Promise<number> {
  const { files, bytes } = await home.info(vault)
  const text = `pulled ${vault} from ${escapeName(location)}: ${formatCount(files, 'file')}, ${formatBytes(bytes)}`
  await output.writeValue({ vault, from: location, is_new: true, files, bytes }, text)
  return exitCodes.ok
}

async function printPulled(
  call: CommandInvocation,
  { vault, location }: FetchReport & { readonly vault: string; readonly location: string },
  performed: PerformedMerge,
): Promise<void> {
  const changes = performed.kind === 'vault' ? performed.changes : []
  if (call.isJson) {
    const shown = changes.map(toChangeJson)
    await call.output.writeValue({ vault, from: location, is_new: false, changes: shown })
    return
  }
  for (const change of changes) await call.output.writeLine(formatChangeWithMode(call.terminal, change))
  const count = formatCount(changes.length, 'change')
  await call.output.writeLine(`pulled ${count} of ${vault} from ${escapeName(location)}`)
}
