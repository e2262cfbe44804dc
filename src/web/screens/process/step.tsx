import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { WebStep, WebText, WebToolCall } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { useAction } from '../../parts/action.ts'
import { formatMoment, formatShort } from '../../parts/format.ts'
import { Notice } from '../../parts/notice.tsx'
import { Scroll } from '../../parts/scroll.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { navigate } from '../../router.ts'
import { formatProcessRoute } from '../../routes.ts'

export interface StepProps {
  readonly pid: number
  readonly step: WebStep
  readonly isSelected: boolean
  readonly onSelect: () => void
}

/** One step: new messages, the response of the model, and its calls, folded. */
export function Step({ pid, step, isSelected, onSelect }: StepProps): VNode {
  return (
    <li id={`step-${step.step}`} class={`step ${isSelected ? 'active' : ''}`}>
      <header class="step-head">
        <button
          type="button"
          class="link step-number"
          aria-current={isSelected ? 'step' : undefined}
          onClick={onSelect}
        >
          Step {step.step}
        </button>
        <span class="soft row-cut">
          <VisibleText text={step.summary || step.action} />
        </span>
        <span class="row-end soft small">
          {formatShort(step.tokens)} tokens · <time dateTime={step.time}>{formatMoment(step.time)}</time>
        </span>
      </header>
      {step.messages.map(({ role, text }, index) => (
        <div class={`message ${role}`} key={`${role} ${index}`}>
          <span class="role">{role}</span>
          <LongText text={text} isFolded={role === 'system'} />
        </div>
      ))}
      {step.response.text !== '' && (
        <div class="message response">
          <span class="role">model</span>
          <LongText text={step.response} />
        </div>
      )}
      {step.calls.map((toolCall, index) => (
        <ToolCall key={`${toolCall.tool} ${index}`} toolCall={toolCall} />
      ))}
      {isSelected && <StepActions pid={pid} step={step} />}
    </li>
  )
}

/** A longer text is folded: nobody reads it in passing. */
const FOLDED_LENGTH = 1200
/** Beginnings of a folded text, and of the input of a folded call. */
const MAX_SUMMARY = 120
const MAX_INPUT_SUMMARY = 160

function LongText({
  text,
  isFolded = false,
}: {
  readonly text: WebText
  readonly isFolded?: boolean
}): VNode {
  const shown = (
    <p class="prose">
      <VisibleText text={text.text} />
      {text.isCut && (
        <span class="soft"> … {formatShort(text.length)} characters in all, in the raw step</span>
      )}
    </p>
  )
  if (!isFolded && text.text.length <= FOLDED_LENGTH) return shown
  return (
    <details>
      <summary>
        <VisibleText text={text.text.slice(0, MAX_SUMMARY)} />…
      </summary>
      {shown}
    </details>
  )
}

function ToolCall({ toolCall: { tool, input, result, error } }: { readonly toolCall: WebToolCall }): VNode {
  return (
    <details class={`call ${error === '' ? '' : 'failed'}`}>
      <summary>
        <span class="call-tool mono">
          <VisibleText text={tool} />
        </span>
        <span class="soft row-cut mono">
          <VisibleText text={input.text.slice(0, MAX_INPUT_SUMMARY)} />
        </span>
        {error !== '' && <span class="bad-text">failed</span>}
      </summary>
      <CallPart label="Input" text={input} />
      {error !== '' && <CallPart label="Error" text={{ text: error, length: error.length, isCut: false }} />}
      {result.text !== '' && <CallPart label="Result" text={result} />}
    </details>
  )
}

function CallPart({ label, text }: { readonly label: string; readonly text: WebText }): VNode {
  return (
    <div class="call-part">
      <span class="role">{label}</span>
      <Scroll label={label}>
        <pre>
          <VisibleText text={text.text} />
          {text.isCut && '…'}
        </pre>
      </Scroll>
    </div>
  )
}

function StepActions({ pid, step }: { readonly pid: number; readonly step: WebStep }): VNode {
  const [isForking, setForking] = useState(false)
  const [raw, setRaw] = useState<string | undefined>(undefined)
  const readRaw = useAction(
    () => call('readStep', { pid, step: step.step }),
    ({ text, next }) =>
      setRaw(next === null ? text : `${text}\n… the rest is in coppice steps ${pid} --json`),
  )
  return (
    <div class="step-actions">
      {step.canFork && (
        <button
          type="button"
          class="button small"
          aria-expanded={isForking}
          onClick={() => setForking(!isForking)}
        >
          Fork here
        </button>
      )}
      <button
        type="button"
        class="button small"
        aria-expanded={raw !== undefined}
        onClick={() => (raw === undefined ? readRaw.run() : setRaw(undefined))}
      >
        Raw
      </button>
      {isForking && <ForkForm pid={pid} step={step.step} />}
      {readRaw.error && <Notice title={readRaw.error.message} tone="bad" />}
      {raw !== undefined && (
        <Scroll class="raw" label={`Record of step ${step.step}`}>
          <pre>
            <VisibleText text={raw} />
          </pre>
        </Scroll>
      )}
    </div>
  )
}

function ForkForm({ pid, step }: { readonly pid: number; readonly step: number }): VNode {
  const [intent, setIntent] = useState('')
  const fork = useAction(
    () => call('forkProcess', { pid, step, ...(intent.trim() !== '' && { intent: intent.trim() }) }),
    (started) => navigate(formatProcessRoute(started.pid)),
  )
  return (
    <form
      class="fork-form"
      onSubmit={(event) => {
        event.preventDefault()
        fork.run()
      }}
    >
      <label for="fork-intent">
        A new process goes on from step {step}, with the files of that moment. Its task, if it is another one:
      </label>
      <input
        id="fork-intent"
        class="field wide-field"
        value={intent}
        placeholder="try it another way"
        onInput={(event) => setIntent(event.currentTarget.value)}
      />
      <button type="submit" class="button main" disabled={fork.isRunning}>
        Start
      </button>
      {fork.error && <Notice title={fork.error.message} tone="bad" />}
    </form>
  )
}
