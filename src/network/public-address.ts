import { BlockList, isIP } from 'node:net'

/** IPv4 ranges outside the public internet: RFC 6890, and metadata addresses of clouds. */
const NOT_PUBLIC_4 = createBlockList('ipv4', [
  ['0.0.0.0', 8], // this network, unspecified
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // shared by carriers
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // a cloud's platform, in public space
  ['169.254.0.0', 16], // link-local, and most metadata services
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
])

/** Range of all public addresses; excludes loopback, mapped, NAT64, unique local, link-local and multicast. */
const GLOBAL_6 = createBlockList('ipv6', [['2000::', 3]])

/** Parts of it outside the public internet, or that map to IPv4. */
const NOT_PUBLIC_6 = createBlockList('ipv6', [
  ['2001::', 23], // protocol assignments, Teredo
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4
  ['3fff::', 20], // documentation
])

/** This machine. Linux takes an unspecified address for it too, and an IPv4 address is also found in IPv6 form. */
const THIS_MACHINE = createBlockList('ipv4', [
  ['127.0.0.0', 8],
  ['0.0.0.0', 8],
])
THIS_MACHINE.addAddress('::1', 'ipv6')
THIS_MACHINE.addAddress('::', 'ipv6')

/** Networks of homes and companies, and this machine. Link-local and metadata addresses are not among them. */
const PRIVATE_4 = createBlockList('ipv4', [
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
])
const PRIVATE_6 = createBlockList('ipv6', [
  ['::1', 128],
  ['fc00::', 7],
])
/** A metadata service of a cloud in the private range. */
const METADATA_6 = createBlockList('ipv6', [['fd00:ec2::', 32]])

/** Reports whether an address is public. False if it is not an address. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !NOT_PUBLIC_4.check(address, 'ipv4')
    case 6:
      return GLOBAL_6.check(address, 'ipv6') && !NOT_PUBLIC_6.check(address, 'ipv6')
    default:
      return false
  }
}

/** Reports whether an address belongs to this machine or to a private network that names of a local network lead to. */
export function isPrivateAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return PRIVATE_4.check(address, 'ipv4')
    case 6:
      // An IPv4 address in an IPv6 form is found in neither list.
      return PRIVATE_6.check(address, 'ipv6') && !METADATA_6.check(address, 'ipv6')
    default:
      return false
  }
}

/** Reports whether an address leads to this machine. */
export function isLoopbackAddress(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && THIS_MACHINE.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

function createBlockList(
  family: 'ipv4' | 'ipv6',
  subnets: readonly (readonly [string, number])[],
): BlockList {
  const list = new BlockList()
  for (const [net, prefix] of subnets) list.addSubnet(net, prefix, family)
  return list
}
