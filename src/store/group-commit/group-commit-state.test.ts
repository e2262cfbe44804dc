import { describe, expect, it } from 'vitest'
import {
  type GroupCommitEvent,
  type GroupCommitState,
  hasAppendedBatches,
  isGroupActive,
  transition,
} from './group-commit-state.ts'

const last = { token: Uint8Array.of(1), changes: 1 }
const newer = { token: Uint8Array.of(2), changes: 2 }

const states = {
  unused: { kind: 'unused' },
  idle: { kind: 'idle', last },
  open: { kind: 'open', last },
  appended: { kind: 'appended', last },
  committing: { kind: 'committing', hasAppended: false },
  'committing appended': { kind: 'committing', hasAppended: true },
} satisfies Record<string, GroupCommitState>

const events: readonly GroupCommitEvent[] = ['enable', 'begin', 'append', 'commit', 'committed', 'aborted']
const failed = { kind: 'idle', last: undefined }
const committed = { kind: 'idle', last: newer }

/** Each pair that is not listed has to throw. */
const expected: Record<keyof typeof states, Partial<Record<GroupCommitEvent, object>>> = {
  unused: { enable: failed, committed: states.unused, aborted: states.unused },
  idle: { begin: states.open, committed, aborted: failed },
  open: { append: states.appended, commit: states.committing, aborted: failed },
  appended: { append: states.appended, commit: states['committing appended'], aborted: failed },
  committing: { committed, aborted: failed },
  'committing appended': { committed, aborted: failed },
}

describe('the states of a group commit', () => {
  for (const [name, state] of Object.entries(states) as [keyof typeof states, GroupCommitState][])
    for (const event of events) {
      const next = expected[name][event]
      it(`${name}: ${event} ${next === undefined ? 'throws' : `leads to ${JSON.stringify(next)}`}`, () => {
        const run = () => transition(state, event, newer)
        if (next === undefined) expect(run).toThrow(`no '${event}' while ${state.kind}`)
        else expect(run()).toEqual(next)
      })
    }

  it('begins no group without a commit of its own', () => {
    expect(() => transition({ kind: 'idle', last: undefined }, 'begin')).toThrow('has to follow a commit')
  })

  it('makes no object for a batch behind the first', () => {
    expect(transition(states.appended, 'append')).toBe(states.appended)
  })

  it('knows where the lock is taken and where batches are acknowledged', () => {
    const active = Object.entries(states).filter(([, state]) => isGroupActive(state))
    expect(active.map(([name]) => name)).toEqual(['open', 'appended', 'committing', 'committing appended'])
    const acknowledged = Object.entries(states).filter(([, state]) => hasAppendedBatches(state))
    expect(acknowledged.map(([name]) => name)).toEqual(['appended', 'committing appended'])
  })
})
