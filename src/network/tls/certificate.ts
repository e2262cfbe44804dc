import { createHash, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP, isIPv6 } from 'node:net'
import { der } from './der.ts'

const OID = {
  commonName: '2.5.4.3',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
} as const
const VERSION_3 = 2
const SERIAL_BYTES = 16
/** Bits of the key usage: signing certificates and revocation lists, and signing in a handshake. */
const [SIGNS_CERTIFICATES, SIGNS_HANDSHAKES] = [
  { bits: 0x06, unused: 1 },
  { bits: 0x80, unused: 7 },
]
const [DNS_NAME, IP_ADDRESS] = [2, 7]
const SIGNATURE_ALGORITHM = der.sequence(der.oid(OID.ecdsaWithSha256))

/** Contents of a certificate. Keys are of the curve P-256. */
export interface CertificateSpec {
  readonly subject: string
  readonly publicKey: KeyObject
  readonly issuer: { readonly name: string; readonly publicKey: KeyObject; readonly privateKey: KeyObject }
  readonly notBefore: Date
  readonly notAfter: Date
  /** Name or address of a server; a certificate authority when absent. */
  readonly host?: string
}

/** Creates a signed X.509 certificate as PEM. Node can read certificates, but has no way to create one. */
export function createCertificate(spec: CertificateSpec): string {
  const body = der.sequence(
    der.explicit(0, der.integer(Buffer.from([VERSION_3]))),
    der.integer(createSerial()),
    SIGNATURE_ALGORITHM,
    encodeName(spec.issuer.name),
    der.sequence(der.time(spec.notBefore), der.time(spec.notAfter)),
    encodeName(spec.subject),
    exportKey(spec.publicKey),
    der.explicit(3, der.sequence(...createExtensions(spec))),
  )
  const signature = sign('sha256', body, spec.issuer.privateKey)
  const certificate = der.sequence(body, SIGNATURE_ALGORITHM, der.bitString(signature))
  const lines = certificate.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

/** Creates a random serial number: positive, and without a zero byte in front. */
function createSerial(): Buffer {
  const bytes = randomBytes(SERIAL_BYTES)
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return bytes
}

function createExtensions({ host, publicKey, issuer }: CertificateSpec): Buffer[] {
  const isAuthority = host === undefined
  const { bits, unused } = isAuthority ? SIGNS_CERTIFICATES : SIGNS_HANDSHAKES
  return [
    encodeExtension(OID.basicConstraints, der.sequence(...(isAuthority ? [der.boolean(true)] : [])), true),
    encodeExtension(OID.keyUsage, der.bitString(Buffer.from([bits]), unused), true),
    encodeExtension(OID.subjectKeyId, der.octetString(createKeyId(publicKey))),
    encodeExtension(OID.authorityKeyId, der.sequence(der.implicit(0, createKeyId(issuer.publicKey)))),
    ...(isAuthority
      ? []
      : [
          encodeExtension(OID.extendedKeyUsage, der.sequence(der.oid(OID.serverAuth))),
          encodeExtension(OID.subjectAltName, der.sequence(encodeHost(host)), true),
        ]),
  ]
}

function encodeExtension(oid: string, value: Buffer, isCritical = false): Buffer {
  return der.sequence(der.oid(oid), ...(isCritical ? [der.boolean(true)] : []), der.octetString(value))
}

function encodeName(commonName: string): Buffer {
  return der.sequence(der.set(der.sequence(der.oid(OID.commonName), der.text(commonName))))
}

function encodeHost(host: string): Buffer {
  if (isIP(host) === 0) return der.implicit(DNS_NAME, Buffer.from(host, 'latin1'))
  return der.implicit(IP_ADDRESS, isIPv6(host) ? encodeIpv6(host) : Buffer.from(host.split('.').map(Number)))
}

function encodeIpv6(address: string): Buffer {
  const [head = '', tail] = address.split('::')
  const before = head.split(':').filter(Boolean)
  const after = (tail ?? '').split(':').filter(Boolean)
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex')
}

function exportKey(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}

function createKeyId(key: KeyObject): Buffer {
  return createHash('sha1').update(exportKey(key)).digest()
}
