import { approvalLines } from '../../server/text/index.ts'
import type { Approval, Approvals } from '../../workspace/index.ts'
import { type Command, command } from '../command.ts'
import { ownRedactor } from '../command-environment.ts'
import { confirmShown } from '../confirm.ts'
import { withHome } from '../home-access.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import { timeText } from '../wording.ts'

/** Below the id it belongs to. */
const INDENT = '  '

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
      const said = call.has('deny')
        ? await approvals.deny(id)
        : await approveShown(call.terminal, approvals, id)
      if (said === undefined) return
      const verdict = said.approved === null ? 'does not run' : 'may run once'
      await call.output.value(said, [`${said.id} ${verdict}`, ...approvalLines(said, said)].join('\n'))
    }),
)

function approvalText(approval: Approval): string {
  const waiting = approval.denied === undefined ? 'waits' : 'denied'
  const state = approval.approved === null ? waiting : 'approved'
  const line = `${approval.id}  ${state}  ${timeText(new Date(approval.asked))}`
  return [line, ...approvalLines(approval, approval).map((text) => `${INDENT}${text}`)].join('\n')
}

/** A person at a terminal sees all of it before the yes counts; undefined for a no, and it still waits. */
async function approveShown(
  terminal: Terminal,
  approvals: Approvals,
  id: string,
): Promise<Approval | undefined> {
  if (!terminal.canAsk) return approvals.approve(id)
  const waiting = (await approvals.list()).find((one) => one.id === id)
  const lines = waiting === undefined ? [] : approvalLines(waiting, waiting)
  const isWanted = waiting === undefined || (await confirmShown(terminal, lines, 'Let it run once?'))
  return isWanted ? approvals.approve(id) : undefined
}
