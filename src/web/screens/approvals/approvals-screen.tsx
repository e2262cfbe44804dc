import type { VNode } from 'preact'
import type { WebApproval } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { waiting } from '../../client/home-state.ts'
import { useReload } from '../../client/live.ts'
import { formatCommand } from '../../parts/command-text.ts'
import { formatAge } from '../../parts/format.ts'
import { useKeys } from '../../parts/keyboard.ts'
import { Command, Notice } from '../../parts/notice.tsx'
import { useResource } from '../../parts/resource.ts'
import { VisibleText } from '../../parts/visible-text.tsx'
import { formatRoute, navigate, route } from '../../router.ts'
import { ApprovalCard } from './approval-card.tsx'
import { CommandJournal } from './command-journal.tsx'
import { Grants } from './grants.tsx'
import { StateTag } from './state-tag.tsx'

const MAX_APPROVALS = 200

/** Requests that policy holds back: those that wait first, then decided ones, grants, and the journal of commands. */
export function ApprovalsScreen(): VNode {
  const approvals = useResource('approvals', (signal) =>
    call('listApprovals', { limit: MAX_APPROVALS }, signal),
  )
  useReload(({ type }) => type === 'waiting', approvals.reload)
  const items = [...(approvals.value.value?.items ?? [])].sort(compareApprovals)
  const id = route.value.query.get('id') ?? undefined
  const shown =
    items.find((approval) => approval.id === id) ?? (id === undefined ? items.find(isWaiting) : undefined)
  const shownIndex = shown === undefined ? -1 : items.indexOf(shown)
  const go = (step: number) => {
    const next = items[Math.max(0, Math.min(items.length - 1, shownIndex + step))]
    if (next !== undefined) navigate(formatRoute('approvals', { id: next.id }))
  }
  useKeys([
    { key: 'j', label: 'Next request', run: () => go(1) },
    { key: 'k', label: 'Previous request', run: () => go(-1) },
  ])
  const error = approvals.error.value
  return (
    <div class="page">
      <header class="head">
        <h1>Approvals</h1>
        <span class="soft">
          {waiting.value.approvals.length === 0
            ? 'nothing waits'
            : `${waiting.value.approvals.length} waiting`}
        </span>
      </header>
      {error && <Notice title={error.message} tone="bad" />}
      {shown && <ApprovalCard key={shown.id} approval={shown} onDecided={approvals.reload} />}
      {id !== undefined && shown === undefined && approvals.value.value !== undefined && (
        <Notice title="This request is not there any more">
          <a href={formatRoute('approvals')}>All requests</a>
        </Notice>
      )}
      {items.length === 0 && approvals.value.value !== undefined && (
        <Notice title="No command has asked for anything yet">
          <p>A command that reaches the network waits here. See what policy decides about one:</p>
          <Command text="coppice policy explain -- git push" />
        </Notice>
      )}
      {items.length > 0 && <Requests items={items} shown={shown?.id} />}
      <Grants />
      <CommandJournal />
    </div>
  )
}

function Requests({
  items,
  shown,
}: {
  readonly items: readonly WebApproval[]
  readonly shown: string | undefined
}): VNode {
  return (
    <section class="section" aria-labelledby="requests-title">
      <h2 id="requests-title">Requests</h2>
      <ul class="panel request-list">
        {items.map((approval) => (
          <li class={`row row-line ${approval.id === shown ? 'active' : ''}`} key={approval.id}>
            <StateTag state={approval.state} />
            <a
              class="row-name mono"
              href={formatRoute('approvals', { id: approval.id })}
              aria-current={approval.id === shown ? 'true' : undefined}
            >
              <VisibleText text={formatCommand(approval.command)} />
            </a>
            <span class="row-end soft">{formatAge(approval.decidedAt ?? approval.askedAt)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function isWaiting({ state }: WebApproval): boolean {
  return state === 'waits'
}

function compareApprovals(a: WebApproval, b: WebApproval): number {
  if (isWaiting(a) !== isWaiting(b)) return isWaiting(a) ? -1 : 1
  if (isWaiting(a)) return a.askedAt.localeCompare(b.askedAt)
  return (b.decidedAt ?? b.askedAt).localeCompare(a.decidedAt ?? a.askedAt)
}
