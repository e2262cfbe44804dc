import { realpathSync } from 'node:fs'
import type { Boundary } from '../../../boundary/index.ts'
import { formatHostRule, parseHostRule } from '../../../network/index.ts'
import { escapeName, formatApproval } from '../../../text/index.ts'
import type { Approval, Approvals, HostGrant } from '../../../workspace/index.ts'
import { createRedactor } from '../../access/command-environment.ts'
import { findProject } from '../../access/enclosing-project.ts'
import { withHome } from '../../access/home-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { parseDuration } from '../../framework/parse-duration.ts'
import type { Terminal } from '../../framework/terminal.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { confirmAfterShowing } from '../../render/confirm.ts'
import { formatTime } from '../../render/format-values.ts'

/** Indentation of a request below its id. */
const INDENT = '  '
const SCOPES = ['once', 'fork', 'project'] as const

type ApproveInvocation = CommandInvocation<'deny' | 'yes' | 'for' | 'expires' | 'host' | 'fork', 'id'>

export const approve: Command = defineCommand(
  {
    name: 'approve',
    summary: 'Approve a command that policy holds back, or a host',
    details: `The approval is for one run of exactly the same command in the same place. Without an id, lists what waits.
A process, MCP client or terminal that still asks about the command goes on with this answer.
On a terminal, shows the whole command and everything it gets, then asks.
Without a terminal, or with --yes, approves at once.
--for fork or project lets every command there reach the hosts that the command asked for, or those of --host.`,
    scope: 'home',
    options: {
      deny: { summary: 'Refuse the command, or take back the hosts, instead' },
      yes: { summary: 'Approve without a question', short: 'y' },
      for: { summary: 'Reach of the approval (once; with --host: project)', value: 'scope', choices: SCOPES },
      expires: { summary: 'End of the approval of hosts, such as 30m, 12h or 7d', value: 'time' },
      host: { summary: 'Allow NAME[:PORT] or *.NAME here; repeatable', value: 'host', isList: true },
      fork: { summary: 'With --host: only in this fork', value: 'fork' },
    },
    arguments: {
      id: { summary: 'Id that coppice exec printed', isOptional: true },
    },
    examples: [
      'coppice approve',
      'coppice approve 3f9a1c20b7d4',
      'coppice approve --yes 3f9a1c20b7d4',
      'coppice approve --deny 3f9a1c20b7d4',
      'coppice approve --for project --expires 7d 3f9a1c20b7d4',
      'coppice approve --host registry.npmjs.org',
    ],
  },
  (call) =>
    withHome(
      call,
      async ({ home, config }) => {
        const { Boundary } = await import('../../../boundary/index.ts')
        const boundary = await Boundary.open(home, createRedactor(config))
        assertCombination(call)
        const id = call.optionalArgument('id')
        if (call.optionValues('host').length > 0) await approveHosts(call, boundary)
        else if (id === undefined) await listApprovals(call, boundary)
        else if (['fork', 'project'].includes(call.option('for') ?? '')) await approveFor(call, boundary, id)
        else await approveOnce(call, boundary, id)
      },
      { create: call.optionValues('host').length > 0 },
    ),
)

/** Throws UsageError for options that exclude each other, or that lack another one. */
function assertCombination(call: ApproveInvocation): void {
  const [hasId, hasHosts] = [call.optionalArgument('id') !== undefined, call.optionValues('host').length > 0]
  if (call.has('yes') && call.has('deny'))
    throw new UsageError('--yes and --deny exclude each other; leave one out')
  if (hasId && hasHosts) throw new UsageError('--host takes no id of a command; leave one out')
  if (call.has('fork') && !hasHosts) throw new UsageError('--fork needs --host')
  if (call.has('expires') && (call.option('for') ?? (hasHosts ? 'project' : 'once')) === 'once')
    throw new UsageError('--expires needs --for fork or --for project')
  if (hasHosts) return
  for (const option of ['yes', 'deny', 'for'] as const) {
    if (!hasId && call.has(option)) throw new UsageError(`--${option} needs the id of a waiting command`)
  }
}

/** Lists the requests that wait or were answered, and the hosts that are allowed. */
async function listApprovals(call: ApproveInvocation, boundary: Boundary): Promise<void> {
  const approvals = await boundary.approvals.list()
  const grants = await boundary.hostGrants.list()
  await call.output.writeList<Approval | HostGrant>([...approvals, ...grants], (entry) =>
    'host' in entry ? formatGrant(entry) : formatApprovalEntry(entry),
  )
  if (approvals.length + grants.length === 0 && !call.isJson)
    await call.output.writeLine('nothing waits for an approval')
}

async function approveOnce(call: ApproveInvocation, { approvals }: Boundary, id: string): Promise<void> {
  const isAsked = call.terminal.canAsk && !call.has('yes') && !call.has('deny')
  if (isAsked && !(await confirmApproval(call.terminal, approvals, id, 'Let it run once?'))) return
  const updated = call.has('deny') ? await approvals.deny(id) : await approvals.approve(id)
  const verdict = updated.approved === null ? 'does not run' : 'may run once'
  await call.output.writeValue(
    updated,
    [`${updated.id} ${verdict}`, ...(isAsked ? [] : formatApproval(updated, updated))].join('\n'),
  )
}

/** Allows the hosts of a waiting request for its fork or project. */
async function approveFor(call: ApproveInvocation, boundary: Boundary, id: string): Promise<void> {
  if (call.has('deny')) throw new UsageError('--for and --deny exclude each other; leave one out')
  const { approvals, hostGrants } = boundary
  const { hosts = [], vault, fork } = await approvals.get(id)
  if (hosts.length === 0)
    throw new UsageError('the command asks for no hosts; only hosts are approved for a fork or a project')
  const isFork = call.option('for') === 'fork'
  if (isFork && fork === undefined)
    throw new UsageError('the command has no fork with a name; use --for project')
  const question = `Let every command of this ${isFork ? 'fork' : 'project'} reach these hosts?`
  const isAsked = call.terminal.canAsk && !call.has('yes')
  if (isAsked && !(await confirmApproval(call.terminal, approvals, id, question))) return
  const scope = { vault, fork: isFork ? fork : undefined }
  const grants = await hostGrants.grant(hosts.map(parseHostRule), scope, parseExpiry(call))
  // Afterwards: who waits with the request then finds its hosts allowed.
  await approvals.take(id)
  await call.output.writeList(grants, formatGrant)
}

/** Allows hosts of a person's choice in this directory, or takes that back. */
async function approveHosts(call: ApproveInvocation, boundary: Boundary): Promise<void> {
  const rules = call.optionValues('host').map(parseHostRule)
  const scope = { vault: findProject(realpathSync(process.cwd())), fork: call.option('fork') }
  const reach = call.option('for')
  if (reach === 'once')
    throw new UsageError(
      '--host takes no --for once; for one run use: coppice exec --allow-host NAME -- <command>',
    )
  if (reach !== undefined && (reach === 'fork') !== (scope.fork !== undefined))
    throw new UsageError('--for fork and --fork NAME go together')
  if (call.has('deny')) {
    for (const rule of rules) await boundary.hostGrants.revoke(rule, scope)
    await call.output.writeLine(`no longer allowed: ${rules.map(formatHostRule).join(', ')}`)
    return
  }
  await call.output.writeList(await boundary.grantHosts(rules, scope, parseExpiry(call)), formatGrant)
}

function parseExpiry(call: ApproveInvocation): Date | undefined {
  const time = call.option('expires')
  return time === undefined ? undefined : new Date(Date.now() + parseDuration('expires', time))
}

function formatGrant({ host, vault, fork, expires }: HostGrant): string {
  const where = fork === undefined ? escapeName(vault) : `fork ${escapeName(fork)} of ${escapeName(vault)}`
  const end = expires === null ? '' : ` until ${formatTime(new Date(expires))}`
  return `${host}  allowed in ${where}${end}`
}

function formatApprovalEntry(approval: Approval): string {
  const waiting = approval.denied === undefined ? 'waits' : 'denied'
  const state = approval.approved === null ? waiting : 'approved'
  const line = `${approval.id}  ${state}  ${formatTime(new Date(approval.asked))}`
  return [line, ...formatApproval(approval, approval).map((text) => `${INDENT}${text}`)].join('\n')
}

/** Shows a waiting request and asks. True for any other id, whose error `approve` or `take` reports. */
async function confirmApproval(
  terminal: Terminal,
  approvals: Approvals,
  id: string,
  question: string,
): Promise<boolean> {
  const waiting = (await approvals.list()).find((approval) => approval.id === id)
  if (waiting === undefined) return true
  return confirmAfterShowing(terminal, formatApproval(waiting, waiting), question)
}
