import type { SyntaxNode, Word } from 'unbash'

/** Returns texts that a shell reads as a number or a name. It expands a subscript there even if it was in quotes. */
export function findEvaluatedTexts(node: SyntaxNode): readonly string[] {
  return listTexts(node).filter(hasSubscript)
}

/** True for the index of an array, with a command in it. */
function hasSubscript(text: string): boolean {
  const at = text.indexOf('[')
  return at !== -1 && /\$\(|`/.test(text.slice(at))
}

/** True for `${x@P}`: the value is expanded as a prompt, which runs the commands in it. */
export function isPrompt(node: SyntaxNode): boolean {
  if (node.type !== 'ParameterExpansion' || node.operation?.type !== 'Transform') return false
  return node.operation.operand.value === 'P'
}

/** Returns the words of a test that name files: `[[ -f path ]]`. */
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
