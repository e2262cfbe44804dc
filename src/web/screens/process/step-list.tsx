import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { WebProcess } from '../../../web-api/index.ts'
import { Notice } from '../../parts/notice.tsx'
import { Scroll } from '../../parts/scroll.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { Step } from './step.tsx'
import type { StepState } from './use-steps.ts'

/** Lines of the log below the steps. */
const MAX_LOG_LINES = 6

export interface StepListProps {
  readonly process: WebProcess
  readonly steps: StepState
  readonly selected: number | undefined
  /** True while nobody chose a step: the view then stays at the end. */
  readonly isFollowing: boolean
  readonly onSelect: (step: number) => void
}

/** The conversation, one step after another. */
export function StepList({ process, steps, selected, isFollowing, onSelect }: StepListProps): VNode {
  const end = useRef<HTMLDivElement>(null)
  const list = steps.steps.value
  const lines = steps.log.value
  const isRunning = process.state === 'running'
  useEffect(() => {
    if (isFollowing) end.current?.scrollIntoView({ block: 'nearest' })
  }, [isFollowing, list.length, lines.length])
  useEffect(() => {
    if (!isFollowing && selected !== undefined)
      document.getElementById(`step-${selected}`)?.scrollIntoView({ block: 'nearest' })
  }, [isFollowing, selected, list.length > 0])
  return (
    <Scroll class="steps" label="Conversation">
      {steps.error.value && <Notice title={steps.error.value.message} tone="bad" />}
      {list.length === 0 && steps.isLoaded.value && (
        <Notice
          title={isRunning ? 'Waiting for the first answer of the model' : 'This process made no step'}
        />
      )}
      <ol>
        {list.map((step) => (
          <Step
            key={step.step}
            pid={process.pid}
            step={step}
            isSelected={step.step === selected}
            onSelect={() => onSelect(step.step)}
          />
        ))}
      </ol>
      {isRunning && (
        <div class="live-log" role="log" aria-label="Latest lines of the log">
          <pre>
            <VisibleText text={lines.slice(-MAX_LOG_LINES).join('\n') || process.lastAction} />
          </pre>
        </div>
      )}
      {!isRunning && process.result !== '' && (
        <div class="result">
          <h2>Result</h2>
          <p class="prose">
            <VisibleText text={process.result} />
          </p>
        </div>
      )}
      <div ref={end} />
    </Scroll>
  )
}
