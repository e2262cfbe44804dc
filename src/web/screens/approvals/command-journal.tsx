import type { VNode } from 'preact'
import type { WebCommand } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { useReload } from '../../client/live.ts'
import { formatBytes, formatCount, formatMoment } from '../../parts/format.ts'
import { Notice } from '../../parts/notice.tsx'
import { useResource } from '../../parts/resource.ts'
import { Tag, type TagTone } from '../../parts/tag.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { formatRoute } from '../../router.ts'

const MAX_COMMANDS = 100

/** The last commands: what policy decided about each, its outcome, and its connections. */
export function CommandJournal(): VNode | null {
  const commands = useResource('commands', (signal) => call('listCommands', { limit: MAX_COMMANDS }, signal))
  useReload(({ type }) => type === 'waiting' || type === 'trees', commands.reload)
  const items = commands.value.value?.items ?? []
  if (commands.error.value) return <Notice title={commands.error.value.message} tone="bad" />
  if (items.length === 0) return null
  return (
    <section class="section" aria-labelledby="journal-title">
      <h2 id="journal-title">Decisions and connections</h2>
      <ul class="panel">
        {items.map((command) => (
          <CommandRow key={`${command.id} ${command.event} ${command.time}`} command={command} />
        ))}
      </ul>
    </section>
  )
}

function CommandRow({ command }: { readonly command: WebCommand }): VNode {
  const { time, command: text, decision, reason, changed, connections, approval, vault } = command
  const [tone, outcome] = describeOutcome(command)
  return (
    <li class="row command-row">
      <div class="row-line">
        <Tag tone={tone}>{outcome}</Tag>
        <span class="row-name mono">
          <VisibleText text={text} />
        </span>
        <span class="row-end soft">
          <time dateTime={time}>{formatMoment(time)}</time>
        </span>
      </div>
      <div class="soft command-facts">
        <VisibleText text={[decision, reason].filter(Boolean).join(': ')} />
        {' · '}
        <VisibleText text={vault} />
        {changed > 0 && ` · ${formatCount(changed, 'change')}`}
        {approval !== null && (
          <>
            {' · '}
            <a href={formatRoute('approvals', { id: approval })}>its request</a>
          </>
        )}
      </div>
      {connections.length > 0 && (
        <ul class="connections mono">
          {connections.map(({ host, port, decision: allowed, connections: count, sent, received }) => (
            <li key={`${host}:${port} ${allowed}`}>
              <span class={allowed === 'allowed' ? 'plus' : 'minus'}>{allowed}</span>{' '}
              <VisibleText text={`${host}:${port}`} />{' '}
              <span class="soft">
                {formatCount(count, 'connection')}, {formatBytes(sent)} sent, {formatBytes(received)} received
              </span>
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}

function describeOutcome({ event, exitCode }: WebCommand): readonly [TagTone, string] {
  // It runs, or was killed with its program.
  if (event === 'requested') return ['wait', 'no end yet']
  if (event === 'refused') return ['bad', 'refused']
  if (event === 'failed') return ['bad', 'failed']
  return exitCode === 0 ? ['good', 'exit 0'] : ['bad', `exit ${exitCode ?? '?'}`]
}
