import type { VNode } from 'preact'
import type { WebProcess } from '../../web-api/index.ts'
import { Tag, type TagTone } from './tag.tsx'

/** The state of a process in one word. A process with a question waits, whatever else it does. */
export function ProcessTag({ process }: { readonly process: WebProcess }): VNode {
  const [tone, text] = describeState(process)
  return <Tag tone={tone}>{text}</Tag>
}

function describeState({ state, exitCode, questions }: WebProcess): readonly [TagTone, string] {
  if (questions.length > 0) return ['wait', 'asks you']
  if (state === 'running') return ['live', 'running']
  if (state === 'ended') return exitCode === 0 ? ['good', 'done'] : ['bad', 'failed']
  return state === 'lost' ? ['bad', 'lost'] : ['wait', state]
}
