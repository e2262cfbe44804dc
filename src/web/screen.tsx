import { type Signal, signal } from '@preact/signals'
import type { ComponentType, VNode } from 'preact'
import { isLoaded } from './client/home-state.ts'
import { Notice } from './parts/notice.tsx'
import { ReadingHome } from './parts/reading-home.tsx'
import { route } from './router.ts'

/** Screens by the first part of their address. Each is a script of its own, which is loaded when it is shown. */
const LOADERS: Readonly<Record<string, () => Promise<ComponentType>>> = {
  '': async () => (await import('./screens/home/home-screen.tsx')).HomeScreen,
  approvals: async () => (await import('./screens/approvals/approvals-screen.tsx')).ApprovalsScreen,
  compare: async () => (await import('./screens/compare/compare-screen.tsx')).CompareScreen,
  files: async () => (await import('./screens/files/files-screen.tsx')).FilesScreen,
  timeline: async () => (await import('./screens/files/timeline-screen.tsx')).TimelineScreen,
  process: async () => (await import('./screens/process/process-screen.tsx')).ProcessScreen,
}

/** Screens that show the processes, trees or requests of the home, and wait until those are read. */
const NEED_HOME: ReadonlySet<string> = new Set(['', 'approvals', 'process'])

const loaded: Signal<ReadonlyMap<string, ComponentType | Error>> = signal(new Map())
const loading = new Set<string>()

/** The screen of the address. */
export function Screen(): VNode {
  const name = route.value.screen
  const load = LOADERS[name]
  if (load === undefined) return <Missing />
  const screen = loaded.value.get(name)
  if (screen === undefined) {
    void loadScreen(name, load)
    return (
      <p class="page soft" role="status">
        Loading…
      </p>
    )
  }
  if (screen instanceof Error) return <Failed message={screen.message} />
  if (!isLoaded.value && NEED_HOME.has(name)) return <ReadingHome />
  const Shown = screen
  return <Shown key={name} />
}

function Missing(): VNode {
  return (
    <div class="page">
      <Notice title="No screen has this address">
        <a href="/">Go to the first screen</a>
      </Notice>
    </div>
  )
}

function Failed({ message }: { readonly message: string }): VNode {
  return (
    <div class="page">
      <Notice title="This screen could not be loaded" tone="bad">
        <p>{message}</p>
        <button type="button" class="button" onClick={() => location.reload()}>
          Reload the page
        </button>
      </Notice>
    </div>
  )
}

/** Loads the script of the screen of the address, before anything is known that it shows. */
export async function loadCurrentScreen(): Promise<void> {
  const name = route.value.screen
  const load = LOADERS[name]
  if (load !== undefined) await loadScreen(name, load)
}

/** Loads the scripts of all screens in the background, so that the next one opens at once. */
export async function preloadScreens(): Promise<void> {
  for (const [name, load] of Object.entries(LOADERS)) await loadScreen(name, load)
}

async function loadScreen(name: string, load: () => Promise<ComponentType>): Promise<void> {
  if (loading.has(name)) return
  loading.add(name)
  const found = await load().catch((error: unknown) =>
    error instanceof Error ? error : new Error(String(error)),
  )
  loaded.value = new Map(loaded.value).set(name, found)
}
