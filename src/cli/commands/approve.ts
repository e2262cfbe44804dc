import { commandInput, commandLine, shown } from '../../server/text/index.ts'
import type { Approval } from '../../workspace/index.ts'
import { type Command, command } from '../command.ts'
import { ownRedactor } from '../command-environment.ts'
import { withHome } from '../home-access.ts'
import { UsageError } from '../usage-error.ts'
import { timeText } from '../wording.ts'

/** Below the id it belongs to. */
const INDENT = ' '.repeat(14)

export const approve: Command = command(
  {
    name: 'approve',
    summary: 'Let a command run once that policy holds back, or list those that wait',
    details: 'It is let through when exactly the same is asked for again, in the same place.',
    scope: 'home',
    options: { deny: { summary: 'Say no instead: whoever asks for the same again is told so' } },
    arguments: {
      id: { summary: 'What coppice exec said; lists all that wait when absent', isOptional: true },
    },
    examples: ['coppice approve', 'coppice approve 3f9a1c20b7d4', 'coppice approve --deny 3f9a1c20b7d4'],
  },
  (call) =>
    withHome(call, async ({ home, config }) => {
      const { Boundary } = await import('../../server/boundary/index.ts')
      const { approvals } = await Boundary.open(home, ownRedactor(config))
      const id = call.given('id')
      if (id === undefined) {
        if (call.has('deny')) throw new UsageError('--deny takes the id of what is not to run')
        const waiting = await approvals.list()
        await call.output.list(waiting, approvalText)
        if (waiting.length === 0 && !call.isJson) await call.output.line('nothing waits for an approval')
        return
      }
      const said = call.has('deny') ? await approvals.deny(id) : await approvals.approve(id)
      const verdict = said.approved === null ? 'does not run' : 'may run once'
      const text = `${lineOf(said)} ${verdict} in ${shown(said.vault)}`
      await call.output.value(said, [text, ...circumstances(said)].join('\n'))
    }),
)

function approvalText(approval: Approval): string {
  const waiting = approval.denied === undefined ? 'waits' : 'denied'
  const state = approval.approved === null ? waiting : 'approved'
  const line = `${approval.id}  ${state}  ${timeText(new Date(approval.asked))}  ${lineOf(approval)}`
  return [line, ...circumstances(approval)].join('\n')
}

function lineOf({ command: spec }: Approval): string {
  return shown(commandLine(spec))
}

/** What else makes it this command and no other, a line each. */
function circumstances({ cwd, network, isolation, env, stdin }: Approval): string[] {
  const said = [
    ...(cwd === '/' ? [] : [`in ${shown(cwd)}`]),
    ...(network ? ['with the network'] : []),
    ...(isolation === 'none' ? ['not isolated'] : []),
    ...Object.entries(env).map(([name, value]) => `with ${shown(`${name}=${value}`)}`),
    ...(stdin === null ? [] : [`reads ${shown(commandInput(stdin))}`]),
  ]
  return said.map((text) => `${INDENT}${text}`)
}
