import type { ArithmeticExpression, SyntaxNode, Word } from 'unbash'

/** Variable that gets a value otherwise than by an assignment. */
export interface AssignedName {
  readonly name: string
  /** Possible values; undefined where only the shell knows them, as with the number of a descriptor. */
  readonly words: readonly Word[] | undefined
}

/** Operators that assign to their left operand; comparisons end like them. */
const ASSIGNS = /^(?:[-+*/%&|^]|<<|>>)?=$/
const COUNTS = /^(?:\+\+|--)$/

/** Finds the variable of `for PATH in .`, `coproc PATH`, `{PATH}<f`, `${PATH:=.}` or `((PATH = 1))`. */
export function findAssignedName(node: SyntaxNode): AssignedName | undefined {
  switch (node.type) {
    case 'For':
    case 'Select':
      return { name: node.name.value, words: node.wordlist }
    case 'Coproc':
      return node.name && { name: node.name.value, words: undefined }
    case 'FileDescriptorVariable':
      return { name: node.name, words: undefined }
    case 'ParameterExpansion': {
      const { operation, parameter } = node
      const isDefault = operation?.type === 'Default' && operation.operator.endsWith('=')
      return isDefault ? { name: parameter, words: [operation.operand] } : undefined
    }
    case 'ArithmeticBinary':
      return ASSIGNS.test(node.operator) ? findNumberName(node.left) : undefined
    case 'ArithmeticUnary':
      return COUNTS.test(node.operator) ? findNumberName(node.operand) : undefined
    default:
      return undefined
  }
}

function findNumberName(expression: ArithmeticExpression): AssignedName | undefined {
  const [name] = (expression.type === 'ArithmeticWord' && expression.value.match(/^[A-Za-z_]\w*/)) || []
  return name === undefined ? undefined : { name, words: undefined }
}
