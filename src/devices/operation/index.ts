/**
 * Requests of devices: operations with a schema each, callable by writing to a file and as model tools.
 * An invalid request fails with its problems and the valid choices.
 * Invariant: an operation runs only with arguments that match its schema.
 */

export { type DeviceOperation, defineOperation, type OperationCall } from './device-operation.ts'
export { operationDevice, operationsDevice } from './operation-device.ts'
export { parseDeviceRequest } from './parse-device-request.ts'
