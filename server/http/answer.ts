/** Answers on their way out: checked against the schema that is promised, written as JSON once. */
import { Ajv, type ValidateFunction } from 'ajv'
import formatsModule from 'ajv-formats'
import { anonymous } from './anonymous-schema.ts'
import { JsonText } from './json-text.ts'
import { type AnswerFaults, answerMender } from './mend-answer.ts'
import { onFirstUse } from './on-first-use.ts'
import type { Declared } from './validate.ts'

export const answerChecks = ['strict', 'lenient'] as const
/**
 * `strict`: an answer that breaks its schema fails. `lenient`: what breaks it becomes null, is left
 * out or is rejected (see mend-answer.ts), and text that is written already passes as it is.
 */
export type AnswerCheck = (typeof answerChecks)[number]

interface WrittenAnswer {
  text: string | Buffer
  faults: AnswerFaults | null
}

/** Strict, it throws when the answer is not what the endpoint declares. */
export type WriteAnswer = (answer: unknown) => WrittenAnswer

const utc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/

export function answerWriters(check: AnswerCheck) {
  const ajv = createAjv()
  const allErrors = onFirstUse(() => createAjv({ allErrors: true }))

  return function answerWriter(endpoint: Declared, name: string): WriteAnswer {
    const validator = onFirstUse(() => ajv.compile(anonymous(endpoint.returns)))
    const mender = onFirstUse(() => answerMender(allErrors(), endpoint.returns))
    return (answer) => {
      if (answer instanceof JsonText) {
        if (check === 'strict') demand(validator(), JSON.parse(String(answer.text)), name)
        return { text: answer.text, faults: null }
      }
      const isValid = validator()
      if (check === 'strict') demand(isValid, answer, name)
      else if (!isValid(answer)) {
        const { value, faults } = mender()(answer)
        return { text: JSON.stringify(value), faults }
      }
      return { text: JSON.stringify(answer), faults: null }
    }
  }
}

function createAjv(options: { allErrors?: true } = {}): Ajv {
  // JSON has no NaN and no infinity: `JSON.stringify` would write null, whatever the schema allows.
  const ajv = new Ajv({
    strict: false,
    strictNumbers: true,
    allowUnionTypes: true,
    validateFormats: true,
    ...options,
  })
  formatsModule.default(ajv)
  // Answers are always in UTC and say so.
  return ajv.addFormat('date-time', utc)
}

function demand(isValid: ValidateFunction, answer: unknown, name: string): void {
  if (isValid(answer)) return
  const [error] = isValid.errors ?? []
  throw new Error(
    `the answer of ${name} breaks its schema at ${error?.instancePath || '/'}: ${error?.message} ${JSON.stringify(error?.params)}`,
  )
}
