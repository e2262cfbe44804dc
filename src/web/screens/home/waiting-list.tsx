import type { VNode } from 'preact'
import type { WebApproval, WebPendingMerge } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { processes, waiting } from '../../client/home-state.ts'
import { useReload } from '../../client/live.ts'
import { formatCommand } from '../../parts/command-text.ts'
import { formatCount } from '../../parts/format.ts'
import { QuestionForm } from '../../parts/question-form.tsx'
import { useResource } from '../../parts/resource.ts'
import { Tag } from '../../parts/tag.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { formatRoute } from '../../router.ts'
import { formatProcessRoute, formatTree } from '../../routes.ts'

const MAX_APPROVALS = 100

/** Questions, approvals and merges that wait for a person. */
export function WaitingList(): VNode {
  const { approvals, questions, merges } = waiting.value
  const listed = useResource('approvals', (signal) => call('listApprovals', { limit: MAX_APPROVALS }, signal))
  useReload(({ type }) => type === 'waiting', listed.reload)
  const byId = new Map(listed.value.value?.items.map((approval) => [approval.id, approval]))
  return (
    <section class="section" aria-labelledby="waiting-title">
      <header>
        <h2 id="waiting-title">Waiting for you</h2>
        <Tag tone="wait">{approvals.length + questions.length + merges.length}</Tag>
      </header>
      <ul class="panel waiting">
        {questions.map((question) => (
          <li key={question.id}>
            <div class="row-line">
              <Tag tone="wait">question</Tag>
              <a class="row-name" href={formatProcessRoute(question.pid)}>
                process {question.pid} <VisibleText text={processes.value.get(question.pid)?.intent ?? ''} />
              </a>
            </div>
            <QuestionForm question={question} />
          </li>
        ))}
        {approvals.map((id) => (
          <ApprovalItem key={id} id={id} approval={byId.get(id)} />
        ))}
        {merges.map((merge) => (
          <MergeItem key={`${merge.sources} ${merge.into}`} merge={merge} />
        ))}
      </ul>
    </section>
  )
}

function ApprovalItem({
  id,
  approval,
}: {
  readonly id: string
  readonly approval: WebApproval | undefined
}): VNode {
  return (
    <li>
      <div class="row-line">
        <Tag tone="wait">approval</Tag>
        <a class="row-name mono" href={formatRoute('approvals', { id })}>
          <VisibleText text={approval ? formatCommand(approval.command) : id} />
        </a>
      </div>
      {approval && (
        <p class="soft">
          <VisibleText text={approval.reason} />
        </p>
      )}
    </li>
  )
}

function MergeItem({ merge: { sources, into, resolved } }: { readonly merge: WebPendingMerge }): VNode {
  const [source = ''] = sources
  return (
    <li>
      <div class="row-line">
        <Tag tone="wait">conflicts</Tag>
        <a class="row-name" href={formatRoute('compare', { from: `${source}^`, to: source, into })}>
          merge of <VisibleText text={sources.map(formatTree).join(', ')} /> into{' '}
          <VisibleText text={formatTree(into)} />
        </a>
        <span class="row-end soft">
          {resolved === 0 ? 'none resolved yet' : `${formatCount(resolved, 'conflict')} resolved`}
        </span>
      </div>
    </li>
  )
}
