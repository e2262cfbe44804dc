import type { SyntaxNode, Word } from 'unbash'
import { isLiteral } from './unknown.ts'
import type { Variables } from './variables.ts'

/**
 * Text that a shell reads as a number or as the name of a variable. Both are expressions: a name in a number stands
 * for its value, which is evaluated in turn, and a subscript runs the commands in it, quoted or not.
 */
export interface Evaluation {
  readonly kind: 'number' | 'name'
  readonly text: string
}

/** Returns the evaluations of a node, without those of its children. */
export function findEvaluations(node: SyntaxNode): readonly Evaluation[] {
  switch (node.type) {
    case 'ArithmeticWord':
      return [createNumber(node.value)]
    case 'ArithmeticCommandExpansion':
      return [createNumber(node.text)]
    case 'ArithmeticExpansion':
      return node.expression === undefined ? [createNumber(node.text.slice(3, -2))] : []
    case 'Assignment':
      return node.index === undefined ? [] : createSubscripts(node.index)
    case 'ArrayValue':
      return node.elements.flatMap(({ text }) =>
        text.startsWith('[') ? [createNumber(parseSubscript(text))] : [],
      )
    case 'ParameterExpansion': {
      const { index, operation, prefix, parameter } = node
      const slice = operation?.type === 'Slice' ? [operation.offset, operation.length] : []
      return [
        ...(index === undefined ? [] : createSubscripts(index)),
        ...slice.flatMap((word) => (word === undefined ? [] : [createNumber(word.text)])),
        ...(prefix === '!' && index === undefined && operation?.type !== 'Names'
          ? [{ kind: 'name', text: `$${parameter}` } as const]
          : []),
      ]
    }
    case 'TestUnary':
      return /^-[vR]$/.test(node.operator) ? [{ kind: 'name', text: node.operand.text }] : []
    case 'TestBinary':
      return /^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)
        ? [createNumber(node.left.text), createNumber(node.right.text)]
        : []
    default:
      return []
  }
}

/** A variable, or an element of one by its number. */
const PLAIN_NAME = /^[A-Za-z_]\w*(?:\[(?:\d+|[@*])\])?$/

/** True if a text names a variable, and needs no evaluation for it. */
export function isPlainName(text: string): boolean {
  return PLAIN_NAME.test(text)
}

const TOKEN =
  /\d[\w#]*|\$?([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)\}|\$\{#[A-Za-z_@*]\w*(?:\[[@*]\])?\}|\$[#?$!]|[-+*/%<>=!&|^~?:(),\s"]+/y

/** True if an evaluation can run nothing, since all its names are numbers. */
export function isHarmless({ kind, text }: Evaluation, variables: Variables): boolean {
  if (kind === 'name') {
    const name = text.startsWith('$') ? variables.getValue(text.slice(1)) : text
    return isLiteral(name) && isPlainName(name)
  }
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text)
    if (match === null) return false
    const name = match[1] ?? match[2]
    if (name !== undefined && !variables.isNumber(name)) return false
  }
  return true
}

function createNumber(text: string): Evaluation {
  return { kind: 'number', text }
}

/** Returns the evaluation of an index of an array; none for `@` and `*`, which mean all elements. */
function createSubscripts({ text }: Word): Evaluation[] {
  return /^[@*]$/.test(text) ? [] : [createNumber(text)]
}

/** Parses the subscript of `[1]=x`. */
function parseSubscript(text: string): string {
  const end = text.indexOf(']=')
  return end === -1 ? text : text.slice(1, end)
}
