import { isRefPath } from '../git-files/index.ts'
import { isVfsError, VfsError } from '../vfs/index.ts'
import {
  ApplyError,
  createStageName,
  discardStage,
  guardPackedRefs,
  HostTree,
  type LinkHome,
  resolveChanges,
  revertUnfinished,
  type TreeChange,
  WriteLock,
  writeDirectory,
} from '../workspace/link/index.ts'
import { DirectoryRecorder } from './directory-recorder.ts'
import {
  type AgentEvent,
  type ChangeWindow,
  scanDirectory,
  TimelineFiles,
  type TimelineNote,
  toSettingsKey,
  UndoRules,
  type UndoSettings,
} from './events/index.ts'
import { RecordHistory, type TimelineId } from './record-history.ts'
import { type TimelineRecord, TimelineVault } from './timeline-record.ts'
import { findFirstRecords, type UndoOptions, type UndoPlan, UndoPlanner } from './undo-plan.ts'

/** Selects what an undo undoes: the last prompts, or one prompt or call. */
export type UndoSelection = { readonly last: number } | TimelineId

export interface UndoRequest extends UndoOptions {
  readonly selection: UndoSelection
  /** Paths in the directory, `/src/a.ts`; everything when empty. A directory includes what is below. */
  readonly paths?: readonly string[]
  readonly dryRun?: boolean
}

/** Changes that an undo or redo wrote, or would write. */
export interface UndoReport {
  readonly changes: readonly TreeChange[]
  /** Prompts of which something was undone. */
  readonly prompts: readonly number[]
  /** Other calls whose later changes of the same files were undone too. */
  readonly others: readonly TimelineId[]
  /** Changed paths that were not recorded, and stay. */
  readonly skipped: readonly string[]
}

/** The home of a timeline, opened when it is needed. */
export interface TimelineHome {
  /** The home's directory. */
  readonly path: string
  open(): Promise<LinkHome>
}

/**
 * The changes that agents and people made to a directory, recorded between the events of the agents. A call that records
 * or writes holds the lock of the directory, so no two of them and no apply run at once. `list` takes no lock.
 */
export class Timeline {
  readonly #home: TimelineHome
  readonly #directory: string
  readonly #files: TimelineFiles
  readonly #rules: UndoRules
  readonly #settingsKey: string

  /** @param directory a real path. */
  constructor(home: TimelineHome, directory: string, settings: UndoSettings = {}) {
    this.#home = home
    this.#directory = directory
    this.#files = new TimelineFiles(home.path, directory)
    this.#rules = new UndoRules(directory, settings, [home.path])
    this.#settingsKey = toSettingsKey(settings)
  }

  /**
   * Records the changes since the last event, each as that of its author. See `attributeChange`.
   * @param process the agent's process, by which a killed one is recognised. See `findAgentProcess`.
   * @param mark identifies the state of the directory before this call, if it is watched.
   */
  async receive(event: AgentEvent, process?: string, mark?: string): Promise<void> {
    using _lock = await this.#acquireLock()
    await this.#recover()
    const { sessions } = this.#files.readState()
    await this.#record(sessions.receive(event, process))
    const watched = mark === undefined ? undefined : { mark, time: Date.now() }
    this.#files.finishEvent(event, { sessions, watched })
  }

  /** True if the directory was recorded, or recording it failed. */
  get exists(): boolean {
    return this.#files.exists
  }

  /** Lists prompts, failures and records. Records nothing. */
  async list(): Promise<{ readonly notes: readonly TimelineNote[]; readonly history: RecordHistory }> {
    const vault = await this.#findVault()
    return { notes: this.#files.listNotes(), history: new RecordHistory(vault?.listRecords() ?? []) }
  }

  /**
   * Puts files back to before some prompts or a call, all or none. Throws ENOENT if there is nothing to undo, and
   * ApplyError where a person changed them since, or perhaps did.
   */
  async undo({ selection, paths = [], dryRun = false, ...options }: UndoRequest): Promise<UndoReport> {
    using _lock = await this.#acquireLock()
    const { vault, history } = await this.#catchUp()
    const records = selectRecords(history, selection)
    const isSelected = (path: string) =>
      paths.length === 0 || paths.some((top) => top === '/' || path === top || path.startsWith(`${top}/`))
    const since = findFirstRecords(
      records,
      (record, { path }) => history.isActive(record, path) && isSelected(path),
    )
    const skipped = records.flatMap((record) => record.skipped ?? []).filter(isSelected)
    const prompts = [...new Set(records.map(({ call }) => call?.prompt ?? 0))]
    if (since.size === 0) throw createNothingError(this.#directory, { selection, paths, skipped })
    using tree = new HostTree(this.#directory)
    const plan = new UndoPlanner(vault, history, tree, options).plan(since, ['person', 'unclear'])
    const others = listOtherCalls(history, plan, records)
    await this.#write({ vault, tree, plan, dryRun, record: { by: 'undo', undoes: plan.since } })
    return { changes: plan.changes, prompts, others, skipped }
  }

  /** Takes back the last undo, all or none. Throws ENOENT if there is none, ApplyError where anybody changed files since. */
  async redo({
    dryRun = false,
    ...options
  }: UndoOptions & { readonly dryRun?: boolean } = {}): Promise<UndoReport> {
    using _lock = await this.#acquireLock()
    const { vault, history } = await this.#catchUp()
    const last = history.findLastUndo()
    if (last === undefined) {
      const detail = `nothing was undone in ${this.#directory}; there is nothing to redo`
      throw new VfsError('ENOENT', this.#directory, { op: 'redo', detail })
    }
    const since = findFirstRecords([last], () => true)
    using tree = new HostTree(this.#directory)
    const plan = new UndoPlanner(vault, history, tree, options).plan(since, ['person', 'unclear', 'agent'])
    await this.#write({ vault, tree, plan, dryRun, record: { by: 'redo', redoes: last.number } })
    return { changes: plan.changes, prompts: [], others: [], skipped: [] }
  }

  /**
   * Deletes what was recorded before a time, in milliseconds since the epoch; it can no longer be undone. The last record
   * stays. Returns the number of deleted records.
   */
  async forget(before: number): Promise<number> {
    using _lock = await this.#acquireLock()
    const { vault, history } = await this.#catchUp()
    const old = history.records.slice(0, -1).filter(({ time }) => time < before)
    vault.removeRecords(old.map(({ number }) => number))
    this.#files.removeNotes(before)
    return old.length
  }

  async #write({ vault, tree, plan, dryRun, record }: PlannedWrite): Promise<void> {
    if (plan.conflicts.length > 0) throw new ApplyError(this.#directory, plan.conflicts)
    // Throws if the directory changed since it was recorded.
    const { pending } = resolveChanges(tree, plan.changes, {
      isUnsure: () => false,
      findParent: () => undefined,
    })
    if (dryRun) return
    const stage = createStageName()
    const states = toFileStates(plan.changes, pending)
    const commit = () => vault.addRecord({ ...record, stage }, states)
    const state = this.#files.readState()
    this.#files.writeState({ ...state, stage })
    if (pending.length === 0) commit()
    else {
      const changes = guardPackedRefs(tree, pending)
      writeDirectory(tree, { stage, changes, home: this.#home.path }, commit)
    }
    await this.#record({ running: [], lost: [] })
    this.#files.writeState(discardStage(tree, stage) ? state : { ...state, stage })
  }

  /** Records what changed until now, for a command of a person. Throws ENOENT if nothing was ever recorded. */
  async #catchUp(): Promise<{ readonly vault: TimelineVault; readonly history: RecordHistory }> {
    await this.#recover()
    if ((await this.#findVault()) === undefined) throw createUnknownError(this.#directory)
    const { sessions } = this.#files.readState()
    await this.#record(sessions.receiveNothing())
    this.#files.writeState({ sessions })
    const vault = await this.#openVault()
    return { vault, history: new RecordHistory(vault.listRecords()) }
  }

  async #record(window: ChangeWindow): Promise<void> {
    const previous = this.#files.readIndex(this.#settingsKey)
    const scan = scanDirectory(this.#directory, previous, this.#rules)
    if (scan.touched.length === 0 && previous.takenAt > 0) return
    new DirectoryRecorder(this.#directory, await this.#openVault(), this.#rules).record(scan, window)
    this.#files.writeIndex(scan.index)
  }

  /** Reverts an undo whose process was killed, or completes it once the vault has its record. */
  async #recover(): Promise<void> {
    const { stage, ...state } = this.#files.readState()
    if (stage === undefined) return
    using tree = new HostTree(this.#directory)
    const vault = await this.#findVault()
    const isRecorded = vault?.listRecords().some((record) => record.stage === stage) === true
    if (isRecorded) discardStage(tree, stage)
    else revertUnfinished(tree, stage)
    this.#files.writeState(state)
  }

  async #findVault(): Promise<TimelineVault | undefined> {
    const home = await this.#home.open()
    return (await home.vaults()).includes(this.#files.vault)
      ? new TimelineVault(await home.posix(this.#files.vault))
      : undefined
  }

  async #openVault(): Promise<TimelineVault> {
    const home = await this.#home.open()
    try {
      return new TimelineVault(await home.posix(this.#files.vault))
    } catch (error) {
      if (!isVfsError(error, 'ENOENT')) throw error
    }
    await home.createVault(this.#files.vault)
    return new TimelineVault(await home.posix(this.#files.vault))
  }

  #acquireLock(): Promise<WriteLock> {
    return WriteLock.acquire(this.#home.path, this.#directory)
  }
}

interface PlannedWrite {
  readonly vault: TimelineVault
  readonly tree: HostTree
  readonly plan: UndoPlan
  readonly dryRun: boolean
  readonly record: Omit<TimelineRecord, 'number' | 'time' | 'changes'>
}

/** Returns the states of files: a planned ref may have been packed, and its directory missing. */
function toFileStates(planned: readonly TreeChange[], pending: readonly TreeChange[]): TreeChange[] {
  const paths = new Set(planned.map(({ path }) => path))
  const others = planned.filter(({ path }) => !isRefPath(path))
  return [...others, ...pending.filter(({ path }) => isRefPath(path) || !paths.has(path))]
}

function selectRecords(history: RecordHistory, selection: UndoSelection): TimelineRecord[] {
  if ('prompt' in selection) return history.listCalls(selection)
  const prompts = history.listLastPrompts(selection.last)
  return history.records.filter(({ call }) => call !== undefined && prompts.includes(call.prompt))
}

/** Lists the calls that are not among the records, and whose changes a plan undoes because they came later. */
function listOtherCalls(
  history: RecordHistory,
  { changes, since }: UndoPlan,
  records: readonly TimelineRecord[],
): TimelineId[] {
  const others = changes.flatMap(({ path }) =>
    history
      .listSteps(path, since[path] ?? Number.POSITIVE_INFINITY)
      .filter(({ record }) => !records.includes(record) && history.isActive(record, path))
      .flatMap(({ record: { call } }) => call ?? []),
  )
  const unique = new Map(
    others.map(({ prompt, number }) => [`${prompt}.${number}`, { prompt, call: number }]),
  )
  return [...unique.values()].sort((one, other) => one.prompt - other.prompt || one.call - other.call)
}

function createUnknownError(directory: string): VfsError {
  const detail = `nothing is recorded for ${directory}; record what an agent does with: coppice hooks install claude`
  return new VfsError('ENOENT', directory, { op: 'undo', detail })
}

function createNothingError(
  directory: string,
  { selection, paths = [], skipped }: Pick<UndoRequest, 'selection' | 'paths'> & Pick<UndoReport, 'skipped'>,
): VfsError {
  const place = paths.length === 0 ? directory : paths.map((path) => directory + path).join(', ')
  const where = paths.length === 0 ? '' : ` in ${place}`
  const problem =
    'prompt' in selection
      ? `${formatSelected(selection)} has no changes${where} that can be undone`
      : paths.length === 0
        ? `no agent changed ${place} since the last undo`
        : `the last ${selection.last === 1 ? 'prompt' : `${selection.last} prompts`} with changes made none in ${place}`
  const more = skipped.length === 0 ? '' : `; not recorded: ${skipped.slice(0, 5).join(', ')}`
  const detail = `${problem}${more}; list what happened with: coppice timeline`
  return new VfsError('ENOENT', directory, { op: 'undo', detail })
}

function formatSelected({ prompt, call }: TimelineId): string {
  return call === undefined ? `prompt ${prompt}` : `call ${prompt}.${call}`
}
