import type { Finding } from './category.ts'
import { hostPathIn, type Place } from './host-path.ts'
import { finding } from './programs/index.ts'
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
export function hostPaths(words: readonly string[], place: Place): Finding[] {
  const found: Finding[] = []
  for (const word of words) {
    const path = hostPathIn(word, place)
    if (path === undefined) continue
    const reason = `reaches ${shownText(path)}, outside the workspace`
    found.push({ category: 'host_escape_risk', reason, path })
  }
  return found
}

/** Whether a program is the machine's own: looked up on the path, or named as one of the system's. */
export function isHostProgram(name: string | undefined, path: string | undefined): boolean {
  return path !== undefined && (path === name || SYSTEM_PROGRAM.test(path))
}

/** A program that is named by its path: of the system, of the workspace, or of somewhere else. */
export function programPath(first: string, place: Place): Finding[] {
  if (!first.includes('/') || SYSTEM_PROGRAM.test(first)) return []
  return [finding('mutating', 'is a program of the workspace'), ...hostPaths([first], place)]
}

/** Fails closed: whatever it is, it does not run. */
export function refusal(reason: string): readonly Finding[] {
  return [finding('mutating', reason), finding('host_escape_risk', reason)]
}

export function shownText(text: string): string {
  return text.includes(UNKNOWN) ? text.replaceAll(UNKNOWN, '…') : text
}
