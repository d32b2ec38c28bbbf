import { invalid, type Violation } from '../http/errors.ts'

export const violation = (field: string, code: string, message: string): Violation => ({
  location: 'body',
  field,
  code,
  message,
})

export const unknown = (field: string, message: string) =>
  violation(field, 'unknown_reference', message)

export const fault = (field: string, code: string, message: string) =>
  invalid(violation(field, code, message))
