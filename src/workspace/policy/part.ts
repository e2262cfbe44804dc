import type { Finding } from './category.ts'
import { findHostPath, type PathContext } from './host-path.ts'
import { createFinding } from './programs/index.ts'
import { UNKNOWN } from './shell/unknown.ts'

/** One program that a command runs, or one thing it does besides, with what was found about it. */
export interface Part {
  /** As it reads after quoting and expansion; `…` is what is only known when it runs. */
  readonly text: string
  /** The program's name; undefined where there is none, or it is only known when it runs. */
  readonly program: string | undefined
  /** The program as the command names it: by its name alone, or by a path. */
  readonly path: string | undefined
  readonly args: readonly string[]
  readonly findings: readonly Finding[]
  /** Whether it runs no code of the workspace and reaches no network, even if the command is given one. */
  readonly isInert: boolean
}

const SYSTEM_PROGRAM = /^\/(?:usr\/(?:local\/)?|opt\/[^/]+\/)?s?bin\/[^/]+$/

/** What there is to say of words that lead out of the workspace. */
export function findHostPaths(words: readonly string[], place: PathContext): Finding[] {
  const found: Finding[] = []
  for (const word of words) {
    const path = findHostPath(word, place)
    if (path === undefined) continue
    const reason = `reaches ${formatText(path)}, outside the workspace`
    found.push({ category: 'host_escape_risk', reason, path })
  }
  return found
}

/** Whether a program is the machine's own: looked up on the path, or named as one of the system's. */
export function isHostProgram(name: string | undefined, path: string | undefined): boolean {
  return path !== undefined && (path === name || SYSTEM_PROGRAM.test(path))
}

/** A program that is named by its path: of the system, of the workspace, or of somewhere else. */
export function classifyProgramPath(first: string, place: PathContext): Finding[] {
  if (!first.includes('/') || SYSTEM_PROGRAM.test(first)) return []
  return [createFinding('mutating', 'is a program of the workspace'), ...findHostPaths([first], place)]
}

/** Fails closed: whatever it is, it does not run. */
export function createRefusalFindings(reason: string): readonly Finding[] {
  return [createFinding('mutating', reason), createFinding('host_escape_risk', reason)]
}

export function formatText(text: string): string {
  return text.includes(UNKNOWN) ? text.replaceAll(UNKNOWN, '…') : text
}
