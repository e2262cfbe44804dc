/**
 * How devices take requests: operations with a schema each, as requests to a file and as tools of a model.
 * A request that does not fit is answered with what is wrong with it and what there is.
 * Invariant: an operation runs only with arguments that its schema takes.
 */

export { type DeviceOperation, defineOperation, type OperationCall } from './device-operation.ts'
export { operationDevice, operationsDevice } from './operation-device.ts'
export { parseDeviceRequest } from './parse-device-request.ts'
