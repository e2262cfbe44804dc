import { isWithin } from '../vfs/index.ts'
import { callerName } from './caller.ts'
import { formatAlternatives } from './format-alternatives.ts'
import type { Policy } from './policy.ts'

/** Roots of devices: the kernel's own, and those of MCP servers. */
const DEVICE_ROOTS: readonly string[] = ['/dev', '/mnt/mcp']

/**
 * Lets a caller reach only the devices it was granted, each with everything below it. Other paths pass.
 * The directories that lead to a granted device can be listed, and show nothing else.
 */
export function deviceWhitelistPolicy(allowed: readonly string[]): Policy {
  return {
    name: 'device-whitelist',
    judges: 'everything',
    judge: ({ caller, access, path }) => {
      if (!DEVICE_ROOTS.some((root) => isWithin(path, root))) return null
      if (allowed.some((device) => isWithin(path, device))) return null
      const isOnTheWay = DEVICE_ROOTS.includes(path) || allowed.some((device) => isWithin(device, path))
      if (access === 'read' && isOnTheWay) return null
      const granted = allowed.length === 0 ? 'it was granted no device' : formatAlternatives('use', allowed)
      return `${callerName(caller)} was not granted this device; ${granted}`
    },
  }
}
