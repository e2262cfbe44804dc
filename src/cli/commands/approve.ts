import { shown } from '../../server/text/index.ts'
import type { Approval } from '../../workspace/index.ts'
import { type Command, command } from '../command.ts'
import { withHome } from '../home-access.ts'
import { timeText } from '../wording.ts'

export const approve: Command = command(
  {
    name: 'approve',
    summary: 'Let a command run once that policy holds back, or list those that wait',
    details: 'It is let through when exactly the same is asked for again, in the same place.',
    scope: 'home',
    arguments: {
      id: { summary: 'What coppice exec said; lists all that wait when absent', isOptional: true },
    },
    examples: ['coppice approve', 'coppice approve 3f9a1c20b7d4'],
  },
  (call) =>
    withHome(call, async ({ home }) => {
      const { Boundary } = await import('../../server/boundary/index.ts')
      const { approvals } = await Boundary.open(home)
      const id = call.given('id')
      if (id === undefined) {
        const waiting = await approvals.list()
        await call.output.list(waiting, approvalText)
        if (waiting.length === 0 && !call.isJson) await call.output.line('nothing waits for an approval')
        return
      }
      const approved = await approvals.approve(id)
      await call.output.value(approved, `${commandText(approved)} may run once in ${shown(approved.vault)}`)
    }),
)

function approvalText(approval: Approval): string {
  const state = approval.approved === null ? 'waits' : 'approved'
  return `${approval.id}  ${state}  ${timeText(new Date(approval.asked))}  ${commandText(approval)}`
}

function commandText({ command: spec }: Approval): string {
  return shown('shell' in spec ? spec.shell : spec.argv.join(' '))
}
