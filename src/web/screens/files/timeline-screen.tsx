import type { VNode } from 'preact'
import { VisibleText } from '../../parts/visible-text.tsx'
import { route } from '../../router.ts'
import { Timeline } from './timeline.tsx'

/** The timeline of a directory in which an agent with hooks works. */
export function TimelineScreen(): VNode {
  const directory = route.value.query.get('directory') ?? ''
  return (
    <div class="page">
      <header class="head">
        <h1>
          <VisibleText text={directory} />
        </h1>
      </header>
      <Timeline directory={directory} />
    </div>
  )
}
