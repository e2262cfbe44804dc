const COMMIT_ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/
const SYMBOLIC_REF = /^ref: refs\/(?:heads\/)?(.+)$/
/** A ref has one id in it, or the name of another ref. */
const MAX_REF_BYTES = 1024
/** Length at which git shortens ids. */
const SHORT_ID = 7

/** Returns the commit that the content of a ref names; undefined for a symbolic ref. */
export function parseCommitId(content: Uint8Array): string | undefined {
  const id = parseLine(content)
  return id !== undefined && COMMIT_ID.test(id) ? id : undefined
}

/** Returns the branch that the content of HEAD names, or the beginning of a commit; undefined if it is neither. */
export function parseCheckedOut(content: Uint8Array): string | undefined {
  const [, branch] = SYMBOLIC_REF.exec(parseLine(content) ?? '') ?? []
  return branch ?? parseCommitId(content)?.slice(0, SHORT_ID)
}

function parseLine(content: Uint8Array): string | undefined {
  return content.length > MAX_REF_BYTES ? undefined : Buffer.from(content).toString().trim()
}
