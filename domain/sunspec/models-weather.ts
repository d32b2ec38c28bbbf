/** SunSpec models of a met station: 302 irradiance, 303 back of module, 307 base meteorology. */
import type { Model } from './point.ts'

export const weatherModels = {
  302: {
    id: 302,
    points: [],
    group: {
      name: 'repeating',
      length: 5,
      points: [
        ['GHI', 0, 'uint16', 'W/m2'],
        ['POAI', 1, 'uint16', 'W/m2'],
        ['DFI', 2, 'uint16', 'W/m2'],
        ['DNI', 3, 'uint16', 'W/m2'],
        ['OTI', 4, 'uint16', 'W/m2'],
      ],
    },
  },
  303: {
    id: 303,
    points: [],
    group: { name: 'temp', length: 1, points: [['TmpBOM', 0, 'int16', 'C', -1]] },
  },
  307: {
    id: 307,
    points: [
      ['TmpAmb', 2, 'int16', 'C', -1],
      ['RH', 3, 'int16', 'Pct'],
      ['Pres', 4, 'int16', 'HPa'],
      ['WndSpd', 5, 'int16', 'mps'],
      ['WndDir', 6, 'int16', 'deg'],
      ['Rain', 7, 'int16', 'mm'],
      ['Snw', 8, 'int16', 'mm'],
      ['PPT', 9, 'int16'],
      ['ElecFld', 10, 'int16', 'Vm'],
      ['SurWet', 11, 'int16', 'kO'],
      ['SoilWet', 12, 'int16', 'Pct'],
    ],
  },
} as const satisfies Record<number, Model>
