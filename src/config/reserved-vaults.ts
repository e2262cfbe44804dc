/** The vault that holds the zones of a home: a context that could write in it would be past all of them. */
export const ZONES_VAULT = 'zones'

/** The vault with the journal of executions and the approvals: who could write in it would approve its own commands. */
export const BOUNDARY_VAULT = 'boundary'

/** What linked directories, checkouts and sessions begin from. */
const INTERNAL_NAME =
  /^(?:link-[0-9a-f]{12}-[0-9a-f]{8}(?:-undo)?|checkout-[0-9a-f]{12}-[0-9a-f]{8}|session-[0-9a-f]+-\d+-\d+-[0-9a-f]+(?:-base)?)$/

/** Whether the execution boundary keeps a vault of this name for itself. */
export function isInternalVault(name: string): boolean {
  return name === BOUNDARY_VAULT || INTERNAL_NAME.test(name)
}

/** What a vault of this name is there for, so that no context may work in it; undefined for all that are free. */
export function findReservedPurpose(name: string): string | undefined {
  if (name === ZONES_VAULT) return 'holds the zones of everyone'
  return isInternalVault(name) ? 'belongs to the execution boundary' : undefined
}
