import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { WebProcess } from '../../../web-api/index.ts'
import { processes } from '../../client/home-state.ts'
import { formatAge, formatCount, formatShort } from '../../parts/format.ts'
import { useKeys } from '../../parts/keyboard.ts'
import { Command, Notice } from '../../parts/notice.tsx'
import { ProcessTag } from '../../parts/process-tag.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { navigate } from '../../router.ts'
import { formatProcessRoute } from '../../routes.ts'

const ROW_HEIGHT = 64
const MAX_HEIGHT = 640

/** All processes: those at work first, and the newest first in each group. */
export function ProcessList(): VNode {
  const [active, setActive] = useState<number | undefined>(undefined)
  const list = [...processes.value.values()].sort(compareProcesses)
  const move = (step: number) => setActive(Math.max(0, Math.min(list.length - 1, (active ?? -step) + step)))
  useKeys([
    { key: 'j', label: 'Next process', run: () => move(1) },
    { key: 'k', label: 'Previous process', run: () => move(-1) },
    {
      key: 'Enter',
      label: 'Open the process',
      run: () => {
        const process = active === undefined ? undefined : list[active]
        if (process !== undefined) navigate(formatProcessRoute(process.pid))
      },
    },
  ])
  const running = list.filter(({ state }) => state !== 'ended' && state !== 'lost').length
  return (
    <section class="section" aria-labelledby="processes-title">
      <header>
        <h2 id="processes-title">Processes</h2>
        <span class="soft">
          {list.length > 0 && `${running} at work, ${formatCount(list.length, 'process', 'processes')}`}
        </span>
      </header>
      {list.length === 0 ? (
        <Notice title="No agent has worked here yet">
          <p>Start one in the directory of a project; it works in a fork of it:</p>
          <Command text={'coppice spawn "fix the failing test" --provider claude'} />
        </Notice>
      ) : (
        <div class="panel" style={{ height: `${Math.min(list.length * ROW_HEIGHT, MAX_HEIGHT) + 2}px` }}>
          <VirtualList
            class="fill"
            label="Processes"
            count={list.length}
            rowHeight={ROW_HEIGHT}
            active={active}
            renderRow={(index) => {
              const process = list[index]
              return (
                process && (
                  <ProcessRow
                    key={process.pid}
                    process={process}
                    index={index}
                    count={list.length}
                    isActive={index === active}
                  />
                )
              )
            }}
          />
        </div>
      )}
    </section>
  )
}

interface ProcessRowProps {
  readonly process: WebProcess
  readonly index: number
  readonly count: number
  readonly isActive: boolean
}

function ProcessRow({ process, index, count, isActive }: ProcessRowProps): VNode {
  const { pid, intent, agent, model, provider, step, maxSteps, lastAction, state } = process
  const isDone = state === 'ended' || state === 'lost'
  return (
    <li class={`row process-row ${isActive ? 'active' : ''}`} aria-setsize={count} aria-posinset={index + 1}>
      <div class="row-line">
        <ProcessTag process={process} />
        <a class="row-name" href={formatProcessRoute(pid)}>
          <span class="soft">{pid}</span> <VisibleText text={intent} />
        </a>
        <span class="row-end soft">{formatAge(process.endedAt ?? process.startedAt)}</span>
      </div>
      <div class="row-line soft">
        <span class="row-cut">
          <VisibleText text={(isDone && describeEnd(process)) || lastAction || 'no step yet'} />
        </span>
      </div>
      <div class="row-line soft small">
        <span class="row-cut">
          <VisibleText text={[agent, model || provider].filter(Boolean).join(' · ')} />
        </span>
        <span class="row-end">
          {step > 0 && `step ${step}`}
          {step > 0 && maxSteps > 0 && `/${maxSteps}`}
        </span>
        <Budget tokens={process.tokens} budget={process.budget} />
      </div>
    </li>
  )
}

/** Returns the result of a process, or the reason why it failed. */
function describeEnd({ exitCode, result, reason }: WebProcess): string {
  return exitCode === 0 ? result || reason : reason || result
}

function Budget({ tokens, budget }: { readonly tokens: number; readonly budget: number | null }): VNode {
  if (budget === null) return <span>{formatShort(tokens)} tokens</span>
  return (
    <span class="budget">
      <meter
        min={0}
        max={budget}
        high={budget * 0.9}
        value={tokens}
        aria-label={`${tokens} of ${budget} tokens`}
      />
      {formatShort(tokens)} of {formatShort(budget)}
    </span>
  )
}

const ORDER: Readonly<Record<WebProcess['state'], number>> = {
  stalled: 0,
  paused: 0,
  running: 0,
  lost: 1,
  ended: 1,
}

function compareProcesses(a: WebProcess, b: WebProcess): number {
  return ORDER[a.state] - ORDER[b.state] || b.pid - a.pid
}
