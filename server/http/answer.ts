/** Answers on their way out: checked against the schema that is promised, written as JSON once. */
import { Ajv, type ValidateFunction } from 'ajv'
import formatsModule from 'ajv-formats'
import { anonymous } from './anonymous-schema.ts'
import { JsonText } from './json-text.ts'
import { onFirstUse } from './on-first-use.ts'
import type { Declared } from './validate.ts'

/** In production text that PostgreSQL wrote passes as it is; tests check `all`. */
export type AnswerCheck = 'values' | 'all'

/** The text of an answer; throws when the answer is not what the endpoint declares. */
export type WriteAnswer = (answer: unknown) => string | Buffer

const utc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/

export function answerWriters(check: AnswerCheck) {
  const ajv = new Ajv({ strict: false, allowUnionTypes: true, validateFormats: true })
  formatsModule.default(ajv)
  // Answers are always in UTC and say so.
  ajv.addFormat('date-time', utc)

  return function answerWriter(endpoint: Declared, name: string): WriteAnswer {
    const validator = onFirstUse(() => ajv.compile(anonymous(endpoint.returns)))
    return (answer) => {
      if (answer instanceof JsonText) {
        if (check === 'all') demand(validator(), JSON.parse(String(answer.text)), name)
        return answer.text
      }
      demand(validator(), answer, name)
      return JSON.stringify(answer)
    }
  }
}

function demand(isValid: ValidateFunction, answer: unknown, name: string): void {
  if (isValid(answer)) return
  const [error] = isValid.errors ?? []
  throw new Error(
    `the answer of ${name} breaks its schema at ${error?.instancePath || '/'}: ${error?.message} ${JSON.stringify(error?.params)}`,
  )
}
