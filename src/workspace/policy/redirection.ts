import type { Redirection } from 'unbash'
import type { Finding } from './category.ts'
import type { Place } from './host-path.ts'
import { hostPaths } from './part.ts'
import { finding } from './programs/index.ts'
import { isLiteral } from './shell/unknown.ts'
import type { Variables } from './shell/variables.ts'
import { expandWhole } from './shell/word.ts'

const WRITING = new Set(['>', '>>', '>|', '&>', '&>>', '<>', '>&'])
const NOT_A_FILE = /^\/dev\/(?:null|std(?:out|err)|tty|fd\/\d+)$/

/** A redirection that does more than to read a file of the workspace or to lead one stream into another. */
export interface RedirectionEffect {
  readonly text: string
  readonly findings: readonly Finding[]
}

export function judgeRedirection(
  redirect: Redirection,
  variables: Variables,
  place: Place,
): RedirectionEffect | undefined {
  if (redirect.type !== 'Redirect' || redirect.target === undefined) return undefined
  const { operator } = redirect
  const target = expandWhole(redirect.target, variables)
  if (operator.endsWith('&') && /^(?:\d+-?|-)$/.test(target)) return undefined
  const findings = hostPaths([target], place)
  if (/^\/dev\/(?:tcp|udp)\//.test(target)) findings.push(finding('networked'))
  if (WRITING.has(operator) && !NOT_A_FILE.test(target))
    findings.push(finding('mutating', 'writes to a file'))
  else if (!isLiteral(target))
    findings.push(finding('mutating', 'reads a file that is only known when it runs'))
  return findings.length === 0 ? undefined : { text: `${operator} ${target}`, findings }
}
