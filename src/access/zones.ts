import { ancestors, type Caller, dirname, normalize } from '../vfs/index.ts'
import { callerName, getCallerContext, isContextName } from './caller.ts'
import { formatAlternatives } from './format-alternatives.ts'
import type { AccessRequest, Policy, Verdict } from './policy.ts'

/** A path and its writers. The zone with the longest root applies. */
export interface Zone {
  readonly root: string
  /** `everyone`: every context. With an empty list, only the system writes. */
  readonly writers: 'everyone' | readonly string[]
}

const HOME_ROOT = '/home'

/** The zones of every namespace. In addition, each context has its own below `/home`. */
const STANDARD_ZONES: readonly Zone[] = [
  { root: '/shared', writers: 'everyone' },
  { root: HOME_ROOT, writers: [] },
  { root: '/sys', writers: [] },
]

/**
 * Decides by the path who may write: every context in `/shared`, each context in its own `/home/<context>`, the system
 * everywhere. Everyone reads everything. A writer may create the root of its zone, but not replace, move or remove it.
 *
 * @param own further zones of a namespace, such as a workspace; one with the same root replaces the standard one.
 */
export function zonePolicy(own: readonly Zone[] = []): Policy {
  const zones = new ZoneMap(own)
  return {
    name: 'zones',
    judges: 'changes',
    judge: (request) => (request.access === 'read' ? null : evaluateChange(zones, request)),
  }
}

/** Returns the roots of the zones that a caller may write, `/` for the system. */
export function listWritableZones(caller: Caller | undefined, own: readonly Zone[] = []): string[] {
  return new ZoneMap(own).listWritable(caller)
}

function evaluateChange(zones: ZoneMap, { caller, op, path }: AccessRequest): Verdict {
  const explainAlternatives = () => formatAlternatives('write below', zones.listWritable(caller))
  const zone = zones.find(path)
  if (zone === undefined || !isWriter(zone, caller))
    return `${callerName(caller)} may not change this; ${explainAlternatives()}`
  if (op === 'mkdir' || !zones.containsZone(path)) return null
  return `${callerName(caller)} may not change a zone itself or a directory above it, only what is in it; ${explainAlternatives()}`
}

/** The zones of one namespace. */
class ZoneMap {
  readonly #byRoot: ReadonlyMap<string, Zone>
  readonly #holders: ReadonlySet<string>

  constructor(own: readonly Zone[]) {
    this.#byRoot = new Map([...STANDARD_ZONES, ...own].map((zone) => [normalize(zone.root), zone]))
    const roots = [...this.#byRoot.keys()]
    this.#holders = new Set(roots.flatMap((root) => [...ancestors(root), root]))
  }

  /** Returns the zone of a path. */
  find(path: string): Zone | undefined {
    for (const root of [path, ...ancestors(path).reverse()]) {
      const zone = this.#byRoot.get(root) ?? findHomeZone(root)
      if (zone !== undefined) return zone
    }
    return undefined
  }

  /** True if a path is the root of a zone or above one. */
  containsZone(path: string): boolean {
    return this.#holders.has(path) || dirname(path) === HOME_ROOT
  }

  listWritable(caller: Caller | undefined): string[] {
    if (caller?.kind === 'system') return ['/']
    const context = getCallerContext(caller)
    const home = context !== undefined && isContextName(context) ? [`${HOME_ROOT}/${context}`] : []
    const granted = [...this.#byRoot.values()].filter((zone) => isWriter(zone, caller))
    return [...new Set([...granted.map(({ root }) => normalize(root)), ...home])]
  }
}

function findHomeZone(path: string): Zone | undefined {
  return dirname(path) === HOME_ROOT ? { root: path, writers: [path.slice(HOME_ROOT.length + 1)] } : undefined
}

function isWriter({ writers }: Zone, caller: Caller | undefined): boolean {
  const context = getCallerContext(caller)
  if (context === undefined || !isContextName(context)) return false
  return writers === 'everyone' || writers.includes(context)
}
