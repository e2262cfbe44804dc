import type { Command } from 'unbash'

/** Builtins that assign variables in ways that are not analysed. */
const ASSIGNING = new Set([
  'read',
  'mapfile',
  'readarray',
  'getopts',
  'let',
  'printf',
  'source',
  '.',
  'eval',
  'unset',
])

/** Default field separators, or none. */
const PLAIN_SEPARATORS = /^[ \t\n]*$/

/** True if a command may give variables values, or split words, in ways that are not analysed. */
export function canAssignUnseen(node: Command): boolean {
  const isAssigning = ASSIGNING.has(node.name?.value ?? '') && !isPlainPrintf(node)
  return isAssigning || namesOther(node) || changesSeparators(node)
}

/** True for `printf` without `-v`, which alone assigns. */
function isPlainPrintf({ name, args }: Command): boolean {
  return name?.value === 'printf' && args[0]?.type === 'Word' && !args[0].value.startsWith('-')
}

/** True for `declare -n y=x`: from then on both are the same variable. */
function namesOther({ name, args }: Command): boolean {
  if (!/^(?:declare|typeset|local)$/.test(name?.value ?? '')) return false
  return args.some((arg) => arg.type === 'Word' && /^-[a-zA-Z]*n/.test(arg.value))
}

/** True if a command sets `IFS`: custom separators split words in ways that are not analysed. */
function changesSeparators({ name, prefix, args }: Command): boolean {
  return [...(name === undefined ? prefix : []), ...args].some(
    (part) =>
      part.type === 'Assignment' &&
      part.name === 'IFS' &&
      !(part.value.type === 'Word' && PLAIN_SEPARATORS.test(part.value.value)),
  )
}
