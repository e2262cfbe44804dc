import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { connection } from './client/event-stream.ts'
import {
  isLoaded,
  loadError,
  processes,
  startHome,
  status,
  trees,
  waiting,
  waitingCount,
} from './client/home-state.ts'
import { session } from './client/session.ts'
import { ArmedKey, Help, isHelpOpen } from './parts/help.tsx'
import { useKeys } from './parts/keyboard.ts'
import { Command, Notice } from './parts/notice.tsx'
import { isPaletteOpen, Palette, type PaletteEntry } from './parts/palette.tsx'
import { ReadingHome } from './parts/reading-home.tsx'
import { toVisible } from './parts/visible-text.tsx'
import { formatRoute, navigate, route } from './router.ts'
import { formatCompareRoute, formatFilesRoute, formatProcessRoute, formatTree, isFork } from './routes.ts'
import { preloadScreens, Screen } from './screen.tsx'

const PLACES = [
  { label: 'Home', name: '', key: 'g' },
  { label: 'Approvals', name: 'approvals', key: 'A' },
  { label: 'Compare', name: 'compare', key: 'C' },
  { label: 'Files', name: 'files', key: 'F' },
] as const

/** Time after which the first screen is shown, and the scripts of the others may be loaded. */
const PRELOAD_MS = 400

/** The whole page: the bar, the state of the connection, and the screen of the address. */
export function App(): VNode {
  useKeys([
    ...PLACES.map(({ label, name, key }) => ({ key, label, run: () => navigate(formatRoute(name)) })),
    { key: '?', label: 'Show keys', run: () => openHelp() },
    { key: ':', label: 'Go to a screen, process or fork', run: () => openPalette() },
  ])
  useEffect(listenForPalette, [])
  useEffect(() => {
    if (isLoaded.value) setTimeout(() => void preloadScreens(), PRELOAD_MS)
  }, [isLoaded.value])
  const title = formatTitle()
  useEffect(() => {
    document.title = title
  }, [title])
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <Bar />
      <ConnectionState />
      <main id="main" tabIndex={-1}>
        <Content />
      </main>
      <Palette entries={isPaletteOpen.value ? listPaletteEntries() : []} />
      <Help />
      <ArmedKey />
    </>
  )
}

function Bar(): VNode {
  const current = route.value.screen
  return (
    <header class="bar">
      <a class="brand" href="/">
        <svg class="brand-mark" viewBox="0 0 14 14" aria-hidden="true">
          <path d="M7 13V5M7 9 3.5 5.5M7 7.5l3.5-3.5M3.5 5.5V2M10.5 4V1.5" />
        </svg>
        coppice
      </a>
      <nav aria-label="Screens">
        <ul>
          {PLACES.map(({ label, name }) => (
            <li key={name}>
              <a href={formatRoute(name)} aria-current={current === name ? 'page' : undefined}>
                {label}
                {name === '' && <WaitingBadge count={waitingCount.value} />}
                {name === 'approvals' && <WaitingBadge count={waiting.value.approvals.length} />}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="bar-end">
        {status.value && <span class="home-path mono">{toVisible(status.value.home)}</span>}
        <button type="button" class="button small" onClick={openPalette}>
          Go to <kbd class="wide">Ctrl K</kbd>
        </button>
        <button type="button" class="button small" aria-label="Show keys" onClick={openHelp}>
          ?
        </button>
      </div>
    </header>
  )
}

/** The title of the tab: what waits, the screen, and what it shows. */
function formatTitle(): string {
  const { screen, query } = route.value
  const label =
    PLACES.find(({ name }) => name === screen)?.label ?? (screen === 'process' ? 'Process' : 'Timeline')
  const shown = query.get('pid') ?? formatTree(query.get('to') ?? query.get('tree') ?? '')
  const count = waitingCount.value
  return `${count > 0 ? `(${count}) ` : ''}${[label, toVisible(shown)].filter(Boolean).join(' ')} · Coppice`
}

function WaitingBadge({ count }: { readonly count: number }): VNode | null {
  if (count === 0) return null
  return (
    <span class="badge">
      {count}
      <span class="hidden-label"> waiting</span>
    </span>
  )
}

function ConnectionState(): VNode | null {
  if (connection.value !== 'lost' || session.value.state !== 'open') return null
  return (
    <div class="lost" role="alert">
      Connection lost, reconnecting. What you see may be old; nothing is missed. If the daemon has stopped,
      run <Command text="coppice ui" />
    </div>
  )
}

function Content(): VNode {
  if (session.value.state !== 'open') return <Admission state={session.value.state} />
  const error = loadError.value
  if (error !== undefined) {
    return (
      <div class="page">
        <Notice title="The home could not be read" tone="bad">
          <p>{error.message}</p>
          <button type="button" class="button" onClick={() => void startHome()}>
            Try again
          </button>
        </Notice>
      </div>
    )
  }
  // From here on a screen may read: events after the status are followed, so nothing is missed.
  return status.value === undefined ? <ReadingHome /> : <Screen />
}

const ADMISSION: Readonly<Record<string, string>> = {
  opening: 'Opening…',
  missing: 'This tab is not signed in',
  refused: 'This link was used already, or is older than a minute',
  ended: 'The daemon was started again, and this tab is no longer signed in',
}

function Admission({ state }: { readonly state: string }): VNode {
  return (
    <div class="page">
      <h1>Coppice</h1>
      <Notice title={ADMISSION[state] ?? state} tone={state === 'opening' ? 'plain' : 'warn'}>
        <p>Open a new link from a terminal on this machine:</p>
        <Command text="coppice ui" />
      </Notice>
    </div>
  )
}

function listPaletteEntries(): PaletteEntry[] {
  const go = (address: string) => () => navigate(address)
  return [
    ...PLACES.map(({ label, name }) => ({ label, kind: 'screen', run: go(formatRoute(name)) })),
    ...[...processes.value.values()]
      .sort((a, b) => b.pid - a.pid)
      .map(({ pid, intent }) => ({
        label: `${pid} ${intent}`,
        kind: 'process',
        run: go(formatProcessRoute(pid)),
      })),
    ...trees.value
      .filter(isFork)
      .map((tree) => ({ label: tree.name, kind: 'changes of a fork', run: go(formatCompareRoute(tree)) })),
    ...trees.value.map(({ tree, name, kind }) => ({
      label: name,
      kind: `files of a ${kind}`,
      run: go(formatFilesRoute(tree)),
    })),
  ]
}

function listenForPalette(): () => void {
  const open = (event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return
    event.preventDefault()
    openPalette()
  }
  document.addEventListener('keydown', open)
  return () => document.removeEventListener('keydown', open)
}

function openPalette(): void {
  isPaletteOpen.value = true
}

function openHelp(): void {
  isHelpOpen.value = true
}
