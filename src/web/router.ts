import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'

/** A state of the page as its address has it: `/compare?to=fork:shop-1`. */
export interface Route {
  /** The screen: the path without its slash, empty for the first screen. */
  readonly screen: string
  readonly query: URLSearchParams
}

type QueryValues = Readonly<Record<string, string | number | undefined>>

const address: Signal<string> = signal('/')

/** The address that the page shows. */
export const route: ReadonlySignal<Route> = computed(() => parseRoute(address.value))

/** Parses the path and query of an address. */
export function parseRoute(text: string): Route {
  const [path = '', query = ''] = text.split('?', 2)
  return { screen: path.replaceAll('/', ''), query: new URLSearchParams(query) }
}

/** Formats an address. Values that are undefined or empty are left out. */
export function formatRoute(screen: string, query: QueryValues = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value))
  }
  return search.size === 0 ? `/${screen}` : `/${screen}?${search}`
}

/** Follows the address bar, and opens links to this page without loading it again. */
export function startRouter(): void {
  readAddress()
  window.addEventListener('popstate', () => {
    clearTimeout(writing)
    writing = undefined
    readAddress()
  })
  window.addEventListener('pagehide', () => writing !== undefined && writeAddress())
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link === null || link.origin !== location.origin || !isPlainClick(event) || link.target !== '') return
    event.preventDefault()
    navigate(link.pathname + link.search)
  })
}

/** Goes to an address, which becomes an entry of the browser's history. */
export function navigate(to: string): void {
  const { screen } = route.value
  if (writing !== undefined) writeAddress()
  history.pushState(null, '', to)
  readAddress()
  window.scrollTo(0, 0)
  // A screen reader goes on at the new screen, and not at a link that is gone.
  if (route.value.screen !== screen) document.getElementById('main')?.focus()
}

/** Changes values of the query and keeps the others. A state that changes with every key is no entry of the history. */
export function updateQuery(values: QueryValues): void {
  const { screen, query } = route.value
  address.value = formatRoute(screen, { ...Object.fromEntries(query), ...values })
  clearTimeout(writing)
  writing = setTimeout(writeAddress, WRITE_MS)
}

/** A browser ignores addresses that change too often, such as with every frame while a slider moves. */
const WRITE_MS = 200
let writing: ReturnType<typeof setTimeout> | undefined

function writeAddress(): void {
  clearTimeout(writing)
  writing = undefined
  history.replaceState(null, '', address.value)
}

function readAddress(): void {
  address.value = location.pathname + location.search
}

/** Returns false for a click that opens another tab or window. */
function isPlainClick(event: MouseEvent): boolean {
  return event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
}
