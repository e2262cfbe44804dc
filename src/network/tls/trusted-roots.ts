import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { rootCertificates } from 'node:tls'

/** Files in which distributions keep the certificates that all programs trust. */
const SYSTEM_BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
]
/** Variables of a person that name more certificates, such as those of a company. */
const PERSON_VARIABLES = ['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE']
/** Variables by which programs find the certificates to trust. */
const TRUST_VARIABLES = [
  'SSL_CERT_FILE',
  'NODE_EXTRA_CA_CERTS',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'PIP_CERT',
  'CARGO_HTTP_CAINFO',
  'AWS_CA_BUNDLE',
  'DENO_CERT',
  'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH',
]
const PUBLIC_MODES = { directory: 0o755, file: 0o644 }

/** Reads the certificates that programs of this machine trust, as PEM. */
export function readTrustedRoots(env: Readonly<Record<string, string | undefined>>): string {
  const system = SYSTEM_BUNDLES.map(readIfPresent).find((text) => text !== undefined)
  const own = new Set(PERSON_VARIABLES.map((name) => env[name] ?? ''))
  return [system ?? rootCertificates.join('\n'), ...[...own].map(readIfPresent)]
    .filter((text) => text !== undefined)
    .join('\n')
}

/** A file with certificates for the programs of one command to trust. It holds nothing that is secret. */
export class TrustFile implements Disposable {
  readonly path: string
  /** Variables by which programs find it. */
  readonly env: Readonly<Record<string, string>>

  constructor(certificates: readonly string[]) {
    const directory = mkdtempSync(join(tmpdir(), 'coppice-trust-'))
    // For a command with another identity.
    chmodSync(directory, PUBLIC_MODES.directory)
    this.path = join(directory, 'roots.pem')
    writeFileSync(this.path, certificates.join('\n'), { mode: PUBLIC_MODES.file })
    this.env = Object.fromEntries(TRUST_VARIABLES.map((name) => [name, this.path]))
  }

  [Symbol.dispose](): void {
    rmSync(dirname(this.path), { recursive: true, force: true })
  }
}

function readIfPresent(file: string): string | undefined {
  try {
    return file === '' ? undefined : readFileSync(file, 'utf8')
  } catch {
    // Programs go on without it, too.
    return undefined
  }
}
