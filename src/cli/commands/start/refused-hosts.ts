import type { Boundary, RunReport } from '../../../boundary/index.ts'
import { type HostRule, parseHostRule } from '../../../network/index.ts'
import type { Terminal } from '../../framework/terminal.ts'
import { promptChoice } from '../../render/confirm.ts'

/** Limit of questions: a command may try any number of hosts. */
const MAX_QUESTIONS = 3

/**
 * Asks about the hosts that a command could not reach: allow them once, in its fork, or in its project. Records what is
 * to hold for longer. Returns the allowed hosts, for another run of the command.
 *
 * @param fork the fork in which the command runs again; without one, only `once` and `project` are offered.
 */
export async function askAboutRefusedHosts(
  terminal: Terminal,
  boundary: Boundary,
  { result: { vault, network = [] } }: RunReport,
  fork: string | undefined,
): Promise<HostRule[]> {
  // The remedy of a refused connection is the rule that would allow its host.
  const rules = network.flatMap(({ remedy }) => remedy ?? [])
  const choices = fork === undefined ? SCOPES.filter((scope) => scope !== 'fork') : SCOPES
  const allowed: HostRule[] = []
  for (const text of [...new Set(rules)].slice(0, MAX_QUESTIONS)) {
    const question = `Allow ${text}, this host only, and run the command again?`
    const scope = await promptChoice(terminal, question, choices)
    if (scope === undefined) continue
    const rule = parseHostRule(text)
    allowed.push(rule)
    // The vault stands for the project: a grant without a fork holds for all its forks.
    if (scope !== 'once')
      await boundary.hostGrants.grant([rule], { vault, ...(scope === 'fork' && { fork }) })
  }
  return allowed
}

const SCOPES = ['once', 'fork', 'project'] as const
