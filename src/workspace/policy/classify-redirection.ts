import type { Redirection } from 'unbash'
import type { Finding } from './category.ts'
import type { PathContext } from './host-path.ts'
import { findHostPaths } from './part.ts'
import { createFinding } from './programs/index.ts'
import { isLiteral } from './shell/unknown.ts'
import type { Variables } from './shell/variables.ts'
import { expandWhole } from './shell/word.ts'

const WRITE_OPERATORS = new Set(['>', '>>', '>|', '&>', '&>>', '<>', '>&'])
const NOT_A_FILE = /^\/dev\/(?:null|std(?:out|err)|tty|fd\/\d+)$/

/** Redirection that does more than read a file of the workspace or join two streams. */
export interface RedirectionEffect {
  readonly text: string
  readonly findings: readonly Finding[]
}

/** Returns the effect of a redirection; undefined if it has none worth a finding. */
export function classifyRedirection(
  redirect: Redirection,
  variables: Variables,
  pathContext: PathContext,
): RedirectionEffect | undefined {
  if (redirect.type !== 'Redirect' || redirect.target === undefined) return undefined
  const { operator } = redirect
  const target = expandWhole(redirect.target, variables)
  if (operator.endsWith('&') && /^(?:\d+-?|-)$/.test(target)) return undefined
  const findings = findHostPaths([target], pathContext)
  if (/^\/dev\/(?:tcp|udp)\//.test(target)) findings.push(createFinding('networked'))
  if (WRITE_OPERATORS.has(operator) && !NOT_A_FILE.test(target))
    findings.push(createFinding('mutating', 'writes to a file'))
  else if (!isLiteral(target))
    findings.push(createFinding('mutating', 'reads a file that is only known when it runs'))
  return findings.length === 0 ? undefined : { text: `${operator} ${target}`, findings }
}
