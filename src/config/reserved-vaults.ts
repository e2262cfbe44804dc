/** The vault with the zones of a home. A context that could write to it would bypass all zones. */
export const ZONES_VAULT = 'zones'

/**
 * The vault with the journal of executions and the approvals. A context that could write to it would approve its own
 * commands.
 */
export const BOUNDARY_VAULT = 'boundary'

/** Names of vaults for linked directories, undoable merges, timelines, checkouts, sessions and other homes. */
const INTERNAL_NAME =
  /^(?:link-[0-9a-f]{12}-[0-9a-f]{8}(?:-(?:undo|merged)(?:-next)?|-(?:before|after)-merge(?:-fork)?)?|merge-[0-9a-f]{12}-(?:before|after)|timeline-[0-9a-f]{12}|shared-[0-9a-f]{16}|checkout-[0-9a-f]{12}-[0-9a-f]{8}|session-[0-9a-f]+-\d+-\d+-[0-9a-f]+(?:-base)?)$/

/** Reports whether a name is reserved for a vault that Coppice keeps for itself, except for that of the zones. */
export function isInternalVault(name: string): boolean {
  return name === BOUNDARY_VAULT || INTERNAL_NAME.test(name)
}

/** Returns the purpose of a reserved vault, which no context may use; undefined for other names. */
export function findReservedPurpose(name: string): string | undefined {
  if (name === ZONES_VAULT) return 'holds the zones of all contexts'
  return isInternalVault(name) ? 'belongs to the execution boundary' : undefined
}
