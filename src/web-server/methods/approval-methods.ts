import { z } from 'zod'
import { parseHostRule } from '../../network/index.ts'
import { VfsError } from '../../vfs/index.ts'
import type {
  ApprovalDecision,
  ApprovalScope,
  WebApproval,
  WebCommand,
  WebConnection,
} from '../../web-api/index.ts'
import type { Approval, ExecutedCommand } from '../../workspace/index.ts'
import { defineExactMethod, defineWebMethod, type MethodTable, pageShape } from '../define-method.ts'
import { mapPage, paginate, paginateStream } from '../paginate.ts'
import { cutText, toSummary } from '../shorten-text.ts'
import type { Trials } from '../trials.ts'
import type { WebContext } from '../web-context.ts'

const MINUTE_MS = 60_000
const MAX_EXPIRY_MINUTES = 365 * 24 * 60
const MAX_COMMAND_LENGTH = 1000

type ApprovalMethod =
  | 'listApprovals'
  | 'tryApproval'
  | 'decideApproval'
  | 'listGrants'
  | 'revokeGrant'
  | 'listCommands'

export function createApprovalMethods(web: WebContext, trials: Trials): MethodTable<ApprovalMethod> {
  const id = z.string().max(64)
  return {
    listApprovals: defineExactMethod('listApprovals', z.strictObject(pageShape), async (page) => {
      const { approvals } = await web.openBoundary()
      const all = (await approvals.list()).sort((one, other) => (one.asked < other.asked ? 1 : -1))
      return mapPage(paginate(all, page), toWebApproval)
    }),
    tryApproval: defineWebMethod('tryApproval', z.strictObject({ id }), async (params, signal) =>
      trials.run(await findApproval(web, params.id), signal),
    ),
    decideApproval: defineWebMethod(
      'decideApproval',
      z.union([
        z.strictObject({ id, decision: z.literal('deny') }),
        z.strictObject({
          id,
          decision: z.literal('approve'),
          scope: z.enum(['once', 'fork', 'project']),
          expiresMinutes: z.int().positive().max(MAX_EXPIRY_MINUTES).exactOptional(),
        }),
      ]),
      async (decision) => {
        await decide(web, decision)
        await trials.drop(decision.id)
        return null
      },
    ),
    listGrants: defineWebMethod('listGrants', z.strictObject(pageShape), async (page) => {
      const { hostGrants } = await web.openBoundary()
      return mapPage(paginate(await hostGrants.list(), page), ({ granted, expires, fork, ...grant }) => ({
        ...grant,
        fork: fork ?? null,
        grantedAt: granted,
        expiresAt: expires,
      }))
    }),
    revokeGrant: defineWebMethod('revokeGrant', z.strictObject({ id }), async (params) => {
      const { hostGrants } = await web.openBoundary()
      const grant = (await hostGrants.list()).find((each) => each.id === params.id)
      if (grant === undefined) throw createMissingError(params.id, 'there is no such grant')
      await hostGrants.revoke(parseHostRule(grant.host), grant)
      return null
    }),
    listCommands: defineWebMethod('listCommands', z.strictObject(pageShape), async (page) =>
      mapPage(await paginateStream((await web.openBoundary()).commands(), page), (command) =>
        toWebCommand(web, command),
      ),
    ),
  }
}

async function findApproval(web: WebContext, id: string): Promise<Approval> {
  const { approvals } = await web.openBoundary()
  const found = (await approvals.list()).find((approval) => approval.id === id)
  if (found !== undefined) return found
  throw createMissingError(id, 'it was approved and ran already, or it was never asked for')
}

/** Approves or denies a request: once, or its hosts for its fork or project. EINVAL for a scope it does not have. */
async function decide(web: WebContext, decision: ApprovalDecision): Promise<void> {
  const { approvals, hostGrants } = await web.openBoundary()
  const approval = await findApproval(web, decision.id)
  if (decision.decision === 'deny') {
    await approvals.deny(decision.id)
    return
  }
  const { scope, expiresMinutes } = decision
  if (!listScopes(approval).includes(scope)) {
    const detail = `this request cannot be approved for a ${scope}; only hosts can, and only a named fork`
    throw new VfsError('EINVAL', decision.id, { op: 'approve', detail })
  }
  if (scope === 'once') {
    if (expiresMinutes !== undefined)
      throw new VfsError('EINVAL', decision.id, {
        op: 'approve',
        detail: 'an approval for one run has no end',
      })
    await approvals.approve(decision.id)
    return
  }
  const { hosts = [], vault, fork } = approval
  const end = expiresMinutes === undefined ? undefined : new Date(Date.now() + expiresMinutes * MINUTE_MS)
  await hostGrants.grant(hosts.map(parseHostRule), { vault, fork: scope === 'fork' ? fork : undefined }, end)
  // Afterwards: a command that waits with the request then finds its hosts allowed.
  await approvals.take(decision.id)
}

function listScopes({ hosts = [], fork }: Approval): ApprovalScope[] {
  if (hosts.length === 0) return ['once']
  return fork === undefined ? ['once', 'project'] : ['once', 'fork', 'project']
}

/**
 * Describes an approval. It is redacted for a reviewer, and no further: the text after `password=` may be a command.
 */
function toWebApproval(approval: Approval): WebApproval {
  const { approved, denied, stdin, reason, categories = [], hosts = [], passedEnv = [] } = approval
  return {
    id: approval.id,
    state: approved !== null ? 'approved' : denied !== undefined ? 'denied' : 'waits',
    command: approval.command,
    cwd: approval.cwd,
    vault: approval.vault,
    fork: approval.fork ?? null,
    network: approval.network,
    hosts,
    reason: reason ?? '',
    part: approval.part ?? null,
    categories,
    env: approval.env,
    passedEnv,
    stdin: stdin === null ? null : cutText(stdin),
    isolation: approval.isolation,
    askedAt: approval.asked,
    decidedAt: approved ?? denied ?? null,
    scopes: listScopes(approval),
    canTry: approved === null,
  }
}

function toWebCommand({ redactor }: WebContext, line: ExecutedCommand): WebCommand {
  const { id, time, vault, command, decision } = line
  const completed = line.event === 'completed' ? line : undefined
  const shown = 'shell' in command ? command.shell : command.argv.join(' ')
  return {
    id,
    time,
    event: line.event,
    vault,
    command: toSummary(shown, redactor, MAX_COMMAND_LENGTH),
    decision: decision.action,
    reason: decision.reason ?? (line.event === 'failed' ? line.message : ''),
    exitCode: completed?.exit_code ?? null,
    durationMs: completed?.duration_ms ?? null,
    changed: completed === undefined ? 0 : countFiles(completed),
    connections: (completed?.network ?? []).map(
      (use): WebConnection => ({
        host: use.host,
        port: use.port,
        decision: use.decision,
        reason: use.reason ?? '',
        connections: use.connections,
        sent: use.bytes_sent,
        received: use.bytes_received,
      }),
    ),
    approval: line.event === 'refused' ? line.approval : null,
  }
}

/** Counts changed files; a collapsed directory counts as the files in it. */
function countFiles({ changed_files: files }: Extract<ExecutedCommand, { event: 'completed' }>): number {
  const { added, modified, deleted, collapsed = {} } = files
  return [...added, ...modified, ...deleted].reduce((sum, path) => sum + (collapsed[path] ?? 1), 0)
}

function createMissingError(id: string, detail: string): VfsError {
  return new VfsError('ENOENT', id, { op: 'approve', detail })
}
