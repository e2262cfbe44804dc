import type { Finding } from './category.ts'
import { findHostPath, type PathContext } from './host-path.ts'
import { createFinding } from './programs/index.ts'
import { UNKNOWN } from './shell/unknown.ts'

/** One program that a command runs, or one other effect of it, with its findings. */
export interface Part {
  /** Text after quoting and expansion; `…` stands for text that is only known at run time. */
  readonly text: string
  /** Name of the program; undefined where there is none, or it is only known at run time. */
  readonly program: string | undefined
  /** The program as the command names it: by its name alone, or by a path. */
  readonly path: string | undefined
  readonly args: readonly string[]
  readonly findings: readonly Finding[]
  /** True if it runs no code of the workspace and reaches no network, even if the command is given one. */
  readonly isInert: boolean
}

const SYSTEM_PROGRAM = /^\/(?:usr\/(?:local\/)?|opt\/[^/]+\/)?s?bin\/[^/]+$/

/** Returns findings about words that lead out of the workspace. */
export function findHostPaths(words: readonly string[], pathContext: PathContext): Finding[] {
  const found: Finding[] = []
  for (const word of words) {
    const path = findHostPath(word, pathContext)
    if (path === undefined) continue
    const reason = `reaches ${formatText(path)}, outside the workspace`
    found.push({ category: 'host_escape_risk', reason, path })
  }
  return found
}

/** True if a program belongs to the machine: found on the PATH, or named as one of the system's. */
export function isHostProgram(name: string | undefined, path: string | undefined): boolean {
  return path !== undefined && (path === name || SYSTEM_PROGRAM.test(path))
}

/** Classifies a program named by its path: of the system, of the workspace, or elsewhere. */
export function classifyProgramPath(path: string, pathContext: PathContext): Finding[] {
  if (!path.includes('/') || SYSTEM_PROGRAM.test(path)) return []
  return [createFinding('mutating', 'is a program of the workspace'), ...findHostPaths([path], pathContext)]
}

/** Creates the findings of a text that is too much to analyse. By default they deny the command. */
export function createRefusalFindings(reason: string): readonly Finding[] {
  return [createFinding('mutating', reason), createFinding('host_escape_risk', reason)]
}

export function formatText(text: string): string {
  return text.includes(UNKNOWN) ? text.replaceAll(UNKNOWN, '…') : text
}
