import { ancestors, type Caller, dirname, normalize } from '../vfs/index.ts'
import { callerName, contextOf, isContextName } from './caller.ts'
import { alternatives } from './denial.ts'
import type { AccessRequest, Policy, Verdict } from './policy.ts'

/** A place and who may write below it. The zone of the longest root decides. */
export interface Zone {
  readonly root: string
  /** `everyone`: every context. Nobody but the system where the list is empty. */
  readonly writers: 'everyone' | readonly string[]
}

const HOMES = '/home'

/** The zones every namespace has; besides, each context has its own below `/home`. */
const STANDARD_ZONES: readonly Zone[] = [
  { root: '/shared', writers: 'everyone' },
  { root: HOMES, writers: [] },
  { root: '/sys', writers: [] },
]

/**
 * Path is policy: `/shared` is written by every context, `/home/<context>` by its owner, everything else by the system,
 * and everything is read by all. A root of a zone, and what holds one, can be made as a directory by who may write
 * there, but not be replaced, moved or removed.
 *
 * @param own zones of a namespace besides these, such as a workspace; one with the same root takes its place.
 */
export function zonePolicy(own: readonly Zone[] = []): Policy {
  const zones = new Zones(own)
  return {
    name: 'zones',
    judges: 'changes',
    judge: (request) => (request.access === 'read' ? null : judgeChange(zones, request)),
  }
}

/** The roots of the zones a caller may write, `/` for the system. */
export function zonesOf(caller: Caller | undefined, own: readonly Zone[] = []): string[] {
  return new Zones(own).writableBy(caller)
}

function judgeChange(zones: Zones, { caller, op, path }: AccessRequest): Verdict {
  const instead = () => alternatives('write below', zones.writableBy(caller))
  const zone = zones.of(path)
  if (zone === undefined || !isWriter(zone, caller))
    return `${callerName(caller)} may not change this; ${instead()}`
  if (op === 'mkdir' || !zones.isHolding(path)) return null
  return `${callerName(caller)} may not change a zone itself, or what holds one, only what is in it; ${instead()}`
}

/** The zones of one namespace. */
class Zones {
  readonly #byRoot: ReadonlyMap<string, Zone>
  readonly #holders: ReadonlySet<string>

  constructor(own: readonly Zone[]) {
    this.#byRoot = new Map([...STANDARD_ZONES, ...own].map((zone) => [normalize(zone.root), zone]))
    const roots = [...this.#byRoot.keys()]
    this.#holders = new Set(roots.flatMap((root) => [...ancestors(root), root]))
  }

  /** The zone a path is in. */
  of(path: string): Zone | undefined {
    for (const root of [path, ...ancestors(path).reverse()]) {
      const zone = this.#byRoot.get(root) ?? homeAt(root)
      if (zone !== undefined) return zone
    }
    return undefined
  }

  /** Whether a path is the root of a zone, or one is below it. */
  isHolding(path: string): boolean {
    return this.#holders.has(path) || dirname(path) === HOMES
  }

  writableBy(caller: Caller | undefined): string[] {
    if (caller?.kind === 'system') return ['/']
    const context = contextOf(caller)
    const home = context !== undefined && isContextName(context) ? [`${HOMES}/${context}`] : []
    const granted = [...this.#byRoot.values()].filter((zone) => isWriter(zone, caller))
    return [...new Set([...granted.map(({ root }) => normalize(root)), ...home])]
  }
}

function homeAt(path: string): Zone | undefined {
  return dirname(path) === HOMES ? { root: path, writers: [path.slice(HOMES.length + 1)] } : undefined
}

function isWriter({ writers }: Zone, caller: Caller | undefined): boolean {
  const context = contextOf(caller)
  if (context === undefined || !isContextName(context)) return false
  return writers === 'everyone' || writers.includes(context)
}
