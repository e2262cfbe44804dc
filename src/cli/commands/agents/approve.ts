import { formatApproval } from '../../../text/index.ts'
import type { Approval, Approvals } from '../../../workspace/index.ts'
import { createRedactor } from '../../access/command-environment.ts'
import { withHome } from '../../access/home-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { Terminal } from '../../framework/terminal.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { confirmAfterShowing } from '../../render/confirm.ts'
import { formatTime } from '../../render/format-values.ts'

/** Indentation of a request below its id. */
const INDENT = '  '

export const approve: Command = defineCommand(
  {
    name: 'approve',
    summary: 'Approve a command that policy holds back',
    details: `The approval is for one run of exactly the same command in the same place. Without an id, lists what waits.
On a terminal, shows the whole command and everything it gets, then asks.
Without a terminal, or with --yes, approves at once.`,
    scope: 'home',
    options: {
      deny: { summary: 'Refuse the command instead' },
      yes: { summary: 'Approve without a question', short: 'y' },
    },
    arguments: {
      id: { summary: 'Id that coppice exec printed', isOptional: true },
    },
    examples: [
      'coppice approve',
      'coppice approve 3f9a1c20b7d4',
      'coppice approve --yes 3f9a1c20b7d4',
      'coppice approve --deny 3f9a1c20b7d4',
    ],
  },
  (call) =>
    withHome(call, async ({ home, config }) => {
      const { Boundary } = await import('../../../boundary/index.ts')
      const { approvals } = await Boundary.open(home, createRedactor(config))
      const id = call.optionalArgument('id')
      const isSaid = call.has('yes')
      if (isSaid && call.has('deny'))
        throw new UsageError('--yes and --deny exclude each other; leave one out')
      if (id === undefined) {
        if (isSaid) throw new UsageError('--yes needs the id of a waiting command')
        if (call.has('deny')) throw new UsageError('--deny needs the id of a waiting command')
        const waiting = await approvals.list()
        await call.output.writeList(waiting, formatApprovalEntry)
        if (waiting.length === 0 && !call.isJson) await call.output.writeLine('nothing waits for an approval')
        return
      }
      const isAsked = call.terminal.canAsk && !isSaid && !call.has('deny')
      if (isAsked && !(await confirmApproval(call.terminal, approvals, id))) return
      const updated = call.has('deny') ? await approvals.deny(id) : await approvals.approve(id)
      const verdict = updated.approved === null ? 'does not run' : 'may run once'
      await call.output.writeValue(
        updated,
        [`${updated.id} ${verdict}`, ...(isAsked ? [] : formatApproval(updated, updated))].join('\n'),
      )
    }),
)

function formatApprovalEntry(approval: Approval): string {
  const waiting = approval.denied === undefined ? 'waits' : 'denied'
  const state = approval.approved === null ? waiting : 'approved'
  const line = `${approval.id}  ${state}  ${formatTime(new Date(approval.asked))}`
  return [line, ...formatApproval(approval, approval).map((text) => `${INDENT}${text}`)].join('\n')
}

/** Shows a waiting request and asks. For any other id, `approve` reports the error. */
async function confirmApproval(terminal: Terminal, approvals: Approvals, id: string): Promise<boolean> {
  const waiting = (await approvals.list()).find((approval) => approval.id === id)
  if (waiting === undefined) return true
  return confirmAfterShowing(terminal, formatApproval(waiting, waiting), 'Let it run once?')
}
