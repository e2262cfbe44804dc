import type { SyntaxNode, Word } from 'unbash'

/** Text of a node that a shell takes for a number or a name. There a subscript is expanded even if it was in quotes. */
export function findEvaluatedTexts(node: SyntaxNode): readonly string[] {
  return listTexts(node).filter(hasSubscript)
}

/** The index of an array, with a command in it. */
function hasSubscript(text: string): boolean {
  const at = text.indexOf('[')
  return at !== -1 && /\$\(|`/.test(text.slice(at))
}

/** `${x@P}`: the value is expanded as if it were a prompt, with whatever commands are in it. */
export function isPrompt(node: SyntaxNode): boolean {
  if (node.type !== 'ParameterExpansion' || node.operation?.type !== 'Transform') return false
  return node.operation.operand.value === 'P'
}

/** `[[ -f path ]]`: the words of a test that name files. */
export function listTestedFiles(node: SyntaxNode): readonly Word[] {
  if (node.type === 'TestUnary') return /^-[abcdefghkLprsSuwxGNO]$/.test(node.operator) ? [node.operand] : []
  if (node.type !== 'TestBinary') return []
  return /^-(?:nt|ot|ef)$/.test(node.operator) ? [node.left, node.right] : []
}

function listTexts(node: SyntaxNode): readonly string[] {
  switch (node.type) {
    case 'ArithmeticWord':
      return [node.value]
    case 'TestUnary':
      return [node.operand.value]
    case 'TestBinary':
      return [node.left.value, node.right.value]
    case 'ParameterExpansion':
      return node.index === undefined ? [] : [`[${node.index.value}`]
    default:
      return []
  }
}
