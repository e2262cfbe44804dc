import { ts } from '@ts-morph/common'

const { factory } = ts
const printer = ts.createPrinter({ removeComments: true })

/**
 * Returns a declaration as a caller sees it: without bodies, initial values, comments and private members.
 * Of a class that is exported as a type, also without its constructor and static members: nobody can call these.
 * It needs no type checker, since every exported declaration of ours spells its types.
 */
export function printSignature(declaration: ts.Declaration, asType: boolean): string {
  const file = declaration.getSourceFile()
  return printer
    .printNode(ts.EmitHint.Unspecified, toSignature(declaration, asType), file)
    .replaceAll('    ', '  ')
}

function toSignature(node: ts.Declaration, asType: boolean): ts.Node {
  if (ts.isFunctionDeclaration(node)) {
    const { name, typeParameters, type } = node
    const parameters = node.parameters.map(toParameter)
    return factory.createFunctionDeclaration([], undefined, name, typeParameters, parameters, type, undefined)
  }
  if (ts.isClassDeclaration(node)) {
    const members = node.members
      .filter((member) => !isHidden(member) && !(asType && isStatic(member)))
      .map(toMember)
    const abstract = keepModifiers(node, ts.SyntaxKind.AbstractKeyword)
    return factory.createClassDeclaration(
      abstract,
      node.name,
      node.typeParameters,
      node.heritageClauses,
      members,
    )
  }
  if (ts.isInterfaceDeclaration(node)) {
    const { name, typeParameters, heritageClauses, members } = node
    return factory.createInterfaceDeclaration([], name, typeParameters, heritageClauses, members)
  }
  if (ts.isTypeAliasDeclaration(node))
    return factory.createTypeAliasDeclaration([], node.name, node.typeParameters, node.type)
  if (!ts.isVariableDeclaration(node)) throw new Error(`cannot print ${ts.SyntaxKind[node.kind]}`)
  const { name, type } = node
  const value = factory.createVariableDeclaration(name, undefined, type, type ? undefined : node.initializer)
  return factory.createVariableStatement(
    [],
    factory.createVariableDeclarationList([value], ts.NodeFlags.Const),
  )
}

const MEMBER_MODIFIERS = [
  ts.SyntaxKind.StaticKeyword,
  ts.SyntaxKind.AbstractKeyword,
  ts.SyntaxKind.ProtectedKeyword,
  ts.SyntaxKind.PrivateKeyword,
  ts.SyntaxKind.ReadonlyKeyword,
]

function toMember(member: ts.ClassElement): ts.ClassElement {
  const modifiers = keepModifiers(member, ...MEMBER_MODIFIERS)
  if (ts.isConstructorDeclaration(member)) {
    const isPrivate = modifiers.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword)
    const parameters = isPrivate ? [] : member.parameters.map(toParameter)
    return factory.createConstructorDeclaration(modifiers, parameters, undefined)
  }
  if (ts.isMethodDeclaration(member)) {
    const { name, questionToken, typeParameters, type } = member
    const parameters = member.parameters.map(toParameter)
    return factory.createMethodDeclaration(
      modifiers,
      undefined,
      name,
      questionToken,
      typeParameters,
      parameters,
      type,
      undefined,
    )
  }
  if (ts.isGetAccessor(member))
    return factory.createGetAccessorDeclaration(modifiers, member.name, [], member.type, undefined)
  if (ts.isSetAccessor(member))
    return factory.createSetAccessorDeclaration(modifiers, member.name, member.parameters, undefined)
  if (!ts.isPropertyDeclaration(member)) return member
  const { name, questionToken, type, initializer } = member
  return factory.createPropertyDeclaration(
    modifiers,
    name,
    questionToken,
    type,
    type ? undefined : initializer,
  )
}

/** A parameter with a default is optional, and one that is taken apart is named `options`. */
function toParameter(parameter: ts.ParameterDeclaration): ts.ParameterDeclaration {
  const { dotDotDotToken, name, type, questionToken, initializer } = parameter
  const optional = initializer ? factory.createToken(ts.SyntaxKind.QuestionToken) : questionToken
  const plain = ts.isIdentifier(name) ? name : factory.createIdentifier('options')
  return factory.createParameterDeclaration(
    [],
    dotDotDotToken,
    plain,
    optional,
    type ?? inferType(initializer),
  )
}

/** Type of a default that spells it: a text, a number or a boolean. */
function inferType(initializer: ts.Expression | undefined): ts.TypeNode | undefined {
  if (initializer === undefined) return undefined
  if (ts.isStringLiteral(initializer)) return factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword)
  if (ts.isNumericLiteral(initializer)) return factory.createKeywordTypeNode(ts.SyntaxKind.NumberKeyword)
  const isBoolean = [ts.SyntaxKind.TrueKeyword, ts.SyntaxKind.FalseKeyword].includes(initializer.kind)
  return isBoolean ? factory.createKeywordTypeNode(ts.SyntaxKind.BooleanKeyword) : undefined
}

function isStatic(member: ts.ClassElement): boolean {
  return ts.isConstructorDeclaration(member) || keepModifiers(member, ts.SyntaxKind.StaticKeyword).length > 0
}

function isHidden(member: ts.ClassElement): boolean {
  if (ts.isConstructorDeclaration(member)) return false
  if (ts.isClassStaticBlockDeclaration(member)) return true
  const isPrivate = keepModifiers(member, ts.SyntaxKind.PrivateKeyword).length > 0
  return isPrivate || (member.name !== undefined && ts.isPrivateIdentifier(member.name))
}

function keepModifiers(node: ts.Node, ...kinds: ts.SyntaxKind[]): ts.Modifier[] {
  const modifiers = ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []) : []
  return modifiers.filter(({ kind }) => kinds.includes(kind))
}
