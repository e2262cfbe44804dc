/** Names of vaults that describe files and programs of this machine. */
const MACHINE_NAME = /^(?:boundary|(?:link|timeline|checkout|session|shared)-.*)$/
const TRACKING_NAME = /^shared-[0-9a-f]{16}$/

/** Reports whether a vault describes files or programs of this machine. Nobody works in it. */
export function isMachineName(vault: string): boolean {
  return MACHINE_NAME.test(vault)
}

/** Reports whether a vault is the fork that has the state of an exchange. */
export function isTrackingName(vault: string): boolean {
  return TRACKING_NAME.test(vault)
}
