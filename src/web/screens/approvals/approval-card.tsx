import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { ApprovalScope, WebApproval } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { refreshWaiting } from '../../client/home-state.ts'
import { useAction } from '../../parts/action.ts'
import { formatCommand } from '../../parts/command-text.ts'
import { formatMoment } from '../../parts/format.ts'
import { useKeys } from '../../parts/keyboard.ts'
import { Notice } from '../../parts/notice.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { StateTag } from './state-tag.tsx'
import { Trial } from './trial.tsx'

export interface ApprovalCardProps {
  readonly approval: WebApproval
  readonly onDecided: () => void
}

/** One request: the exact command, the reason of policy, what it would change, and the decision. */
export function ApprovalCard({ approval, onDecided }: ApprovalCardProps): VNode {
  return (
    <article class={`panel approval ${approval.state}`} aria-labelledby="approval-title">
      <header class="head">
        <StateTag state={approval.state} />
        <h2 id="approval-title">
          {approval.state === 'waits' ? 'May this command run?' : `This command was ${approval.state}`}
        </h2>
        <span class="soft row-end">{formatMoment(approval.askedAt)}</span>
      </header>
      <pre class="exact">
        <VisibleText text={formatCommand(approval.command)} />
      </pre>
      <p>
        <strong>
          <VisibleText text={approval.reason} />
        </strong>
        {approval.part !== null && (
          <>
            {' '}
            because of{' '}
            <code>
              <VisibleText text={approval.part} />
            </code>
          </>
        )}
      </p>
      {approval.state === 'approved' && <p class="soft">It may run now: repeat it where it was refused.</p>}
      <Facts approval={approval} />
      {approval.state === 'waits' && (
        <>
          <Trial approval={approval} />
          <Decision approval={approval} onDecided={onDecided} />
        </>
      )}
    </article>
  )
}

function Facts({ approval }: { readonly approval: WebApproval }): VNode {
  const { vault, fork, cwd, network, hosts, isolation, categories, env, passedEnv, stdin } = approval
  return (
    <dl class="facts">
      <Fact name="Files">
        <VisibleText text={vault} />,{' '}
        {fork === null ? 'in a new fork' : <VisibleText text={`in fork ${fork}`} />}
      </Fact>
      <Fact name="Directory">
        <VisibleText text={cwd} />
      </Fact>
      <Fact name="Network">
        {hosts.length > 0 ? (
          <VisibleText text={hosts.join(', ')} />
        ) : network || categories.includes('networked') ? (
          'all of it'
        ) : (
          'none'
        )}
      </Fact>
      <Fact name="Isolation">
        <VisibleText text={isolation} />
      </Fact>
      <Fact name="Categories">
        <VisibleText text={categories.join(', ')} />
      </Fact>
      {Object.keys(env).length + passedEnv.length > 0 && (
        <Fact name="Variables">
          <VisibleText
            text={[...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...passedEnv].join(' ')}
          />
        </Fact>
      )}
      {stdin !== null && (
        <Fact name="Input">
          <VisibleText text={stdin.text} />
          {stdin.isCut && '…'}
        </Fact>
      )}
    </dl>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): VNode {
  return (
    <div>
      <dt class="soft">{name}</dt>
      <dd class="mono">{children}</dd>
    </div>
  )
}

const SCOPES: Readonly<Record<ApprovalScope, string>> = {
  once: 'Once',
  fork: 'Its hosts, for this fork',
  project: 'Its hosts, for this project',
}
const EXPIRIES = [
  { minutes: 0, label: 'without an end' },
  { minutes: 60, label: 'for an hour' },
  { minutes: 24 * 60, label: 'for a day' },
  { minutes: 7 * 24 * 60, label: 'for a week' },
] as const

function Decision({ approval, onDecided }: ApprovalCardProps): VNode {
  const { id, scopes } = approval
  const [scope, setScope] = useState<ApprovalScope>('once')
  const [minutes, setMinutes] = useState(24 * 60)
  const finish = () => {
    refreshWaiting()
    onDecided()
  }
  const approve = useAction(
    () =>
      call('decideApproval', {
        id,
        decision: 'approve',
        scope,
        ...(scope !== 'once' && minutes > 0 && { expiresMinutes: minutes }),
      }),
    finish,
  )
  const deny = useAction(() => call('decideApproval', { id, decision: 'deny' }), finish)
  useKeys([
    { key: 'a', label: 'Approve', isGuarded: true, run: approve.run },
    { key: 'd', label: 'Deny', isGuarded: true, run: deny.run },
  ])
  const error = approve.error ?? deny.error
  const isBusy = approve.isRunning || deny.isRunning
  return (
    <div class="decision">
      {scopes.length > 1 && (
        <fieldset>
          <legend class="hidden-label">Approve it for</legend>
          {scopes.map((offered) => (
            <label key={offered}>
              <input
                type="radio"
                name="scope"
                checked={scope === offered}
                onChange={() => setScope(offered)}
              />{' '}
              {SCOPES[offered]}
            </label>
          ))}
          {scope !== 'once' && (
            <select
              class="field"
              aria-label="End of the approval"
              value={minutes}
              onChange={(event) => setMinutes(Number(event.currentTarget.value))}
            >
              {EXPIRIES.map((expiry) => (
                <option key={expiry.minutes} value={expiry.minutes}>
                  {expiry.label}
                </option>
              ))}
            </select>
          )}
        </fieldset>
      )}
      <div class="row-line">
        <button type="button" class="button main" disabled={isBusy} onClick={approve.run}>
          Approve
        </button>
        <button type="button" class="button bad" disabled={isBusy} onClick={deny.run}>
          Deny
        </button>
        <span class="soft wide-only">
          keys: <kbd>a</kbd> <kbd>a</kbd> approves, <kbd>d</kbd> <kbd>d</kbd> denies
        </span>
      </div>
      {error && <Notice title={error.message} tone="bad" />}
    </div>
  )
}
