import type { VNode } from 'preact'
import type { WebProcess } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { processes, trees } from '../../client/home-state.ts'
import { useAction } from '../../parts/action.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { formatAge, formatCount, formatMoment } from '../../parts/format.ts'
import { useKeys } from '../../parts/keyboard.ts'
import { Notice } from '../../parts/notice.tsx'
import { ProcessTag } from '../../parts/process-tag.tsx'
import { QuestionForm } from '../../parts/question-form.tsx'
import { useResource } from '../../parts/resource.ts'
import { VisibleText } from '../../parts/visible-text.tsx'
import { navigate, route, updateQuery } from '../../router.ts'
import { formatCompareRoute, formatFilesRoute, formatProcessRoute } from '../../routes.ts'
import { StepFiles } from './step-files.tsx'
import { StepList } from './step-list.tsx'
import { useSteps } from './use-steps.ts'

/** One process: its conversation by steps, live, and beside it the files that a step changed. */
export function ProcessScreen(): VNode {
  const pid = Number(route.value.query.get('pid'))
  // The list has the live state. A process that is older than the list is read by itself.
  const listed = processes.value.get(pid)
  const found = useResource(`${pid} ${listed !== undefined}`, async (signal) =>
    listed === undefined ? await call('getProcess', { pid }, signal) : undefined,
  )
  const process = listed ?? found.value.value
  if (process !== undefined) return <OneProcess key={pid} process={process} />
  return (
    <div class="page">
      {found.error.value === undefined ? (
        <p class="soft" role="status">
          Reading the process…
        </p>
      ) : (
        <Notice title={`Process ${pid} is not there`} tone="bad">
          <p>{found.error.value.message}</p>
          <a href="/">All processes</a>
        </Notice>
      )}
    </div>
  )
}

function OneProcess({ process }: { readonly process: WebProcess }): VNode {
  const { pid } = process
  const steps = useSteps(pid)
  const list = steps.steps.value
  const requestedStep = Number(route.value.query.get('step') ?? Number.NaN)
  const selected = list.find(({ step }) => step === requestedStep) ?? list.at(-1)
  const selectedIndex = selected === undefined ? -1 : list.indexOf(selected)
  const select = (index: number) => {
    const step = list[Math.max(0, Math.min(list.length - 1, index))]
    if (step !== undefined) updateQuery({ step: step.step })
  }
  useKeys([
    { key: 'j', label: 'Next step', run: () => select(selectedIndex + 1) },
    { key: 'k', label: 'Previous step', run: () => select(selectedIndex - 1) },
    { key: 'l', label: 'Follow the last step', run: () => updateQuery({ step: undefined }) },
  ])
  return (
    <div class="work">
      <ProcessHead process={process} />
      <div class="process-columns">
        <StepList
          process={process}
          steps={steps}
          selected={selected?.step}
          isFollowing={Number.isNaN(requestedStep)}
          onSelect={(step) => updateQuery({ step })}
        />
        {selected && <StepFiles key={`${pid} ${selected.step}`} pid={pid} step={selected} />}
      </div>
    </div>
  )
}

function ProcessHead({ process }: { readonly process: WebProcess }): VNode {
  const { pid, intent, agent, model, provider, tokens, budget, parent, tree, source, reason } = process
  const fork = trees.value.find((listed) => listed.tree === tree)
  return (
    <header class="work-head process-head">
      <ProcessTag process={process} />
      <h1>
        <span class="soft">{pid}</span> <VisibleText text={intent} />
      </h1>
      <ProcessActions process={process} />
      <p class="soft process-facts">
        <VisibleText text={[agent, model || provider].filter(Boolean).join(' · ')} />
        {' · '}
        {formatCount(tokens, 'token')}
        {budget !== null && ` of ${budget.toLocaleString('en')}`}
        {' · '}
        <time dateTime={process.startedAt} title={formatMoment(process.startedAt)}>
          {formatAge(process.startedAt)}
        </time>
        {parent > 0 && (
          <>
            {' · child of '}
            <a href={formatProcessRoute(parent)}>process {parent}</a>
          </>
        )}
        {tree !== null && (
          <>
            {' · '}
            <a href={formatCompareRoute(fork ?? { tree, parent: source })}>what it changed</a>
            {' · '}
            <a href={formatFilesRoute(tree)}>its files</a>
          </>
        )}
        {reason !== '' && (
          <>
            {' · '}
            <VisibleText text={reason} />
          </>
        )}
      </p>
      {process.questions.map((question) => (
        <div class="notice warn process-question" key={question.id}>
          <QuestionForm question={question} />
        </div>
      ))}
    </header>
  )
}

function ProcessActions({ process: { pid, state, exitCode } }: { readonly process: WebProcess }): VNode {
  const pause = useAction(() => call('pauseProcess', { pid }))
  const resume = useAction(
    () => call('resumeProcess', { pid }),
    (resumed) => resumed.pid !== pid && navigate(formatProcessRoute(resumed.pid)),
  )
  const kill = useAction(() => call('killProcess', { pid }))
  const failure = pause.error ?? resume.error ?? kill.error
  const isOver = state === 'ended' || state === 'lost'
  const isDone = state === 'ended' && exitCode === 0
  return (
    <div class="actions head-actions">
      {failure && <span class="bad-text">{failure.message}</span>}
      {state === 'running' && (
        <button type="button" class="button" disabled={pause.isRunning} onClick={pause.run}>
          Pause
        </button>
      )}
      {state !== 'running' && !isDone && (
        <button type="button" class="button" disabled={resume.isRunning} onClick={resume.run}>
          {isOver ? 'Continue' : 'Resume'}
        </button>
      )}
      {!isOver && <ConfirmButton label="Kill" question="End this process?" onConfirm={kill.run} />}
    </div>
  )
}
