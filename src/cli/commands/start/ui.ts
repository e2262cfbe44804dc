import type { DaemonClient } from '../../../daemon/client/index.ts'
import { withDaemon } from '../../access/daemon-access.ts'
import { resolveHomePath } from '../../access/home-access.ts'
import { hasScreen, openBrowser } from '../../access/open-browser.ts'
import { getComparePath } from '../../access/ui-address.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { UsageError } from '../../framework/usage-error.ts'

const MAX_PORT = 65_535

type UiInvocation = CommandInvocation<'no-open' | 'port', 'screen' | 'fork'>

export const ui: Command = defineCommand(
  {
    name: 'ui',
    summary: 'Open the page of this home in a browser',
    details: `Shows processes, forks, files with their history, differences and approvals. The daemon serves it on this machine only.
The address opens one session, within a minute; run the command again for another one.
With diff, opens the changes of a fork.`,
    scope: 'home',
    options: {
      'no-open': { summary: 'Print the address only' },
      port: { summary: 'Port to serve on (any free one)', value: 'number' },
    },
    arguments: {
      screen: { summary: 'diff, to open the changes of a fork', isOptional: true },
      fork: { summary: 'The fork', isOptional: true, offers: 'directory-fork' },
    },
    examples: ['coppice ui', 'coppice ui --no-open --port 4321', 'coppice ui diff project-1'],
  },
  (call) => {
    // Before the daemon starts, which creates a home that is missing.
    const [port, fork] = [parsePort(call), parseFork(call)]
    return withDaemon(
      call,
      async (client) => {
        const path = fork === undefined ? undefined : await findPath(call, client, fork)
        const { origin, link } = await client.call('ui_open', { port, path }, call.terminal.signal)
        await call.output.writeValue({ origin, link }, link)
        if (call.has('no-open') || call.isJson || !hasScreen(process.env)) return
        if (!(await openBrowser(await resolveHomePath(call), link)))
          call.terminal.err.write('coppice: no program opens a browser here; open the address yourself\n')
      },
      { create: true },
    )
  },
)

function parsePort(call: UiInvocation): number | undefined {
  const port = call.countOption('port')
  if (port === undefined || (port > 0 && port <= MAX_PORT)) return port
  throw new UsageError(`--port takes a number from 1 to ${MAX_PORT}`)
}

/** Returns the fork whose changes are opened; undefined for the first screen. */
function parseFork(call: UiInvocation): string | undefined {
  const [screen, fork] = [call.optionalArgument('screen'), call.optionalArgument('fork')]
  if (screen === undefined) return undefined
  if (screen !== 'diff') throw new UsageError(`there is no screen '${screen}'; use: coppice ui diff FORK`)
  if (fork === undefined) throw new UsageError('name the fork: coppice ui diff FORK')
  return fork
}

/** Returns the path of the page that shows the changes of a fork. */
async function findPath(call: UiInvocation, client: DaemonClient, fork: string): Promise<string> {
  const { isLinked, from } = await client.call('ui_find', { fork }, call.terminal.signal)
  return getComparePath(fork, isLinked, from ?? undefined)
}
