import { type Signal, signal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { TreeName, WebEntry } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { useReload } from '../../client/live.ts'
import { readPages } from '../../client/pages.ts'
import { Notice } from '../../parts/notice.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { toVisible, VisiblePath } from '../../parts/visible-text.tsx'
import { listAncestors, listTreeRows, type TreeRow } from './tree-rows.ts'

const ROW_HEIGHT = 24
/** Entries of one directory beyond these are not listed. */
const MAX_ENTRIES = 20_000

export interface FileTreeProps {
  readonly tree: TreeName
  readonly path: string
  readonly onOpen: (path: string) => void
}

/** The directories of a tree. A directory is read when it is opened. */
export function FileTree({ tree, path, onOpen }: FileTreeProps): VNode {
  const [opened, setOpened] = useState<ReadonlySet<string>>(() => new Set(listAncestors(path)))
  const directories = useMemo(() => new Directories(), [])
  // Another file opens the directories above it once; a person may close them again.
  useEffect(() => setOpened((known) => new Set([...known, ...listAncestors(path)])), [path])
  useEffect(() => directories.show(tree, opened), [directories, tree, opened])
  useReload(
    (event) => event.type === 'journal' && event.tree === tree,
    () => directories.refresh(),
  )
  const rows = listTreeRows(directories.entries.value, opened)
  const error = directories.error.value
  if (rows.length === 0 && error !== undefined) return <Notice title={error.message} tone="bad" />
  if (rows.length === 0)
    return <p class="soft pad">{directories.entries.value.has('/') ? 'No file is here.' : 'Reading…'}</p>
  const toggle = (entry: WebEntry) => {
    if (entry.type !== 'directory') return onOpen(entry.path)
    const next = new Set(opened)
    if (!next.delete(entry.path)) next.add(entry.path)
    setOpened(next)
  }
  return (
    <VirtualList
      class="fill"
      label="Files"
      count={rows.length}
      rowHeight={ROW_HEIGHT}
      active={rows.findIndex(({ entry }) => entry.path === path)}
      renderRow={(index) => {
        const row = rows[index]
        return (
          row && <Row key={row.entry.path} row={row} isActive={row.entry.path === path} onToggle={toggle} />
        )
      }}
    />
  )
}

interface RowProps {
  readonly row: TreeRow
  readonly isActive: boolean
  readonly onToggle: (entry: WebEntry) => void
}

function Row({ row: { entry, depth, isOpen }, isActive, onToggle }: RowProps): VNode {
  const isDirectory = entry.type === 'directory'
  return (
    <li class={`tree-entry ${isActive ? 'active' : ''}`}>
      <button
        type="button"
        class="change-name"
        style={{ paddingLeft: `${12 + depth * 14}px` }}
        title={toVisible(entry.target === undefined ? entry.path : `${entry.path} → ${entry.target}`)}
        {...(isDirectory && { 'aria-expanded': isOpen })}
        aria-current={isActive ? 'true' : undefined}
        onClick={() => onToggle(entry)}
      >
        <span class="twist" aria-hidden="true">
          {isDirectory ? (isOpen ? '▾' : '▸') : ''}
        </span>
        <span class="change-path">
          <VisiblePath path={entry.name} />
          {entry.type === 'symlink' && <span class="soft"> ↪</span>}
        </span>
      </button>
    </li>
  )
}

/** Entries of the opened directories of a tree. Another moment of it shows the old ones until the new arrive. */
class Directories {
  readonly entries: Signal<ReadonlyMap<string, readonly WebEntry[]>> = signal(new Map())
  readonly error: Signal<Error | undefined> = signal(undefined)
  #tree: TreeName = ''
  #opened: ReadonlySet<string> = new Set()
  #read = new Set<string>()
  #current = new AbortController()

  show(tree: TreeName, opened: ReadonlySet<string>): void {
    if (tree !== this.#tree) {
      this.#tree = tree
      this.#restart()
    }
    this.#opened = opened
    this.#readMissing()
  }

  refresh(): void {
    this.#restart()
    this.#readMissing()
  }

  #restart(): void {
    this.#current.abort()
    this.#current = new AbortController()
    this.#read = new Set()
  }

  #readMissing(): void {
    for (const path of this.#opened) {
      if (this.#read.has(path)) continue
      this.#read.add(path)
      void this.#readDirectory(this.#tree, path, this.#current.signal)
    }
  }

  async #readDirectory(tree: TreeName, path: string, signal: AbortSignal): Promise<void> {
    try {
      const entries = await readPages((page) => call('listFiles', { tree, path, ...page }, signal), {
        maxItems: MAX_ENTRIES,
      })
      if (signal.aborted) return
      this.entries.value = new Map(this.entries.value).set(path, entries)
      this.error.value = undefined
    } catch (error) {
      if (signal.aborted) return
      // At another moment a directory may be missing: it then has no entries.
      const next = new Map(this.entries.value)
      next.delete(path)
      this.entries.value = next
      if (path === '/') this.error.value = error instanceof Error ? error : new Error(String(error))
    }
  }
}
