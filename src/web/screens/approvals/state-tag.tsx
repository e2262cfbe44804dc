import type { VNode } from 'preact'
import type { WebApproval } from '../../../web-api/index.ts'
import { Tag } from '../../parts/tag.tsx'

/** The state of a request. */
export function StateTag({ state }: { readonly state: WebApproval['state'] }): VNode {
  if (state === 'waits') return <Tag tone="wait">waits</Tag>
  return <Tag tone={state === 'approved' ? 'good' : 'bad'}>{state}</Tag>
}
