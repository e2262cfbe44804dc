import type { VNode } from 'preact'
import type { WebGrant } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { useReload } from '../../client/live.ts'
import { useAction } from '../../parts/action.ts'
import { formatMoment } from '../../parts/format.ts'
import { Notice } from '../../parts/notice.tsx'
import { useResource } from '../../parts/resource.ts'
import { toVisible, VisibleText } from '../../parts/visible-text.tsx'

const MAX_GRANTS = 200

/** Hosts that a person allowed for a fork or project, each with a way to take it back. */
export function Grants(): VNode | null {
  const grants = useResource('grants', (signal) => call('listGrants', { limit: MAX_GRANTS }, signal))
  useReload(({ type }) => type === 'waiting', grants.reload)
  const items = grants.value.value?.items ?? []
  if (grants.error.value) return <Notice title={grants.error.value.message} tone="bad" />
  if (items.length === 0) return null
  return (
    <section class="section" aria-labelledby="grants-title">
      <h2 id="grants-title">Allowed hosts</h2>
      <ul class="panel">
        {items.map((grant) => (
          <GrantRow key={grant.id} grant={grant} onRevoked={grants.reload} />
        ))}
      </ul>
    </section>
  )
}

function GrantRow({ grant, onRevoked }: { readonly grant: WebGrant; readonly onRevoked: () => void }): VNode {
  const { id, host, vault, fork, expiresAt } = grant
  const revoke = useAction(() => call('revokeGrant', { id }), onRevoked)
  return (
    <li class="row row-line">
      <span class="row-name mono">
        <VisibleText text={host} />
      </span>
      <span class="soft row-cut">
        for <VisibleText text={fork ?? vault} />
        {expiresAt !== null && `, until ${formatMoment(expiresAt)}`}
      </span>
      {revoke.error && <span class="bad-text">{revoke.error.message}</span>}
      <button
        type="button"
        class="button small row-end"
        aria-label={`Revoke ${toVisible(host)}`}
        disabled={revoke.isRunning}
        onClick={revoke.run}
      >
        Revoke
      </button>
    </li>
  )
}
