/** A commit of this connection, which a group can follow until another connection commits. */
export interface OwnCommit {
  /** Value of the token record after the commit; each batch in the side log repeats it. */
  readonly token: Uint8Array
  /** Change count of the store before the commit; it differs once another connection has committed. */
  readonly changes: number
}

/**
 * State of the group commit of one connection. In `open`, `appended` and `committing` the connection has a transaction
 * and with it the write lock.
 */
export type GroupCommitState =
  /** No group was ever begun, so commits write no token. */
  | { readonly kind: 'unused' }
  /** `last` is this connection's last commit; absent if it failed, or none came since groups are enabled. */
  | { readonly kind: 'idle'; readonly last: OwnCommit | undefined }
  /** The side log has no batch of this group. */
  | { readonly kind: 'open'; readonly last: OwnCommit }
  /** The side log has acknowledged batches that are not committed. */
  | { readonly kind: 'appended'; readonly last: OwnCommit }
  /** The caller writes what replaces the batches of the side log. */
  | { readonly kind: 'committing'; readonly hasAppended: boolean }

export type GroupCommitEvent = 'enable' | 'begin' | 'append' | 'commit' | 'committed' | 'aborted'

type Kind = GroupCommitState['kind']
type StateOfKind<K extends Kind> = Extract<GroupCommitState, { readonly kind: K }>
type Transition<K extends Kind> = (state: StateOfKind<K>, commit: OwnCommit | undefined) => GroupCommitState

const toIdle = (_state: GroupCommitState, last: OwnCommit | undefined): GroupCommitState => ({
  kind: 'idle',
  last,
})
const toIdleWithoutCommit = (): GroupCommitState => ({ kind: 'idle', last: undefined })
const stay = <S extends GroupCommitState>(state: S): S => state

/** Every transition there is. A pair that is absent is a mistake of the caller. */
const TRANSITIONS: { readonly [K in Kind]: { readonly [E in GroupCommitEvent]?: Transition<K> } } = {
  unused: { enable: toIdleWithoutCommit, committed: stay, aborted: stay },
  idle: { begin: openAfter, committed: toIdle, aborted: toIdleWithoutCommit },
  open: {
    append: ({ last }) => ({ kind: 'appended', last }),
    commit: () => ({ kind: 'committing', hasAppended: false }),
    aborted: toIdleWithoutCommit,
  },
  appended: {
    append: stay,
    commit: () => ({ kind: 'committing', hasAppended: true }),
    aborted: toIdleWithoutCommit,
  },
  committing: { committed: toIdle, aborted: toIdleWithoutCommit },
}

/** Returns the state after an event; throws if the event cannot happen in this state. */
export function transition(
  state: GroupCommitState,
  event: GroupCommitEvent,
  commit?: OwnCommit,
): GroupCommitState {
  // The table has for each kind a function of that kind; TypeScript cannot follow the index.
  const next = TRANSITIONS[state.kind][event] as Transition<Kind> | undefined
  if (next === undefined) throw new TypeError(`group commit: no '${event}' while ${state.kind}`)
  return next(state, commit)
}

/** True if the connection has the write lock for a group. */
export function isGroupActive({ kind }: GroupCommitState): boolean {
  return kind === 'open' || kind === 'appended' || kind === 'committing'
}

/** True if the side log has acknowledged batches of this group. */
export function hasAppendedBatches(state: GroupCommitState): boolean {
  return state.kind === 'appended' || (state.kind === 'committing' && state.hasAppended)
}

function openAfter({ last }: StateOfKind<'idle'>): GroupCommitState {
  if (last === undefined)
    throw new TypeError('group commit: a group has to follow a commit of its connection')
  return { kind: 'open', last }
}
