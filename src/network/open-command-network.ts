import type { CommandNetwork } from './command-network.ts'
import type { BoundSecret } from './inject/bound-secrets.ts'
import type { ProxyOptions } from './proxy/proxy-server.ts'

/** Options of the network of a command. */
export interface CommandNetworkOptions extends Omit<ProxyOptions, 'injection'> {
  /** Secrets that are bound to hosts; the proxy puts them into requests. */
  readonly inject?: InjectOptions | undefined
}

interface InjectOptions {
  readonly secrets: readonly BoundSecret[]
  /** Directory that keeps the certificate authority. Commands must not be able to read it. */
  readonly home: string
  /** Variables of the person, which may name more certificates to trust. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Opens the network of a command. HTTP is loaded only now: most commands reach no host, and start sooner without it. */
export async function openCommandNetwork(
  { inject, ...options }: CommandNetworkOptions,
  taken?: readonly number[],
): Promise<CommandNetwork> {
  const { CommandNetwork } = await import('./command-network.ts')
  if (inject === undefined || inject.secrets.length === 0) return new CommandNetwork(options, taken)
  const { CertificateAuthority } = await import('./tls/certificate-authority.ts')
  const { readTrustedRoots } = await import('./tls/trusted-roots.ts')
  const { secrets, home, env } = inject
  const injection = { secrets, authority: CertificateAuthority.open(home), roots: readTrustedRoots(env) }
  return new CommandNetwork({ ...options, injection }, taken)
}
