import type { Finding } from './category.ts'
import type { Part } from './part.ts'

/** Variables that only change how output looks. Any other may change which program runs, or which host it reaches. */
const HARMLESS_VARIABLE =
  /^(?:CI|NODE_ENV|DEBUG|VERBOSE|NO_COLOR|FORCE_COLOR|CLICOLOR(?:_FORCE)?|TERM|COLORTERM|COLUMNS|LINES|LANG|LANGUAGE|LC_[A-Z]+|TZ)$/

const SHARED_NETWORK: Finding = {
  category: 'networked',
  reason: 'would share the network that another part gets',
}

/**
 * Returns the parts of a command that gets the network without an approval. The network belongs to the whole command,
 * so everything in it that can run code needs a permission of its own, and so does every variable it sets.
 */
export function addSharedNetwork(parts: readonly Part[], variables: ReadonlySet<string>): readonly Part[] {
  const names = [...variables].filter((name) => !HARMLESS_VARIABLE.test(name))
  const settings = names.map((name): Part => {
    const reason = 'sets a variable for a program that gets the network'
    const findings: readonly Finding[] = [{ category: 'networked', reason }]
    return { text: name, program: undefined, path: undefined, args: [], findings, isInert: false }
  })
  return [...parts.map(addNetworkFinding), ...settings]
}

function addNetworkFinding(part: Part): Part {
  const isKnown = part.isInert || part.findings.some(({ category }) => category === 'networked')
  return isKnown ? part : { ...part, findings: [...part.findings, SHARED_NETWORK] }
}
