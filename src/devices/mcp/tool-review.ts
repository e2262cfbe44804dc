import { scanText } from '../scanner/index.ts'
import type { Pin } from './pin.ts'
import { hashTools, isSameTool, type ToolFacts } from './tool-facts.ts'

/** A tool that differs from its approved version. */
export interface ToolChange {
  readonly name: string
  readonly kind: 'added' | 'removed' | 'changed'
  readonly before: ToolFacts | null
  readonly after: ToolFacts | null
  /** Finding of the scanner in its current text; null if there is none. */
  readonly warning: string | null
}

/** A server's current tools compared with the approved ones. */
export interface ToolReview {
  /** `new`: nothing was approved yet. */
  readonly state: 'new' | 'approved' | 'changed'
  /** Hash of the current tools; an approval must name it. */
  readonly hash: string
  readonly tools: number
  readonly changes: readonly ToolChange[]
}

export function reviewTools(pin: Pin | undefined, offered: readonly ToolFacts[]): ToolReview {
  const hash = hashTools(offered)
  const state = pin === undefined ? 'new' : pin.hash === hash ? 'approved' : 'changed'
  const changes = state === 'approved' ? [] : diffTools(pin?.tools ?? [], offered)
  return { state, hash, tools: offered.length, changes }
}

function diffTools(approved: readonly ToolFacts[], offered: readonly ToolFacts[]): ToolChange[] {
  const before = new Map(approved.map((tool) => [tool.name, tool]))
  const after = new Map(offered.map((tool) => [tool.name, tool]))
  const names = [...new Set([...before.keys(), ...after.keys()])].sort()
  return names.flatMap((name) => compareTool(name, before.get(name) ?? null, after.get(name) ?? null))
}

function compareTool(name: string, before: ToolFacts | null, after: ToolFacts | null): ToolChange[] {
  if (before !== null && after !== null && isSameTool(before, after)) return []
  const kind = before === null ? 'added' : after === null ? 'removed' : 'changed'
  return [{ name, kind, before, after, warning: after === null ? null : scanTool(after) }]
}

/** Scans every text of a tool that a model reads, including names and descriptions of its arguments. */
function scanTool(tool: ToolFacts): string | null {
  const found = scanText(listTexts(tool).join('\n'), { isForeign: true })
  return found === undefined ? null : `${found.kind}: ${found.says}`
}

function listTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [key, ...listTexts(inner)])
}
