import { answerTasks } from '../../threads/answer-tasks.ts'
import { writeCsv } from './csv.ts'
import { writePdf } from './pdf.ts'
import type { WriteTask } from './write.ts'
import { writeXlsx } from './xlsx.ts'

const writers = { pdf: writePdf, xlsx: writeXlsx, csv: writeCsv }

answerTasks(({ document, format }: WriteTask) => writers[format](document))
